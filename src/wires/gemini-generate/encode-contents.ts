// Messages as contents. Everything between two replies becomes one user content, function responses first: the API
// merges adjacent contents of one role itself (checked 2026-11 on recorded requests), and every model accepts merged
// contents.
//
// Nothing is merged across a reply, not even across one that could not be sent: the contents of a shorter history must
// stay a prefix of those of a longer one (P4). For the same reason a reply after a reply gets a "Continue." in between.

import type { Context } from '../../core/context.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import type { Message, Reply, ToolResultPart } from '../../core/message.ts'
import { isText, resultPieces, systemPieces, userPieces, type Writing } from '../shared/pieces.ts'
import { fromPlace } from '../shared/body-bytes.ts'
import { continueText, emptyResultText } from '../shared/injected-text.ts'
import { normaliseTurns, turnOf, wireList, type Turn } from '../shared/turns.ts'
import { encodeReply } from './encode-reply.ts'
import type { GeminiContent, GeminiPart } from './types.ts'

/** `whole`: a request, with missing turns added at either end. `bare`: these messages and no more. */
export function encodeContents(context: Context, write: Writing, extent: 'whole' | 'bare'): GeminiContent[] {
  const turns: Turn<GeminiPart>[] = []
  let stretch: EncodedInput[] = []
  const endStretch = () => {
    const turn = stretchOf(stretch)
    if (turn.items.length > 0) turns.push(turn)
    stretch = []
  }

  const encodeOne = (message: Exclude<Message, Reply>, at: string) => encodeInput(message, at, write)
  const replied = (reply: Reply, at: string) => replyTurn(reply, at, write)
  for (let index = 0; index < context.messages.length; index++) {
    const message = context.messages[index] as Message
    if (message.role !== 'assistant') {
      stretch.push(write.cached(message, index, encodeOne))
      continue
    }
    endStretch()
    const turn = write.cached(message, index, replied)
    if (turn.items.length === 0) continue
    const before = turns.at(-1)
    if (extent === 'whole' && before?.role === 'assistant') turns.push(between(turn, write))
    turns.push(turn)
  }
  endStretch()

  const turnRules = { text: (text: string): GeminiPart => ({ text }), join: [] }
  const ends = extent === 'whole' ? { startWithUser: true, endWithUser: 'G-5' } : {}
  return wireList(normaliseTurns(turns, { ...turnRules, ...ends }, write.notes), ({ role, items }) => [
    { role: role === 'assistant' ? 'model' : 'user', parts: items },
  ])
}

function replyTurn(reply: Reply, at: string, write: Writing): Turn<GeminiPart> {
  const items = encodeReply(reply, at, write)
  if (items.length === 0) {
    write.notes.push({ kind: 'dropped', what: 'assistant message', why: 'nothing in it can be sent', at })
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
  const known = inputs[0]?.turn
  if (known?.of.length === inputs.length && known.of.every((one, i) => one === inputs[i])) return known.turn
  const items: GeminiPart[] = []
  for (const { responses } of inputs) items.push(...responses)
  for (const { media } of inputs) items.push(...media)
  for (const { rest } of inputs) items.push(...rest)
  const from = inputs.filter(isSent).flatMap(({ at }) => fromPlace(at))
  const turn = turnOf('user', items, inputs[0]?.at ?? '', from)
  if (inputs[0]) inputs[0].turn = { of: inputs, turn }
  return turn
}

function isSent({ responses, media, rest }: EncodedInput): boolean {
  return responses.length + media.length + rest.length > 0
}

function between(reply: Turn<GeminiPart>, { notes }: Writing): Turn<GeminiPart> {
  const what = `user message ${JSON.stringify(continueText)}`
  notes.push({ kind: 'added', what, why: 'the wire wants roles to take turns', at: reply.at, rule: 'G-11' })
  return (reply.opening ??= turnOf('user', [{ text: continueText }], ''))
}

function encodeInput(message: Exclude<Message, Reply>, at: string, write: Writing): EncodedInput {
  if (message.role === 'tool') {
    const results = message.parts.map((part) => encodeResult(part, at, write))
    const responses = results.map(({ response }) => response)
    return { at, responses, media: results.flatMap(({ media }) => media), rest: [] }
  }
  const rest = message.role === 'user' ? userPieces(message, at, write) : systemPieces(message, at, write)
  if (rest.length === 0) {
    write.notes.push({ kind: 'dropped', what: `${message.role} message`, why: 'nothing in it can be sent', at })
  }
  return { at, responses: [], media: [], rest }
}

/** One function response, and its media that the response itself cannot contain. */
function encodeResult(part: ToolResultPart, at: string, write: Writing): { response: GeminiPart; media: GeminiPart[] } {
  const { inside, after } = resultPieces(part, at, write)
  const media = inside.filter((piece) => !isText(piece))
  const text = inside.length > 0 ? textOf(inside) : emptyResultText
  const response: JsonObject = {
    // Without an id a response is matched by its name and position.
    ...(write.target.capabilities.callIds !== false &&
      !write.isIdless(part.callId) && { id: write.wireId(part.callId) }),
    name: write.resultName(part),
    // Must be an object; `output` and `error` are the keys that models are trained on.
    response: part.failed ? { error: text } : { output: text },
    ...(media.length > 0 && { parts: media satisfies Json[] }),
  }
  return { response: { functionResponse: response }, media: after }
}

function textOf(pieces: readonly JsonObject[]): string {
  return pieces.flatMap((piece) => (isText(piece) ? [piece.text] : [])).join('\n')
}
