// The messages of a context as input items, with every output right after the items of its reply.

import type { Context, Note } from '../../core/context.ts'
import { isObject, parseJson, type Json, type JsonObject } from '../../core/json.ts'
import { textOf, type Message, type Reply, type ToolMessage, type ToolResultPart } from '../../core/message.ts'
import { requestIds, type IdGrammar } from '../shared/ids.ts'
import { encodeCache } from '../shared/encode-cache.ts'
import type { NameMap } from '../shared/names.ts'
import { cachedElement, fromPlace, type CachedElement } from '../shared/body-bytes.ts'
import type { Target } from '../wire.ts'
import { flatResult, flatResultLabel, unansweredText } from '../shared/injected-text.ts'
import { answeredClientTool, clientAnswer, isClientTool } from './client-tools.ts'
import { writeReply } from './encode-reply.ts'
import { type Output, writeOutput, writeSystem, writeUser } from './encode-user.ts'
import { wrappedOutput } from './read-reply.ts'
import { isReplayed, chainedCalls, type ReplyScope, type WrittenCall } from './reply-scope.ts'
import { answeredKey, assistantItem, maxIdLength, messageItem, protocolId, type Item } from './types.ts'

const grammar: IdGrammar = { prefix: 'call_', length: 24, fits: new RegExp(`^\\S{1,${maxIdLength}}$`) }

/** Items for the messages from `covers` on; the provider has the earlier ones. */
export function writeHistory(
  context: Context,
  target: Target,
  names: NameMap,
  covers: number,
  notes: Note[],
): CachedElement[] {
  const flat = target.quirks.toolMessages === 'text' || !target.capabilities.tools
  const usedIds = new Set<string>()
  const asked = new Set<string>()
  const answered = answersIn(context.messages)
  const calls = new Map<string, WrittenCall>()
  const declared = new Map(context.tools.map((tool) => [tool.name, tool]))
  const asks = {
    toolKind(name: string) {
      const tool = declared.get(name)
      return tool && (tool.kind ?? 'function')
    },
    namespaceOf: (name: string) => declared.get(name)?.namespace?.name,
    toWire: names.toWire,
    id: requestIds(context, target, protocolId, grammar, (reply: Reply) => isReplayed(reply, target, flat)),
    isUsed: (id: string) => usedIds.has(id),
    isAnswered: (key: string) => answered.has(key),
    isAsked: (key: string) => asked.has(key),
    callOf: (callId: string) => calls.get(callId),
  }
  const chained = covers > 0
  const { lookups, cached } = encodeCache(context, target, `${protocolId} ${chained}`, asks, notes)
  const scope: ReplyScope = { target, notes, flat, ...lookups }
  const write = (message: Exclude<Message, ToolMessage>, at: string) => writeMessage(message, at, scope, chained)
  const answer = (message: ToolMessage, at: string) => writeResults(message, at, scope)
  const spans: (readonly CachedElement[])[] = []
  const turn = toolTurn()

  for (let index = 0; index < context.messages.length; index++) {
    const message = context.messages[index] as Message
    if (index < covers) {
      if (message.role === 'assistant') remember(chainedCalls(message), calls)
      spans.push(none)
    } else if (message.role === 'tool') {
      const results = cached(message, index, answer)
      const span: CachedElement[] = []
      for (const result of results) turn.answer(result, span)
      spans.push(span)
    } else {
      const written = cached(message, index, write)
      remember(written.calls, calls)
      for (const id of written.usedIds) usedIds.add(id)
      for (const key of written.asked) asked.add(key)
      const late = turn.end()
      spans.push(late.length > 0 ? [...late, ...written.pieces] : written.pieces)
    }
  }
  spans.push(turn.end())

  if (target.capabilities.cacheMarks) for (const index of context.cacheAfter) mark(spans, index)
  const pieces: CachedElement[] = []
  for (const span of spans) for (const piece of span) pieces.push(piece)
  return target.quirks.alternate ? joinMessages(pieces) : pieces
}

function remember(newCalls: readonly WrittenCall[], calls: Map<string, WrittenCall>): void {
  for (const call of newCalls) for (const callId of call.callIds) calls.set(callId, call)
}

