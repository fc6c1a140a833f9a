// From a request about a run to what the run needs: settings of the conversation and of the request merged and checked
// before anything is written, so that a wrong name or a missing key leaves nothing behind.

import { SynapseError } from '../core/error.ts'
import { isObject, type JsonObject } from '../core/json.ts'
import type { UserMessage } from '../core/message.ts'
import { modelOfFallback } from '../run/route.ts'
import type { AgentFile } from '../agents/read.ts'
import type { Toolbox } from '../agents/toolbox.ts'
import type { ServerContext } from './context.ts'
import { spentBy } from './keys.ts'
import { allowModel, type Principal } from './principal.ts'
import { budgetUsed } from './runs/execute-run.ts'
import { settings as settingsSchema, type MessageInput, type Settings } from './schema.ts'

export type WholeSettings = Settings & { model: string }

/** The source of the default settings. */
type Defaults = Pick<ServerContext, 'toolbox' | 'defaultModel' | 'defaultPolicy'>

/** Settings that the command line wrote apply as far as they have the same names. */
export function mergeSettings(
  server: Defaults,
  owner: string,
  stored: JsonObject,
  given: Settings = {},
): WholeSettings {
  const known: Settings = {}
  for (const [name, value] of Object.entries(stored)) {
    const read = settingsSchema.safeParse({ [name]: value })
    if (read.success) Object.assign(known, read.data)
  }
  const { defaultModel: model, defaultPolicy: policy } = server
  const agent = given.agent ?? known.agent
  const file = agent === undefined ? undefined : agentOf(server, owner, agent, given.agent === undefined ? stored : {})
  if (!file) delete known.agent
  return { model, ...(policy !== undefined && { policy }), ...file?.settings, ...known, ...given } as WholeSettings
}

/** A conversation stays with the file of its agent: if it used another file, it is continued without the agent. */
function agentOf(server: Defaults, owner: string, name: string, stored: JsonObject): AgentFile | undefined {
  const origin = isObject(stored['origin']) ? stored['origin'] : {}
  const bound = isObject(origin['agent']) ? origin['agent']['file'] : undefined
  const isHere = bound !== undefined && bound === fileOf(server, owner, name)
  return stored['agent'] === undefined || isHere ? server.toolbox(owner).agent(name) : undefined
}

function fileOf(server: Defaults, owner: string, name: string): string | undefined {
  return server
    .toolbox(owner)
    .agents()
    .find((agent) => agent.name === name)?.file
}

/** What a conversation stores: with an agent, also the file and the content that it is bound to. */
export function settingsToStore(
  server: ServerContext,
  owner: string,
  settings: Settings,
  stored: JsonObject,
): JsonObject {
  const plain = JSON.parse(JSON.stringify(settings)) as JsonObject
  const { agent: _, ...origin } = isObject(stored['origin']) ? stored['origin'] : {}
  const file = settings.agent === undefined ? undefined : server.toolbox(owner).agent(settings.agent)
  const bound = file && { agent: { file: file.path, sha256: file.sha256, named: false } }
  const place = { ...origin, ...bound }
  return {
    ...plain,
    ...(stored['client'] !== undefined && { client: stored['client'] }),
    ...(Object.keys(place).length > 0 && { origin: place }),
  }
}

/** Throws if they cannot work, or not for this key. */
export async function checkSettings(server: ServerContext, principal: Principal, settings: Settings): Promise<void> {
  const toolbox = server.toolbox(principal.owner)
  toolbox.check(settings)
  for (const { model, protocol } of everyModel(toolbox, settings)) {
    const { endpoint } = await server.endpoint(model, protocol)
    allowModel(principal, `${endpoint.provider.id}/${endpoint.model}`)
  }
}

/** Every model that a run with these settings may use, even after a hand-off to another agent. */
function everyModel(toolbox: Toolbox, settings: Settings): ReturnType<typeof modelsIn> {
  const names = new Set(settings.agent === undefined ? [] : [settings.agent])
  const others: AgentFile[] = []
  for (const name of names) {
    for (const agent of toolbox.handoffs(name)) {
      if (!names.has(agent.name)) others.push(agent)
      names.add(agent.name)
    }
  }
  return [settings, ...others.map((agent) => agent.settings as Settings)].flatMap(modelsIn)
}

function modelsIn({ model, protocol, route, fallback }: Settings): { model: string; protocol: string | undefined }[] {
  const others = [
    route?.tools,
    route?.answer && modelOfFallback(route.answer),
    ...(fallback ?? []).map(modelOfFallback),
  ]
  return [
    ...(model === undefined ? [] : [{ model, protocol }]),
    ...others.flatMap((other) => (other === undefined ? [] : [{ model: other, protocol: undefined }])),
  ]
}

/** Throws unless a run with these settings may start. */
export async function checkRun(server: ServerContext, principal: Principal, settings: WholeSettings): Promise<void> {
  await checkPriced(server, principal, settings)
  const { budget, keyId } = principal
  if (budget === undefined || keyId === undefined) return
  if ((await spentBy(server.accounts ?? server.store, keyId)) >= budget) throw new SynapseError(budgetUsed(budget))
}

/** The same, whatever the key has spent. */
export async function checkPriced(server: ServerContext, principal: Principal, settings: WholeSettings): Promise<void> {
  await checkSettings(server, principal, settings)
  if (principal.budget === undefined) return
  for (const { model, protocol } of everyModel(server.toolbox(principal.owner), settings)) {
    const { endpoint } = await server.endpoint(model, protocol)
    if (endpoint.price) continue
    throw new SynapseError({
      kind: 'permission',
      message: `The price of ${model} is not known, so a key with a budget may not use it.`,
    })
  }
}

export function userMessage({ text, parts }: MessageInput): UserMessage {
  return { role: 'user', parts: parts ?? [{ type: 'text', text: text ?? '' }] }
}
