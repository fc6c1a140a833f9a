// Chunks in, events out. A reply is one message, however many deltas bring it: its text is one part, its reasoning is
// one part, and each call is one; they stay open until the end, because hosts return to text after a call. `[DONE]`
// belongs to the framing; here a reply is complete when it has a finish reason, or when the usage came after it.

import type { Failure } from '../../core/error.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Origin, Part, Stop, StopReason } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'
import { type GatheredCall, legacyType } from '../shared/call-fragments.ts'
import {
  addPart,
  decoderOf,
  createDecoding,
  endPart,
  endReply,
  growPart,
  startPart,
  startReply,
  takeEvents,
  readArguments,
  type Outcome,
  stopAfterInterruption,
} from '../shared/decoding.ts'
import { readFailure } from '../shared/failure.ts'
import { mediaFromUrl } from '../shared/media.ts'
import { callHead, callsInOrder, openCall, type OpenCalls } from '../shared/open-calls.ts'
import type { Decoder, DecoderOptions, EndCause } from '../wire.ts'
import {
  createAssembly,
  type Assembly,
  audioPart,
  contentPart,
  detailsText,
  executedTool,
  foreignCallKind,
  isForeign,
  serverCall,
  wireCall,
} from './read-reply.ts'
import { reasoningFields } from './types.ts'
import { countIn, listIn, objectIn } from '../shared/json-fields.ts'

type TextKind = 'text' | 'reasoning' | 'refusal'

interface OpenText {
  index: number
  pieces: string[]
}

interface State extends OpenCalls {
  readonly assembly: Assembly
  readonly texts: Map<TextKind, OpenText>
  /** The field of the reasoning: the first one with content. */
  reasoningField: string | undefined
  citations: Json[]
  sawDelta: boolean
  finish: string | undefined
  usage: JsonObject | undefined
  usageAfterFinish: boolean
  plainChunks: number
  closedByUsage: boolean
}

export function decoder(origin: Origin, options?: DecoderOptions): Decoder {
  const state: State = {
    ...createDecoding(origin, options),
    opened: new Map(),
    assembly: createAssembly(),
    texts: new Map(),
    reasoningField: undefined,
    citations: [],
    sawDelta: false,
    finish: undefined,
    usage: undefined,
    usageAfterFinish: false,
    plainChunks: 0,
    closedByUsage: false,
  }
  return decoderOf({
    push(chunk) {
      if (isObject(chunk)) read(state, chunk)
      return takeEvents(state)
    },
    end: (cause) => end(state, cause),
    isDone: () => state.failure !== undefined || (state.finish !== undefined && state.usageAfterFinish),
  })
}

function read(state: State, chunk: JsonObject): void {
  learnOrigin(state, chunk)
  startReply(state)
  const failed = chunk.error !== undefined && chunk.error !== null
  if (failed || chunk.object === 'error' || chunk.type === 'error') {
    const { provider } = state.origin
    state.failure ??= readFailure({ body: chunk, ...(provider !== '' && { provider }) })
  }
  for (const choice of listIn(chunk.choices)) {
    if (isObject(choice) && (choice.index ?? 0) === 0) readChoice(state, choice)
  }
  readRest(state, chunk, state.events.length > 0)
}

function learnOrigin(state: State, { id, model }: JsonObject): void {
  const { origin } = state
  if (origin.replyId === undefined && typeof id === 'string' && id !== '') state.origin = { ...origin, replyId: id }
  if (origin.model === '' && typeof model === 'string') state.origin = { ...state.origin, model }
}

function readChoice(state: State, choice: JsonObject): void {
  if (isObject(choice.delta)) {
    state.sawDelta = true
    readDelta(state, choice.delta)
  } else if (isObject(choice.message) && !state.sawDelta) {
    readDelta(state, withPositions(choice.message))
  }
  if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') state.finish = choice.finish_reason
}

/** Usage alone, after chunks without any, comes at the end: some hosts send no finish reason (checked 2026-11). */
function readRest(state: State, chunk: JsonObject, broughtMore: boolean): void {
  const numbers = usageIn(chunk)
  if (numbers) {
    state.usage = numbers
    state.usageAfterFinish ||= state.finish !== undefined
    state.closedByUsage = state.plainChunks > 0 && !broughtMore
  } else {
    state.plainChunks++
    if (broughtMore) state.closedByUsage = false
  }
  const list = chunk.search_results ?? chunk.citations
  if (Array.isArray(list) && list.length > 0) state.citations = list
}

function readDelta(state: State, delta: JsonObject): void {
  state.assembly.add(delta)
  readReasoning(state, delta)
  const { content, audio } = delta
  if (typeof content === 'string') addText(state, 'text', content)
  if (Array.isArray(content)) for (const part of content) readContent(state, part)
  if (typeof delta.refusal === 'string') addText(state, 'refusal', delta.refusal)
  if (isObject(audio) && typeof audio.transcript === 'string') addText(state, 'text', audio.transcript)
  if (Array.isArray(delta.images)) for (const image of delta.images) readImage(state, image)
  if (Array.isArray(delta.tool_calls)) {
    for (const fragment of delta.tool_calls) if (isObject(fragment)) readCall(state, fragment)
  }
  if (isObject(delta.function_call)) {
    readCall(state, { index: -1, type: legacyType, function: delta.function_call })
  }
}