const none: readonly CachedElement[] = []

interface Written {
  pieces: CachedElement[]
  calls: readonly WrittenCall[]
  /** What it adds for later messages to look up. */
  usedIds: readonly string[]
  asked: readonly string[]
}

function writeMessage(
  message: Exclude<Message, ToolMessage>,
  at: string,
  scope: ReplyScope,
  chained: boolean,
): Written {
  const written = message.role === 'assistant' ? writeReply(message, at, scope) : undefined
  const items =
    message.role === 'assistant'
      ? (written?.items ?? [])
      : message.role === 'user'
        ? writeUser(message, at, scope, chained)
        : writeSystem(message, at, scope.target, scope.notes)
  if (items.length === 0 && message.parts.length > 0) {
    scope.notes.push({ kind: 'dropped', what: `${message.role} message`, why: 'nothing in it can be sent', at })
  }
  return {
    pieces: items.map((item) => cachedElement(item, fromPlace(at))),
    calls: written?.calls ?? [],
    usedIds: written?.usedIds ?? [],
    asked: written?.asked ?? [],
  }
}

interface WrittenResult {
  callId: string
  call: WrittenCall
  output: Output
  from: readonly string[]
  /** Absent if the call wraps several, and is answered when all results are there. */
  piece?: CachedElement
}

function writeResults(message: ToolMessage, at: string, scope: ReplyScope): WrittenResult[] {
  const { target, notes, flat } = scope
  const from = fromPlace(at)
  return message.parts.map((result) => {
    const { callId, name } = result
    const call = scope.callOf(callId) ?? { callIds: [callId], names: [name], id: scope.id(callId) }
    const isWrapper = call.callIds.length > 1
    const written = writeOutput(result, at, target, isWrapper || flat, notes)
    const output = isComputer(call) && !flat ? withScreenshot(written) : written
    if (flat) {
      notes.push({ kind: 'changed', what: `result of ${name} to text`, why: 'the target supports no results', at })
      const text = flatResult(flatResultLabel, name, output.text, result.failed === true)
      return { callId, call, output, from, piece: cachedElement(messageItem('user', text), from) }
    }
    const element = isWrapper ? {} : { piece: cachedElement(answerItem(call, output, result), from) }
    return { callId, call, output, from, ...element }
  })
}

/** The outputs of one tool turn. What a result cannot contain comes after the whole turn, as a user message. */
function toolTurn(): { answer(result: WrittenResult, span: CachedElement[]): void; end(): readonly CachedElement[] } {
  let late: JsonObject[] = []
  let lateFrom: string[] = []
  const waiting = new Map<WrittenCall, { texts: Map<string, string>; from: string[] }>()

  return {
    answer({ callId, call, output, from, piece }, span) {
      if (output.late.length > 0) {
        late.push(...output.late)
        lateFrom.push(...from)
      }
      if (piece) return void span.push(piece)
      const group = waiting.get(call) ?? { texts: new Map<string, string>(), from: [] }
      waiting.set(call, group)
      group.texts.set(callId, output.text)
      group.from.push(...from)
      if (group.texts.size === call.callIds.length) span.push(wrapResult(call))
    },
    end() {
      if (waiting.size === 0 && late.length === 0) return none
      const pieces = [...waiting.keys()].map(wrapResult)
      if (late.length > 0) pieces.push(cachedElement(messageItem('user', late), lateFrom))
      late = []
      lateFrom = []
      return pieces
    },
  }

  function wrapResult(call: WrittenCall): CachedElement {
    const { texts, from = [] } = waiting.get(call) ?? {}
    waiting.delete(call)
    const results = call.callIds.map((callId, i) => {
      const name = call.names[i] ?? ''
      return { name, text: texts?.get(callId) ?? unansweredText(name) }
    })
    return cachedElement(outputItem(call, wrappedOutput(results)), [...new Set(from)])
  }
}

function answerItem(call: WrittenCall, output: Output, result: ToolResultPart): Item {
  if (call.kind === 'search') return foundTools(call, result)
  if (!isClientTool(call.kind)) return outputItem(call, output.content)
  const answer = clientAnswer(call.kind, result, output.text, screenshotIn(output) ?? blankScreen)
  // The official type has the id of the call in `id`, the server in `call_id` (checked 2026-11).
  const id = call.kind === 'local-shell' && { id: call.id }
  return { ...answer, ...id, call_id: call.id, ...(call.caller !== undefined && { caller: call.caller }) }
}

