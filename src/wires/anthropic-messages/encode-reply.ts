// A reply as assistant content: its native data if it is valid for the target, otherwise built from its parts.
//
// Client calls come last in an assistant message: with text after a `tool_use` the API says that its result is missing,
// even though it is there (recorded 2026).

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Part, Reply, ToolCallPart } from '../../core/message.ts'
import { cleanJson } from '../shared/clean-json.ts'
import { flatCall, malformedInput, mediaStandIn, summaryLabel } from '../shared/injected-text.ts'
import { isIntact } from '../shared/replayable.ts'
import { serverToolText, withSources } from '../shared/server-tool-text.ts'
import { cleanText, isBlank, isClean } from '../shared/text.ts'
import { valueFor } from '../shared/json-fields.ts'
import type { Target } from '../wire.ts'
import { isClaude } from './models.ts'
import {
  type Block,
  blockFields,
  isBlock,
  isThinking,
  protocolId,
  replyOnlyFields,
  textBlock,
  type Encoding,
} from './types.ts'

export function encodeReply(reply: Reply, at: string, encoding: Encoding): Block[] {
  return isReplayed(reply, encoding.target) ? replay(reply, at, encoding) : build(reply, at, encoding)
}

function replay(reply: Reply, at: string, encoding: Encoding): Block[] {
  const calls = new Map(
    reply.parts.flatMap((part) => (part.type === 'tool-call' && part.from !== undefined ? [[part.from, part]] : [])),
  )
  const speaks = reply.native.some(
    (block) => isBlock(block) && block.type === 'text' && typeof block.text === 'string' && !isBlank(block.text),
  )
  const thinks = mayThink(reply, at, encoding)
  const blocks: Block[] = []
  for (const [index, native] of reply.native.entries()) {
    if (!isBlock(native) || (isThinking(native) && !thinks)) continue
    const block = replayBlock(native, calls.get(index), speaks, at, encoding)
    if (block) blocks.push(block)
  }
  return callsLast(blocks, at, encoding)
}

/**
 * Thinking is sent completely or not at all: if one block cannot be sent unchanged, the others of its reply are left
 * out too.
 */
function mayThink(reply: Reply, at: string, encoding: Encoding): boolean {
  const signed = isClaude(encoding.target.model)
  const bad = reply.native.some(
    (block) =>
      isBlock(block) &&
      block.type === 'thinking' &&
      ((signed && !block.signature) || (typeof block.thinking === 'string' && !isClean(block.thinking))),
  )
  if (bad) {
    const why = 'it has no signature, or text that cannot be sent as it was signed'
    encoding.notes.push({ kind: 'dropped', what: 'thinking', why, at, rule: 'R-18' })
  }
  return !bad
}

function replayBlock(
  native: Block,
  call: ToolCallPart | undefined,
  speaks: boolean,
  at: string,
  encoding: Encoding,
): Block | undefined {
  const drop = (why: string, rule: string): undefined => {
    encoding.notes.push({ kind: 'dropped', what: `${native.type} block`, why, at, rule })
  }
  const block = forRequest(native)
  switch (native.type) {
    case 'text': {
      if (typeof native.text !== 'string' || native.text === '') return undefined
      if (!speaks) return drop('its text is blank, and a message may not say only that', 'R-8')
      return { ...block, text: cleanText(native.text, at, encoding.notes) }
    }
    case 'tool_use':
      return call ? replayCall(block, call, at, encoding) : drop('the log has no such call', 'R-1')
    case 'compaction':
      if (!block.content && !block.encrypted_content) return drop('it is the mark of a compaction that failed', 'R-29')
      return block
    default:
      return cleanJson(block, at, encoding.notes)
  }
}

function replayCall(block: Block, call: ToolCallPart, at: string, encoding: Encoding): Block {
  const id = encoding.idOf(call.callId)
  const name = encoding.names.toWire(call.name)
  if (id !== block.id) {
    const what = `id of the call of ${call.name} from ${JSON.stringify(block.id)} to ${JSON.stringify(id)}`
    encoding.notes.push({ kind: 'changed', what, why: 'ids must be unique in a request', at, rule: 'R-4' })
  }
  const input = call.malformed === undefined && isObject(block.input) ? block.input : inputOf(call, at, encoding)
  return { ...block, id, name, input: cleanJson(input, at, encoding.notes) }
}

/**
 * Without fields that are known to be only in replies or meaningless. An unknown field is sent back: the API may
 * require it, as it once began to require signatures, and names it if it does not accept it.
 */
function forRequest(native: Block): Block {
  if (!valueFor(blockFields, native.type)) return native
  const block: JsonObject = {}
  for (const field of Object.keys(native)) {
    const value = native[field]
    if (replyOnlyFields.has(field) || value === null || value === undefined) continue
    block[field] = field === 'citations' && Array.isArray(value) ? value.map(citationForRequest) : value
  }
  return { ...block, type: native.type }
}

