// Where a conversation was held: the folder, and the file of its agent. What was said in one folder goes to a host that
// another folder chose only after the user was told.

import { realpathSync } from 'node:fs'
import { dirname, isAbsolute, relative, sep } from 'node:path'
import { badInput } from '../core/error.ts'
import { isObject, type JsonObject } from '../core/json.ts'
import type { Conversation as Stored } from '../core/log.ts'
import { parseModelRef } from '../providers/model-ref.ts'
import type { BoundAgent } from './open-agent.ts'
import type { SessionSettings } from './session-settings.ts'
import { neutral } from './terminal.ts'

/** What to keep of where this conversation is held. Throws where the user does not want it to be continued here. */
export async function conversationOrigin(
  setup: SessionSettings,
  stored: Stored | undefined,
  agent: BoundAgent | undefined,
): Promise<JsonObject> {
  const here = realpathSync(process.cwd())
  const kept = isObject(stored?.settings['origin']) ? stored.settings['origin'] : {}
  const origin: JsonObject = { ...kept, ...(agent && { agent }) }
  if (!stored) return { ...origin, folder: here }
  const host = setup.offline ? undefined : hostOfFolder(setup)
  if (host === undefined || isInside(kept['folder'], setup.config?.file)) return origin
  const where = typeof kept['folder'] === 'string' ? `in ${kept['folder']}` : 'where is not recorded'
  const line = `This conversation was held elsewhere (${where}); its history goes to ${host}, which ${setup.config?.file} chose.`
  const { isInteractive, tell } = await import('./trusted.ts')
  if (!isInteractive()) {
    tell([line])
    return origin
  }
  const { yesOrNo } = await import('./yes-or-no.ts')
  if (await yesOrNo(`${neutral(line)} Continue? [y/N] `)) return { ...origin, folder: here }
  throw badInput('The conversation was not continued; leave out -c, or run it with --no-config.')
}

/** Whether the conversation was held in the folder whose file chose the host, or below it. */
function isInside(folder: unknown, file: string | undefined): boolean {
  if (typeof folder !== 'string' || file === undefined) return false
  const way = relative(realpathSync(dirname(file)), folder)
  return !isAbsolute(way) && way.split(sep)[0] !== '..'
}

/** The host that a file of the current folder chose for one of the models that may be asked. */
function hostOfFolder({ settings, config, rows }: SessionSettings): string | undefined {
  if (config?.origin !== 'folder') return undefined
  const { route, fallback = [] } = settings
  const routed = typeof route === 'object' ? [route.tools, route.answer] : []
  const models = [settings.model, ...routed, ...fallback.map((one) => (typeof one === 'string' ? one : one.model))]
  const providers = new Set(
    models.flatMap((model) => (typeof model === 'string' ? [parseModelRef(model).provider] : [])),
  )
  const row = rows.find(({ id }) => providers.has(id) && config.ownIds.includes(id))
  return row?.wires[0].baseUrl
}