function isComputer({ kind }: WrittenCall): boolean {
  return kind === 'computer' || kind === 'computer-preview'
}

/** The answer to a call of `computer` is a screenshot and nothing else: text follows as a user message. */
function withScreenshot(output: Output): Output {
  if (screenshotIn(output)) return output
  return { ...output, late: [{ type: 'input_text', text: output.text }, ...output.late] }
}

function screenshotIn({ content }: Output): JsonObject | undefined {
  const image = typeof content === 'string' ? undefined : content.find(({ type }) => type === 'input_image')
  if (!image) return undefined
  const { image_url, file_id } = image
  return { type: 'computer_screenshot', ...(file_id === undefined ? { image_url } : { file_id }) }
}

/** One pixel. */
const blankScreen: JsonObject = {
  type: 'computer_screenshot',
  image_url:
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
}

/** The result of a search is a list of tools: the result itself, or the JSON in its text. */
function foundTools(call: WrittenCall, { value, output }: ToolResultPart): Item {
  const parsed = value ?? parseJson(textOf(output))
  const tools = Array.isArray(parsed) ? parsed.filter(isObject) : []
  return { type: 'tool_search_output', call_id: call.id, execution: 'client', status: 'completed', tools }
}

function outputItem(call: WrittenCall, output: string | JsonObject[]): Item {
  return {
    type: call.kind === 'free-form' ? 'custom_tool_call_output' : 'function_call_output',
    call_id: call.id,
    output,
    ...(call.caller !== undefined && { caller: call.caller }),
  }
}

/** The calls that items of the history answer: those of tools without a form here. */
function answersIn(messages: readonly Message[]): Set<string> {
  const answered = new Set<string>()
  for (const message of messages) {
    if (message.role === 'assistant') for (const item of message.native) add(item)
    else for (const part of message.parts) if (part.type === 'opaque') add(part.data)
  }
  return answered

  function add(item: Json | undefined): void {
    const key = isObject(item) ? answeredKey(item) : undefined
    if (key !== undefined) answered.add(key)
  }
}

/** Marks the last content of a message that can have a mark; contents of replies cannot (checked 2026-11). */
function mark(spans: (readonly CachedElement[])[], index: number): void {
  const span = spans[index] ?? none
  for (let i = span.length - 1; i >= 0; i--) {
    const { value, from } = span[i] as CachedElement
    if (answeredClientTool(value)) continue
    const field = value.role === 'user' || value.role === 'system' ? 'content' : 'output'
    const content = value[field]
    const last = Array.isArray(content) ? content.at(-1) : undefined
    if (!Array.isArray(content) || !isObject(last)) continue
    const marked = { ...last, prompt_cache_breakpoint: { mode: 'explicit' } }
    spans[index] = span.with(i, cachedElement({ ...value, [field]: [...content.slice(0, -1), marked] }, from))
    return
  }
}

/** Merges adjacent messages of one role, for servers whose chat template requires alternating turns. */
function joinMessages(pieces: readonly CachedElement[]): CachedElement[] {
  const joined: CachedElement[] = []
  for (const piece of pieces) {
    const previous = joined.at(-1)
    const last = previous?.value
    const { role } = piece.value
    if (last && (role === 'user' || role === 'assistant') && last.role === role) {
      const both = { ...last, content: [...contents(last), ...contents(piece.value)] }
      const item = role === 'assistant' ? assistantItem(both, `joined ${joined.length}`) : both
      joined[joined.length - 1] = cachedElement(item, [...new Set([...previous.from, ...piece.from])])
    } else joined.push(piece)
  }
  return joined
}

function contents(item: Item): JsonObject[] {
  const { role, content } = item
  if (Array.isArray(content)) return content.filter((part) => isObject(part))
  const text = String(content ?? '')
  return [role === 'assistant' ? { type: 'output_text', text, annotations: [] } : { type: 'input_text', text }]
}