/** Hosts send the same reasoning in two fields at once: the first one with content is read, all are stored. */
function readReasoning(state: State, delta: JsonObject): void {
  for (const field of reasoningFields) {
    const value = delta[field]
    const text = typeof value === 'string' ? value : Array.isArray(value) ? detailsText(value) : ''
    if (text !== '') state.reasoningField ??= field
    if (field === state.reasoningField) addText(state, 'reasoning', text)
    else if (Array.isArray(value) && value.some(isEncrypted)) openText(state, 'reasoning')
  }
}

function readContent(state: State, content: Json): void {
  const part = contentPart(content)
  if (part.type === 'text' || part.type === 'reasoning' || part.type === 'refusal') addText(state, part.type, part.text)
  else addPart(state, part)
}

function readImage(state: State, image: Json): void {
  const url = isObject(image) && isObject(image.image_url) ? image.image_url.url : undefined
  if (typeof url === 'string') addPart(state, { ...mediaFromUrl(url, 'image/png'), from: 0 })
}

function readCall(state: State, fragment: JsonObject): void {
  const { call, text } = state.assembly.calls.push(fragment)
  if (isForeign(call)) return
  const opened = state.opened.get(call)
  if (!opened && call.name !== '') openCall(state, call)
  // The text of a free-form call is shown when the reply is whole.
  else if (opened && text !== '' && call.type !== 'custom') growPart(state, opened.index, text)
}

function addText(state: State, type: TextKind, text: string): void {
  if (text === '') return
  const { index, pieces } = openText(state, type)
  pieces.push(text)
  growPart(state, index, text)
}

function openText(state: State, type: TextKind): OpenText {
  const existing = state.texts.get(type)
  if (existing) return existing
  const part = { index: startPart(state, { type, text: '' }), pieces: [] }
  state.texts.set(type, part)
  return part
}

function end(state: State, cause: EndCause | undefined): ReturnType<Decoder['end']> {
  startReply(state)
  const { failure, finish, closedByUsage, usage } = state
  const complete = failure === undefined && (finish !== undefined || closedByUsage)
  const outcome = complete ? completeOutcome(state) : unfinishedOutcome(state, cause)
  const isComplete = complete && outcome.stop.reason !== 'failed'
  const native = nativeMessage(state, isComplete)
  closeParts(state, isComplete, native.length > 0)
  return endReply(state, { ...outcome, native, usage: usage && readUsage(usage) })
}

function completeOutcome({ assembly, texts, finish, origin }: State): Outcome {
  const has = { calls: assembly.calls.calls().some((call) => !isForeign(call)), refusal: texts.has('refusal') }
  const stop: Stop = { reason: stopReason(finish ?? 'stop', has), ...(finish !== undefined && { raw: finish }) }
  return stop.reason === 'failed' ? { stop, failure: failureOfFinish(finish ?? '', origin.provider) } : { stop }
}

function unfinishedOutcome({ failure, finish }: State, cause: EndCause | undefined): Outcome {
  if (!failure) return stopAfterInterruption(cause)
  return { stop: { reason: 'failed', ...(finish !== undefined && { raw: finish }) }, failure }
}

/** Checked 2026-11: OpenAI's five, `eos` of Together, three of Z.ai, two of DeepSeek and OpenRouter, some of gateways. */
const reasons: Record<string, StopReason> = {
  stop: 'done',
  eos: 'done',
  end_turn: 'done',
  stop_sequence: 'done',
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  model_context_window_exceeded: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  tool_use: 'tool-calls',
  content_filter: 'refusal',
  refusal: 'refusal',
  sensitive: 'refusal',
  error: 'failed',
  network_error: 'failed',
  insufficient_system_resource: 'failed',
}

/** A host may report `stop` with calls, and `tool_calls` without any: the content decides. */
function stopReason(finish: string, has: { calls: boolean; refusal: boolean }): StopReason {
  const reason = Object.hasOwn(reasons, finish) ? (reasons[finish] ?? 'done') : 'done'
  if (reason !== 'done' && reason !== 'tool-calls') return reason
  if (has.calls) return 'tool-calls'
  return has.refusal ? 'refusal' : 'done'
}

function failureOfFinish(finish: string, provider: string): Failure {
  const message = `The reply ended with the finish reason "${finish}".`
  return readFailure({ body: { error: { code: finish, message } }, ...(provider !== '' && { provider }) })
}

/** An interrupted reply keeps its text and the calls with complete arguments. */
function nativeMessage(state: State, isMessageWhole: boolean): JsonObject[] {
  const { assembly, texts } = state
  const message = assembly.message(
    nativeCalls(state).filter((call) => isMessageWhole || (!isForeign(call) && isWhole(call))),
  )
  if (isMessageWhole) return [message]
  const hasContent = texts.size > 0 || assembly.list('images').length > 0
  const hasCalls = Array.isArray(message.tool_calls) && message.tool_calls.length > 0
  return hasContent || hasCalls || isObject(message.function_call) ? [message] : []
}

