// Messages as steps. Steps are flat, so nothing has to be merged, and a longer history always begins with the steps of
// a shorter one (P4).

import type { Context } from '../../core/context.ts'
import { isObject } from '../../core/json.ts'
import type { Message, Part, Reply, ToolResultPart } from '../../core/message.ts'
import { skipSignature } from '../google/models.ts'
import { googleForm } from '../google/options.ts'
import { cleanJson } from '../shared/clean-json.ts'
import { emptyResultText } from '../shared/injected-text.ts'
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
import {
  type Content,
  contentKind,
  hasSignature,
  isStep,
  mediaKind,
  protocolId,
  type Step,
  textContent,
  userInput,
} from './types.ts'

/**
 * `whole`: a stateless request, with missing turns added at either end. `from`: the rest of a chain. `bare`: these
 * messages and no more.
 */
type Extent = 'whole' | 'bare' | { from: number }

export function encodeSteps(context: Context, encoding: Encoding, extent: Extent): Step[] {
  const first = typeof extent === 'object' ? extent.from : 0
  const turns: Turn<Step>[] = []
  /** Media of the results so far, to be shown after the last of them. */
  let media: Content[] = []
  let shownFrom: string[] = []
  const showMedia = () => {
    if (media.length === 0) return
    turns.push(turnOf('user', [userInput(media)], '', shownFrom))
    media = []
    shownFrom = []
  }

  const write = (message: Message, at: string) => writeMessage(message, at, encoding)
  for (let index = first; index < context.messages.length; index++) {
    const message = context.messages[index] as Message
    if (message.role !== 'tool') showMedia()
    const turn = encoding.cached(message, index, write)
    turns.push(turn)
    if (!turn.media) continue
    media.push(...turn.media)
    shownFrom.push(...turn.from)
  }
  showMedia()

  const turnRules = { text: (text: string) => userInput([textContent(text)]), join: [] }
  const ends = extent === 'bare' ? {} : { startWithUser: extent === 'whole', endWithUser: 'G-5' }
  return wireList(normaliseTurns(turns, { ...turnRules, ...ends }, encoding.notes), (turn) => turn.items)
}

interface Written extends Turn<Step> {
  /** Of results, to be shown after the last of them. */
  media?: Content[]
}

function writeMessage(message: Message, at: string, encoding: Encoding): Written {
  if (message.role === 'tool') {
    const results = message.parts.map((part) => encodeResult(part, at, encoding))
    const media = results.flatMap((result) => result.media)
    const steps = results.map(({ step }) => step)
    return media.length > 0 ? { ...turnOf('tool', steps, at), media } : turnOf('tool', steps, at)
  }
  if (message.role === 'assistant') return turnOf('assistant', encodeReply(message, at, encoding), at)
  const content = message.role === 'user' ? userPieces(message, at, encoding) : systemPieces(message, at, encoding)
  return turnOf('user', content.length > 0 ? [userInput(content)] : [], at)
}

/** One result, and its media that a result cannot contain. */
function encodeResult(part: ToolResultPart, at: string, encoding: Encoding): { step: Step; media: Content[] } {
  const { inside, after } = resultPieces(part, at, encoding)
  const texts = inside.flatMap((piece) => (isText(piece) ? [piece.text] : []))
  const isPlain = texts.length === inside.length
  return {
    step: {
      type: 'function_result',
      call_id: encoding.wireId(part.callId),
      name: encoding.resultName(part),
      result: isPlain ? texts.join('\n') || emptyResultText : inside,
      ...(part.failed && { is_error: true }),
    },
    media: after,
  }
}

// A reply as steps: its native steps if this provider wrote it on this wire, including thoughts with signatures;
// otherwise built from its parts, without the thoughts of other providers.

const form: Form = {
  id: protocolId,
  text: textContent,
  bytes: (mediaType, data) => mediaContent(mediaType, { data }),
  file: (mediaType, uri) => mediaContent(mediaType, { uri }),
  own: ({ kind, data }) => (kind.startsWith(contentKind) && isObject(data) ? data : undefined),
  ...googleForm,
}

function mediaContent(mediaType: string, source: { data: string } | { uri: string }): Content | undefined {
  const type = mediaKind(mediaType)
  return type && { type, mime_type: mediaType, ...source }
}

export function encodingFor(context: Context, target: Target, keepThoughts = false): Encoding {
  return createEncoding(form, context, target, keepThoughts)
}

function encodeReply(reply: Reply, at: string, encoding: Encoding): Step[] {
  const steps = isReplayed(reply, encoding) ? replay(reply, at, encoding) : build(reply, at, encoding)
  const clean = cleanJson(steps, at, encoding.notes)
  return encoding.target.capabilities.signedCalls ? signSteps(clean, at, encoding) : clean
}

function replay(reply: Reply, at: string, encoding: Encoding): Step[] {
  const steps = reply.native.filter(isObject)
  for (const part of reply.parts) {
    if (part.type !== 'tool-call' || part.from === undefined) continue
    const step = steps[part.from]
    const wire = { id: encoding.wireId(part.callId), arguments: 'arguments' as const }
    if (isStep(step, 'function_call')) steps[part.from] = patchCall(step, part, wire, at, encoding)
  }
  return steps
}

/**
 * The signature of a call is on the thought before it, so an unsigned call gets a placeholder thought. All steps are
 * signed, not only those of the current turn, so that they stay the same when the next begins.
 */
function signSteps(steps: Step[], at: string, { notes }: Encoding): Step[] {
  const first = steps.findIndex((step) => step.type === 'function_call')
  const call = steps[first]
  if (!call || hasSignature(call)) return steps
  if (steps.slice(0, first).some((step) => step.type === 'thought' && hasSignature(step))) return steps
  const why = 'the model requires signed calls, and this one has no signature'
  notes.push({ kind: 'added', what: 'stand-in thought signature', why, at, rule: 'G-6' })
  return steps.toSpliced(first, 0, { type: 'thought', signature: skipSignature })
}

function build(reply: Reply, at: string, encoding: Encoding): Step[] {
  noteReasoning(reply, at, encoding)
  const steps: Step[] = []
  let content: Content[] = []
  const speak = () => {
    if (content.length > 0) steps.push({ type: 'model_output', content })
    content = []
  }
  for (const part of withSources(reply, at, encoding.notes).parts) {
    const step = ownStep(part, at, encoding)
    if (step) {
      speak()
      steps.push(step)
    } else {
      content.push(...replyPieces(part, at, encoding))
    }
  }
  speak()
  return steps
}

function ownStep(part: Part, at: string, encoding: Encoding): Step | undefined {
  if (part.type === 'tool-call') {
    const input = callInput(part, at, encoding)
    const name = encoding.names.toWire(part.name)
    return { type: 'function_call', id: encoding.wireId(part.callId), name, arguments: input }
  }
  if (part.type === 'opaque' && part.kind.startsWith(`${protocolId}/`) && !part.kind.startsWith(contentKind)) {
    return isObject(part.data) ? part.data : undefined
  }
  if (part.type === 'reasoning' && encoding.keepThoughts) return { type: 'thought', summary: [textContent(part.text)] }
  return undefined
}
