// Messages as contents. Everything between two replies becomes one user content, function responses first: the API
// merges adjacent contents of one role itself (checked 2026-11 on recorded requests), and every model accepts merged
// contents.
//
// Nothing is merged across a reply, not even across one that could not be sent: the contents of a shorter history must
// stay a prefix of those of a longer one (P4). For the same reason a reply after a reply gets a "Continue." in between.

import type { Context } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Message, Part, Reply, ToolResultPart } from '../../core/message.ts'
import { skipSignature } from '../google/models.ts'
import { googleForm } from '../google/options.ts'
import { fromPlace } from '../shared/body-bytes.ts'
import { cleanJson } from '../shared/clean-json.ts'
import { continueText, emptyResultText } from '../shared/injected-text.ts'
import {
  callInput,
  type Form,
  isReplayed,
  isText,
  noteReasoning,
  patchCall,
  replyPieces,
  resultPieces,
  systemPieces,
  userPieces,
  type Encoding,
  createEncoding,
} from '../shared/pieces.ts'
import { withSources } from '../shared/server-tool-text.ts'
import { normaliseTurns, type Turn, turnOf, wireList } from '../shared/turns.ts'
import type { Target } from '../wire.ts'
import { aboutTheAnswer, functionCallOf, type GeminiContent, type GeminiPart, protocolId } from './types.ts'

/** `whole`: a request, with missing turns added at either end. `bare`: these messages and no more. */
export function encodeContents(context: Context, encoding: Encoding, extent: 'whole' | 'bare'): GeminiContent[] {
  const turns: Turn<GeminiPart>[] = []
  let stretch: EncodedInput[] = []
  const endStretch = () => {
    const turn = stretchOf(stretch)
    if (turn.items.length > 0) turns.push(turn)
    stretch = []
  }

  const encodeOne = (message: Exclude<Message, Reply>, at: string) => encodeInput(message, at, encoding)
  const replied = (reply: Reply, at: string) => replyTurn(reply, at, encoding)
  for (let index = 0; index < context.messages.length; index++) {
    const message = context.messages[index] as Message
    if (message.role !== 'assistant') {
      stretch.push(encoding.cached(message, index, encodeOne))
      continue
    }
    endStretch()
    const turn = encoding.cached(message, index, replied)
    if (turn.items.length === 0) continue
    const previous = turns.at(-1)
    if (extent === 'whole' && previous?.role === 'assistant') turns.push(continueTurn(turn, encoding))
    turns.push(turn)
  }
  endStretch()

  const turnRules = { text: (text: string): GeminiPart => ({ text }), join: [] }
  const ends = extent === 'whole' ? { startWithUser: true, endWithUser: 'G-5' } : {}
  return wireList(normaliseTurns(turns, { ...turnRules, ...ends }, encoding.notes), ({ role, items }) => [
    { role: role === 'assistant' ? 'model' : 'user', parts: items },
  ])
}

function replyTurn(reply: Reply, at: string, encoding: Encoding): Turn<GeminiPart> {
  const items = encodeReply(reply, at, encoding)
  if (items.length === 0) {
    encoding.notes.push({ kind: 'dropped', what: 'assistant message', why: 'nothing in it can be sent', at })
  }
  return turnOf('assistant', items, at)
}

/** What one message between two replies contributes to their content. */
interface EncodedInput {
  at: string
  responses: GeminiPart[]
  media: GeminiPart[]
  rest: GeminiPart[]
  /** The merged content, with the messages after it. */
  turn?: { of: readonly EncodedInput[]; turn: Turn<GeminiPart> }
}

function stretchOf(inputs: readonly EncodedInput[]): Turn<GeminiPart> {
  const cached = inputs[0]?.turn
  if (cached?.of.length === inputs.length && cached.of.every((input, i) => input === inputs[i])) return cached.turn
  const [first] = inputs
  const turn = turnOf('user', itemsOf(inputs), first?.at ?? '', placesOf(inputs))
  if (first) first.turn = { of: inputs, turn }
  return turn
}

// Loops: there are as many of these lists as there are messages, and nearly all of them have one element.

function itemsOf(inputs: readonly EncodedInput[]): GeminiPart[] {
  const items: GeminiPart[] = []
  for (const kind of ['responses', 'media', 'rest'] as const) {
    for (const input of inputs) for (const item of input[kind]) items.push(item)
  }
  return items
}

function placesOf(inputs: readonly EncodedInput[]): string[] {
  const places: string[] = []
  for (const { at, responses, media, rest } of inputs) {
    if (responses.length + media.length + rest.length > 0) places.push(...fromPlace(at))
  }
  return places
}

function continueTurn(reply: Turn<GeminiPart>, { notes }: Encoding): Turn<GeminiPart> {
  const what = `user message ${JSON.stringify(continueText)}`
  notes.push({ kind: 'added', what, why: 'roles must alternate on this wire', at: reply.at, rule: 'G-11' })
  return (reply.opening ??= turnOf('user', [{ text: continueText }], ''))
}