/** Calls that are not functions have no parts, and keep their positions. */
function nativeCalls(state: State): GatheredCall[] {
  const { calls } = state.assembly
  const ours = callsInOrder(state, calls)
    .filter((call) => !isForeign(call))
    .values()
  return calls.calls().map((call) => (isForeign(call) ? call : (ours.next().value ?? call)))
}

function closeParts(state: State, isComplete: boolean, hasNative: boolean): void {
  const { assembly, texts } = state
  const place = hasNative && { from: 0 }
  for (const [type, { index, pieces }] of texts) {
    const text = pieces.join('')
    const citations = type === 'text' ? citationsOf(state) : []
    endPart(state, index, {
      type,
      text,
      ...(citations.length > 0 && { citations }),
      ...(type === 'reasoning' && text === '' && { hidden: true }),
      ...place,
    })
  }
  const late: Part[] = []
  for (const call of assembly.calls.calls()) {
    if (!isForeign(call)) closeCall(state, call, isComplete)
    else
      late.push({ type: 'opaque', kind: foreignCallKind(call), data: wireCall(call), ...(isComplete && { from: 0 }) })
  }
  const audio = audioPart(assembly.field('audio'))
  if (audio) late.push({ ...audio, ...place })
  for (const entry of assembly.list('executed_tools')) late.push({ ...executedTool(entry), ...place })
  for (const entry of assembly.list('reasoning_details')) {
    const part = serverCall(entry)
    if (part) late.push({ ...part, ...place })
  }
  for (const part of late) addPart(state, part)
}

function closeCall(state: State, call: GatheredCall, isReplyWhole: boolean): void {
  const { index, callId } = state.opened.get(call) ?? openCall(state, call)
  const text = call.pieces.join('')
  const complete = isReplyWhole || isWhole(call)
  const input = complete || text !== '' ? inputOf(call, text, complete) : { input: {}, malformed: '' }
  endPart(state, index, { ...callHead(state, call, callId), ...input, ...(complete && { from: 0 }) })
}

function inputOf({ type }: GatheredCall, text: string, isComplete: boolean): ReturnType<typeof readArguments> {
  if (type !== 'custom') return readArguments(text)
  return isComplete ? { input: { input: text } } : { input: {}, malformed: text }
}

function citationsOf({ assembly, citations }: State): Json[] {
  const annotations = assembly.list('annotations')
  return annotations.length > 0 ? [...annotations] : citations
}

/** Calls of a complete message need no index; with one, two of the same id stay two. */
function withPositions(message: JsonObject): JsonObject {
  if (!Array.isArray(message.tool_calls)) return message
  return {
    ...message,
    tool_calls: message.tool_calls.map((call, index) => (isObject(call) ? { ...call, index } : call)),
  }
}

function isEncrypted(entry: Json): boolean {
  return isObject(entry) && entry.type === 'reasoning.encrypted'
}

/** A part of a JSON object never parses as one, so what parses is complete. Free text shows no end. */
function isWhole(call: GatheredCall): boolean {
  if (call.type === 'custom') return false
  const text = call.pieces.join('')
  return text.trim() !== '' && readArguments(text).malformed === undefined
}

/**
 * Tokens of a chat completion. Three hosts count differently: xAI leaves reasoning out of the completion (the total
 * shows it), Grok on Azure leaves cached tokens out of the prompt, and Gemini through a gateway does the first with a
 * total that hides it. Checked on recorded replies, 2026-11.
 */
function readUsage(raw: JsonObject): Usage {
  const prompt = objectIn(raw.prompt_tokens_details)
  const completion = objectIn(raw.completion_tokens_details)
  const promptTokens = countIn(raw.prompt_tokens)
  const completionTokens = countIn(raw.completion_tokens)

  const cacheRead = countIn(prompt.cached_tokens ?? raw.prompt_cache_hit_tokens ?? raw.cached_tokens)
  const cacheWrite = countIn(prompt.cache_write_tokens ?? raw.cache_creation_input_tokens)
  const reasoning = countIn(completion.reasoning_tokens ?? raw.reasoning_tokens)

  const apart =
    reasoning > completionTokens || countIn(raw.total_tokens) === promptTokens + completionTokens + reasoning
  return {
    input: cacheRead > promptTokens ? promptTokens + cacheRead : promptTokens,
    output: apart ? completionTokens + reasoning : completionTokens,
    cacheRead,
    cacheWrite,
    reasoning,
    raw,
  }
}

/** Where the numbers of a chunk are: Groq also has them in `x_groq`, Moonshot in the choice. */
function usageIn(chunk: JsonObject): JsonObject | undefined {
  if (isObject(chunk.usage)) return chunk.usage
  if (isObject(chunk.x_groq) && isObject(chunk.x_groq.usage)) return chunk.x_groq.usage
  const choice = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined
  return isObject(choice) && isObject(choice.usage) ? choice.usage : undefined
}
