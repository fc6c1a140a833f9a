// The origin of a conversation: the folder, and the file of its agent. A history from one folder is sent to a host
// chosen by another folder only after the user was informed.

import { realpathSync } from 'node:fs'
import { dirname, isAbsolute, relative, sep } from 'node:path'
import { badInput } from '../core/error.ts'
import { isObject, type JsonObject } from '../core/json.ts'
import type { Conversation as Stored } from '../core/log.ts'
import { readStoredKeys } from '../config/stored-keys.ts'
import { findModel } from '../providers/find-model.ts'
import type { BoundAgent } from './open-agent.ts'
import type { SessionSettings } from './session-settings.ts'
import { neutral } from './terminal.ts'

/** The origin to store. Throws if the user does not want to continue here. */
export async function conversationOrigin(
  setup: SessionSettings,
  stored: Stored | undefined,
  agent: BoundAgent | undefined,
  confirm: (question: string) => Promise<boolean | undefined> = askYesOrNo,
): Promise<JsonObject> {
  const here = realpathSync(process.cwd())
  const previous = isObject(stored?.settings['origin']) ? stored.settings['origin'] : {}
  const origin: JsonObject = { ...previous, ...(agent && { agent }) }
  if (!stored) return { ...origin, folder: here }
  const host = setup.offline ? undefined : await hostOfFolder(setup)
  if (host === undefined || isInside(previous['folder'], setup.config?.file)) return origin
  const where = typeof previous['folder'] === 'string' ? `in ${previous['folder']}` : 'in an unknown folder'
  const line = `This conversation was started elsewhere (${where}); its history is sent to ${host}, as set in ${setup.config?.file}.`
  const { isInteractive, tell } = await import('./trusted.ts')
  if (!isInteractive()) {
    tell([line])
    return origin
  }
  if (await confirm(`${neutral(line)} Continue? [y/N] `)) return { ...origin, folder: here }
  throw badInput('The conversation was not continued; leave out -c, or use --no-config.')
}

async function askYesOrNo(question: string): Promise<boolean | undefined> {
  const { yesOrNo } = await import('./yes-or-no.ts')
  return yesOrNo(question)
}

/** Whether the conversation is from the folder whose file chose the host, or below it. */
function isInside(folder: unknown, file: string | undefined): boolean {
  if (typeof folder !== 'string' || file === undefined) return false
  const way = relative(realpathSync(dirname(file)), folder)
  return !isAbsolute(way) && way.split(sep)[0] !== '..'
}

/** The host that a file of the current folder chose for one of the models that may be used. */
async function hostOfFolder({
  settings,
  config,
  rows,
}: Pick<SessionSettings, 'settings' | 'config' | 'rows'>): Promise<string | undefined> {
  if (config?.origin !== 'folder') return undefined
  const { route, fallback = [] } = settings
  const routed = typeof route === 'object' ? [route.tools, route.answer] : []
  const models = [settings.model, ...routed, ...fallback.map((one) => (typeof one === 'string' ? one : one.model))]
  const known = { rows, env: process.env, keys: readStoredKeys(), aliases: config.aliases }
  const named = models.filter((model) => typeof model === 'string')
  // Some are named without their provider; one that cannot be found is not used either.
  const found = await Promise.all(named.map((model) => findModel(model, known).catch(() => undefined)))
  const providers = new Set(found.map((one) => one?.provider))
  const row = rows.find(({ id }) => providers.has(id) && config.ownIds.includes(id))
  return row?.wires[0].baseUrl
}