function encodeInput(message: Exclude<Message, Reply>, at: string, encoding: Encoding): EncodedInput {
  if (message.role === 'tool') {
    const input: EncodedInput = { at, responses: [], media: [], rest: [] }
    for (const part of message.parts) addResult(part, input, encoding)
    return input
  }
  const rest = message.role === 'user' ? userPieces(message, at, encoding) : systemPieces(message, at, encoding)
  if (rest.length === 0) {
    encoding.notes.push({ kind: 'dropped', what: `${message.role} message`, why: 'nothing in it can be sent', at })
  }
  return { at, responses: [], media: [], rest }
}

/** One function response, and its media that the response itself cannot contain. */
function addResult(part: ToolResultPart, input: EncodedInput, encoding: Encoding): void {
  const { inside, after } = resultPieces(part, input.at, encoding)
  const media: JsonObject[] = []
  const texts: string[] = []
  for (const piece of inside) {
    if (isText(piece)) texts.push(piece.text)
    else media.push(piece)
  }
  const text = inside.length > 0 ? texts.join('\n') : emptyResultText
  const response: JsonObject = {
    // Without an id a response is matched by its name and position.
    ...(encoding.target.capabilities.callIds !== false &&
      !encoding.isIdless(part.callId) && { id: encoding.wireId(part.callId) }),
    name: encoding.resultName(part),
    // Must be an object; `output` and `error` are the keys that models are trained on.
    response: part.failed ? { error: text } : { output: text },
    ...(media.length > 0 && { parts: media satisfies Json[] }),
  }
  input.responses.push({ functionResponse: response })
  for (const piece of after) input.media.push(piece)
}

// A reply as the parts of a model content: its native data if this provider wrote it on this wire, otherwise built from
// its parts. Gemini 3 refuses a step whose first call has no signature, in both cases.

const form: Form = {
  id: protocolId,
  text: (text) => ({ text }),
  bytes: (mimeType, data) => ({ inlineData: { mimeType, data } }),
  file: (mimeType, fileUri) => ({ fileData: { mimeType, fileUri } }),
  own(part) {
    const [protocol, kind = ''] = part.kind.split('/')
    return protocol === protocolId && isObject(part.data) && !aboutTheAnswer.includes(kind) ? part.data : undefined
  },
  ...googleForm,
}

export function encodingFor(context: Context, target: Target, keepThoughts = false): Encoding {
  return createEncoding(form, context, target, keepThoughts)
}

function encodeReply(reply: Reply, at: string, encoding: Encoding): GeminiPart[] {
  const parts = isReplayed(reply, encoding) ? replay(reply, at, encoding) : build(reply, at, encoding)
  const clean = cleanJson(parts, at, encoding.notes)
  return encoding.target.capabilities.signedCalls ? signParts(clean, at, encoding) : clean
}

function replay(reply: Reply, at: string, encoding: Encoding): GeminiPart[] {
  const parts = reply.native.filter(isObject)
  for (const part of reply.parts) {
    if (part.type !== 'tool-call' || part.from === undefined) continue
    const call = functionCallOf(parts[part.from])
    const id = part.alias === undefined ? undefined : encoding.wireId(part.callId)
    const wire = { id, arguments: 'args' as const }
    if (call) parts[part.from] = { ...parts[part.from], functionCall: patchCall(call, part, wire, at, encoding) }
  }
  return parts
}

/** G-6 checks the current turn only; all steps are signed, so that they stay the same when the next turn begins. */
function signParts(parts: GeminiPart[], at: string, { notes }: Encoding): GeminiPart[] {
  const first = parts.findIndex((part) => functionCallOf(part) !== undefined)
  const call = parts[first]
  if (!call || (typeof call.thoughtSignature === 'string' && call.thoughtSignature !== '')) return parts
  const why = 'the model requires a signature on the first call of a step, and this one has none'
  notes.push({ kind: 'added', what: 'stand-in thought signature', why, at, rule: 'G-6' })
  return parts.with(first, { ...call, thoughtSignature: skipSignature })
}

function build(reply: Reply, at: string, encoding: Encoding): GeminiPart[] {
  noteReasoning(reply, at, encoding)
  return withSources(reply, at, encoding.notes).parts.flatMap((part) => builtPart(part, at, encoding))
}

function builtPart(part: Part, at: string, encoding: Encoding): GeminiPart[] {
  if (part.type === 'reasoning') {
    return encoding.keepThoughts && part.text !== '' ? [{ text: part.text, thought: true }] : []
  }
  if (part.type !== 'tool-call') return replyPieces(part, at, encoding)
  const args = callInput(part, at, encoding)
  const id = encoding.target.capabilities.callIds === false ? {} : { id: encoding.wireId(part.callId) }
  return [{ functionCall: { ...id, name: encoding.names.toWire(part.name), args } }]
}
