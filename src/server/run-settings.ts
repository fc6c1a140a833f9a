// From what a request says about a run to what the run needs: settings of the conversation and of the request put
// together, checked before anything is written, so that a wrong name or a missing key leaves nothing behind.

import { SynapseError } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import type { UserMessage } from '../core/message.ts'
import { modelOfFallback } from '../run/route.ts'
import type { ServerContext } from './context.ts'
import { spentBy } from './keys.ts'
import { allowModel, type Principal } from './principal.ts'
import { budgetUsed, toolsNamed } from './runs/execute-run.ts'
import { settings as settingsSchema, type MessageInput, type Settings } from './schema.ts'

export type WholeSettings = Settings & { model: string }

/** Settings that the command line wrote count as far as they have the same names. */
export function mergeSettings(server: ServerContext, kept: JsonObject, given: Settings = {}): WholeSettings {
  const known: Settings = {}
  for (const [name, value] of Object.entries(kept)) {
    const read = settingsSchema.safeParse({ [name]: value })
    if (read.success) Object.assign(known, read.data)
  }
  const { defaultModel: model, defaultPolicy: policy } = server
  return { model, ...(policy !== undefined && { policy }), ...known, ...given }
}

/** Throws where they cannot work, or not for this key. */
export async function checkSettings(server: ServerContext, principal: Principal, settings: Settings): Promise<void> {
  toolsNamed(settings.tools, server.tools)
  for (const { model, protocol } of modelsIn(settings)) {
    const { endpoint } = await server.endpoint(model, protocol)
    allowModel(principal, `${endpoint.provider.id}/${endpoint.model}`)
  }
}

/** Every model that a run with these settings may ask. */
function modelsIn({ model, protocol, route, fallback }: Settings): { model: string; protocol: string | undefined }[] {
  const others = [route?.tools, route?.answer, ...(fallback ?? []).map(modelOfFallback)]
  return [
    ...(model === undefined ? [] : [{ model, protocol }]),
    ...others.flatMap((other) => (other === undefined ? [] : [{ model: other, protocol: undefined }])),
  ]
}

/** Throws unless a run with these settings may begin. */
export async function checkRun(server: ServerContext, principal: Principal, settings: WholeSettings): Promise<void> {
  await checkSettings(server, principal, settings)
  const { budget, keyId } = principal
  if (budget === undefined || keyId === undefined) return
  for (const { model, protocol } of modelsIn(settings)) {
    const { endpoint } = await server.endpoint(model, protocol)
    if (endpoint.price) continue
    throw new SynapseError({
      kind: 'permission',
      message: `The price of ${model} is not known, so a key with a budget may not use it.`,
    })
  }
  if ((await spentBy(server.store, keyId)) >= budget) throw new SynapseError(budgetUsed(budget))
}

export function userMessage({ text, parts }: MessageInput): UserMessage {
  return { role: 'user', parts: parts ?? [{ type: 'text', text: text ?? '' }] }
}