/** `file_id` of a citation is not in the request's type. */
function citationForRequest(citation: Json): Json {
  if (!isObject(citation) || !('file_id' in citation)) return citation
  const { file_id: _, ...rest } = citation
  return rest
}

function callsLast(blocks: Block[], at: string, encoding: Encoding): Block[] {
  const first = blocks.findIndex((block) => block.type === 'tool_use')
  const late = first >= 0 && blocks.slice(first).some((block) => block.type === 'text')
  if (!late) return blocks
  const why = 'text after a call hides its result from the API'
  encoding.notes.push({ kind: 'changed', what: 'order of the reply: its calls go last', why, at, rule: 'R-1' })
  return [
    ...blocks.filter((block) => block.type !== 'tool_use'),
    ...blocks.filter((block) => block.type === 'tool_use'),
  ]
}

function build(reply: Reply, at: string, encoding: Encoding): Block[] {
  const blocks: Block[] = []
  let thoughts = 0
  for (const part of withSources(reply, at, encoding.notes).parts) {
    if (part.type === 'reasoning') thoughts++
    const block = buildPart(part, reply, at, encoding)
    if (block) blocks.push(block)
  }
  if (thoughts > 0) {
    const why = 'only the model that wrote it can read it, and it must not become part of the answer'
    encoding.notes.push({ kind: 'dropped', what: 'reasoning', why, at, rule: 'R-18' })
  }
  return callsLast(blocks, at, encoding)
}

function buildPart(part: Part, reply: Reply, at: string, encoding: Encoding): Block | undefined {
  const drop = (what: string, why: string, rule?: string): undefined => {
    encoding.notes.push({ kind: 'dropped', what, why, at, ...(rule && { rule }) })
  }
  const say = (text: string): Block | undefined => {
    if (text === '') return undefined
    if (isBlank(text)) return drop('blank text', 'the wire refuses it', 'R-8')
    return textBlock(cleanText(text, at, encoding.notes))
  }
  switch (part.type) {
    case 'text':
    case 'refusal':
      return say(part.text)
    case 'reasoning':
      return undefined
    case 'tool-call':
      return buildCall(part, at, encoding)
    case 'server-tool': {
      const text = serverToolText(part)
      if (text === undefined) return drop(`call of ${part.name}`, 'it has no input or output')
      encoding.notes.push({
        kind: 'changed',
        what: `${part.name} to labelled text`,
        why: 'another provider ran it',
        at,
      })
      return say(text)
    }
    case 'compaction':
      if (!part.text) return drop('compaction', 'only its own provider can read it')
      return say(`${summaryLabel}\n${part.text}`)
    case 'media':
      encoding.notes.push({ kind: 'dropped', what: part.mediaType, why: 'an assistant message cannot have media', at })
      return textBlock(mediaStandIn(part.mediaType, part.name))
    case 'tool-result':
      return drop(`result of ${part.name}`, 'a reply has no place for results')
    case 'opaque':
      if (part.kind.startsWith(`${protocolId}/`) && isBlock(part.data) && isOfIssuer(reply, encoding.target)) {
        return forRequest(part.data)
      }
      return drop(part.kind, 'it belongs to another wire')
  }
}

function buildCall(call: ToolCallPart, at: string, encoding: Encoding): Block {
  if (encoding.target.quirks.toolMessages || !encoding.target.capabilities.tools) {
    encoding.notes.push({
      kind: 'changed',
      what: `call of ${call.name} to labelled text`,
      why: 'the target supports no tools',
      at,
    })
    return textBlock(cleanText(flatCall(call.name, call.malformed ?? call.input), at, encoding.notes))
  }
  return {
    type: 'tool_use',
    id: encoding.idOf(call.callId),
    name: encoding.names.toWire(call.name),
    input: cleanJson(inputOf(call, at, encoding), at, encoding.notes),
  }
}

function inputOf(call: ToolCallPart, at: string, encoding: Encoding): JsonObject {
  if (call.malformed === undefined && isObject(call.input)) return call.input
  const what = `arguments of ${call.name} to an object that holds them as text`
  encoding.notes.push({ kind: 'changed', what, why: 'they were not a JSON object', at, rule: 'R-6' })
  return malformedInput(call.malformed ?? JSON.stringify(call.input))
}

/**
 * A thinking signature is valid on every host of a Claude model, so a Claude reply may be replayed to any other Claude;
 * a reply of another model on this wire is valid at its own provider only.
 */
export function isReplayed(reply: Reply, target: Target): boolean {
  if (target.quirks.toolMessages || !target.capabilities.tools) return false
  return isOfIssuer(reply, target) && isIntact(reply)
}

function isOfIssuer({ origin }: Reply, target: Target): boolean {
  if (origin.protocol !== protocolId) return false
  const bothClaude = isClaude(origin.model) === isClaude(target.model)
  if (origin.provider !== target.provider) return bothClaude && isClaude(target.model)
  return bothClaude || target.provider === 'anthropic'
}
