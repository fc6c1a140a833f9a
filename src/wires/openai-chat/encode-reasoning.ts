// Earlier reasoning, per host: most have no field for it or refuse it, some accept it back from the same model, and
// DeepSeek and Moonshot refuse a tool turn without it (D1). The field, and when it is wanted, are quirks.

import { isObject, type JsonObject } from '../../core/json.ts'
import type { Reply } from '../../core/message.ts'
import type { Writer } from '../message-list/dialect.ts'
import { replayableDetails } from './reasoning-details.ts'
import { protocolId } from './types.ts'

/** The fields to add to the assistant message of this reply. */
export function echoedReasoning(reply: Reply, hasCalls: boolean, at: string, writer: Writer): JsonObject {
  const { provider, model, quirks } = writer.target
  const { reasoningField: field, echoReasoning: when } = quirks
  const thought = reply.parts.some((part) => part.type === 'reasoning')
  const drop = (why: string, what = 'reasoning') => {
    if (thought) writer.notes.push({ kind: 'dropped', what, why, at })
  }

  if (!field || !when) {
    drop('the host does not take it back')
    return {}
  }
  if (when === 'tool-turns' && !hasCalls) {
    drop('the host wants it back only with tool calls')
    return {}
  }
  const own = reply.origin.protocol === protocolId && reply.origin.provider === provider
  const sameModel = reply.origin.model === model
  if (own && field === 'reasoning_details') return detailsBack(reply, sameModel, drop)

  if (own && (sameModel || when === 'tool-turns')) {
    const text = reasoningText(reply, field)
    if (text !== undefined) return { [field]: text }
  } else drop('it is good only for the model that made it')
  if (when !== 'tool-turns' || field === 'reasoning_details') return {}
  const why = 'the host refuses a tool turn without the field'
  writer.notes.push({ kind: 'added', what: `empty ${field}`, why, at, rule: 'D1' })
  return { [field]: '' }
}

function detailsBack(reply: Reply, sameModel: boolean, drop: (why: string, what?: string) => void): JsonObject {
  const native = nativeOf(reply)
  if (!Array.isArray(native.reasoning_details) || native.reasoning_details.length === 0) {
    return sameModel && typeof native.reasoning === 'string' ? { reasoning: native.reasoning } : {}
  }
  const replayable = replayableDetails(native.reasoning_details, sameModel)
  if (replayable.length < native.reasoning_details.length) {
    const what = `${native.reasoning_details.length - replayable.length} entries of reasoning_details`
    drop('encrypted and signed ones are good only for the model that made them, and some are refused unsigned', what)
  }
  return replayable.length > 0 ? { reasoning_details: replayable } : {}
}

/** In the host's original form, whatever its field was: vLLM has renamed it. */
function reasoningText(reply: Reply, field: string): string | undefined {
  const native = nativeOf(reply)
  for (const name of [field, 'reasoning_content', 'reasoning']) {
    const text = native[name]
    if (typeof text === 'string' && text !== '') return text
  }
  const thoughts = reply.parts.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])).join('')
  return thoughts === '' ? undefined : thoughts
}

function nativeOf(reply: Reply): JsonObject {
  const [native] = reply.native
  return isObject(native) ? native : {}
}
