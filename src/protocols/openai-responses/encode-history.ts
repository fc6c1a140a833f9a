// The messages of a context as input items, with every output right behind the items of its reply.

import { placeOf, type Context, type Note } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Message, Reply, SystemMessage, ToolResultPart, UserMessage } from '../../core/message.ts'
import { wireIds, type IdGrammar } from '../ids.ts'
import type { NameMap } from '../names.ts'
import type { Target } from '../protocol.ts'
import { cleanText } from '../text.ts'
import { flatResult, flatResultLabel, mediaStandIn, summaryLabel, systemLabel, unansweredText } from '../words.ts'
import { writeMedia } from './encode-media.ts'
import { writeReply } from './encode-reply.ts'
import { writeOutput } from './encode-result.ts'
import { wrappedOutput } from './parallel.ts'
import { canReplay, chainedCalls, type ReplyScope, type WrittenCall } from './reply-scope.ts'
import { answeredKey, isOpenAI, maxIdLength, protocolId, typeOf, type Item } from './wire.ts'

const grammar: IdGrammar = { prefix: 'call_', length: 24, fits: new RegExp(`^\\S{1,${maxIdLength}}$`) }

/** Items for the messages from `covers` on; the provider has those before. */
export function writeHistory(context: Context, target: Target, names: NameMap, covers: number, notes: Note[]): Item[] {
  const flat = target.quirks.flattenToolHistory === true || !target.capabilities.tools
  const replayed = (reply: Reply) => canReplay(reply, target, flat)
  const id = wireIds(context.messages, grammar, replayed)
  const scope: ReplyScope = {
    target,
    notes,
    toWire: names.toWire,
    id,
    flat,
    usedIds: new Set(),
    answered: new Set(context.messages.flatMap(clientAnswers)),
    asked: new Set(),
  }
  const calls = new Map<string, WrittenCall>()
  const spans: Item[][] = []
  const turn = toolTurn(scope, calls)

  for (const [index, message] of context.messages.entries()) {
    const at = placeOf(context, index)
    if (index < covers) {
      if (message.role === 'assistant') remember(chainedCalls(message), calls)
      spans.push([])
      continue
    }
    if (message.role === 'tool') {
      spans.push(message.parts.flatMap((result) => turn.answer(result, at)))
      continue
    }
    const late = turn.end()
    let items: Item[]
    switch (message.role) {
      case 'system':
        items = writeSystem(message, at, target, notes)
        break
      case 'user':
        items = writeUser(message, at, scope, covers > 0)
        break
      case 'assistant': {
        const written = writeReply(message, at, scope)
        remember(written.calls, calls)
        items = written.items
      }
    }
    if (items.length === 0 && message.parts.length > 0) {
      notes.push({ kind: 'dropped', what: `${message.role} message`, why: 'nothing in it can be sent', at })
    }
    spans.push([...late, ...items])
  }
  spans.push(turn.end())

  if (target.capabilities.cacheMarks) for (const index of context.cacheAfter) mark(spans[index] ?? [])
  const items = spans.flat()
  return target.quirks.alternate ? joined(items) : items
}

function remember(written: readonly WrittenCall[], calls: Map<string, WrittenCall>): void {
  for (const call of written) for (const callId of call.callIds) calls.set(callId, call)
}

/** The outputs of one tool turn. What a result cannot hold itself comes behind the whole turn, as a user message. */
function toolTurn(
  { target, notes, id, flat }: ReplyScope,
  calls: ReadonlyMap<string, WrittenCall>,
): { answer(result: ToolResultPart, at: string): Item[]; end(): Item[] } {
  let late: JsonObject[] = []
  const waiting = new Map<WrittenCall, Map<string, string>>()

  return {
    answer(result, at) {
      const call = calls.get(result.callId) ?? { callIds: [result.callId], names: [result.name], id: id(result.callId) }
      const isWrapper = call.callIds.length > 1
      const output = writeOutput(result, at, target, isWrapper || flat, notes)
      late.push(...output.late)
      if (flat) {
        notes.push({
          kind: 'changed',
          what: `result of ${result.name} to text`,
          why: 'the target takes no results',
          at,
        })
        const text = flatResult(flatResultLabel, result.name, output.text, result.failed === true)
        return [{ role: 'user', content: text }]
      }
      if (!isWrapper) return [outputItem(call, output.content)]
      const texts = waiting.get(call) ?? new Map<string, string>()
      waiting.set(call, texts.set(result.callId, output.text))
      return texts.size < call.callIds.length ? [] : [wrapped(call)]
    },
    end() {
      const items = [...waiting.keys()].map(wrapped)
      if (late.length > 0) items.push({ role: 'user', content: late })
      late = []
      return items
    },
  }

  function wrapped(call: WrittenCall): Item {
    const texts = waiting.get(call)
    waiting.delete(call)
    const results = call.callIds.map((callId, i) => {
      const name = call.names[i] ?? ''
      return { name, text: texts?.get(callId) ?? unansweredText(name) }
    })
    return outputItem(call, wrappedOutput(results))
  }
}

function outputItem(call: WrittenCall, output: string | JsonObject[]): Item {
  return {
    type: call.custom ? 'custom_tool_call_output' : 'function_call_output',
    call_id: call.id,
    output,
    ...(call.caller !== undefined && { caller: call.caller }),
  }
}

function writeSystem(message: SystemMessage, at: string, target: Target, notes: Note[]): Item[] {
  const text = message.parts
    .map((part) => cleanText(part.text, at, notes))
    .filter((words) => words !== '')
    .join('\n\n')
  if (text === '') return []
  if (target.capabilities.midSystem && !target.quirks.alternate)
    return [{ role: target.capabilities.systemRole ?? 'system', content: text }]
  notes.push({ kind: 'changed', what: 'system message to user message', why: 'the model takes none in the middle', at })
  return [{ role: 'user', content: `${systemLabel}\n${text}` }]
}

function writeUser(message: UserMessage, at: string, scope: ReplyScope, chained: boolean): Item[] {
  const { target, notes } = scope
  const items: Item[] = []
  let content: JsonObject[] = []
  const say = (text: string) => {
    if (text !== '') content.push({ type: 'input_text', text: cleanText(text, at, notes) })
  }
  const drop = (what: string, why: string) => notes.push({ kind: 'dropped', what, why, at })
  const flush = () => {
    if (content.length > 0) items.push({ role: 'user', content: simplest(content, target) })
    content = []
  }

  for (const part of message.parts) {
    switch (part.type) {
      case 'text':
        say(part.text)
        break
      case 'media': {
        const media = writeMedia(part, target.capabilities.media, target)
        if (media) content.push(media)
        else {
          say(mediaStandIn(part.mediaType, part.name))
          notes.push({ kind: 'changed', what: `${part.mediaType} to text`, why: 'the target cannot take it', at })
        }
        break
      }
      case 'compaction':
        if (part.text) say(`${summaryLabel}\n${part.text}`)
        else drop('compaction', 'it has no words that can be sent')
        break
      case 'opaque': {
        const { data } = part
        if (!part.kind.startsWith(`${protocolId}/`) || !isObject(data) || !isOpenAI(target.provider)) {
          drop(part.kind, 'another wire has no word for it')
        } else if (typeOf(data).startsWith('input_')) content.push(data)
        else if (typeOf(data) === 'item_reference') drop(part.kind, 'it stands for an item that only the provider has')
        else if (!chained && answeredKey(data) !== undefined && !scope.asked.has(answeredKey(data) ?? '')) {
          drop(part.kind, 'the call that it answers is not sent')
        } else {
          flush()
          items.push(data)
        }
      }
    }
  }
  flush()
  return items
}

/** A plain string where that says it all; with cache marks the long form always, so that a moving mark moves nothing else. */
function simplest(content: JsonObject[], target: Target): string | JsonObject[] {
  const text = content.length === 1 ? content[0]?.text : undefined
  return typeof text === 'string' && !target.capabilities.cacheMarks ? text : content
}

/** What items of the history answer: calls of tools that have no form of their own here. */
function clientAnswers(message: Message): string[] {
  const items: (Json | undefined)[] =
    message.role === 'assistant'
      ? message.native
      : message.parts.map((part) => (part.type === 'opaque' ? part.data : undefined))
  return items.flatMap((item) => (isObject(item) ? (answeredKey(item) ?? []) : []))
}

/** Marks the last content of a message that can carry a mark; contents of replies cannot (checked 2026-11). */
function mark(items: Item[]): void {
  for (const item of items.toReversed()) {
    const content = item.role === 'user' || item.role === 'system' ? item.content : item.output
    const last = Array.isArray(content) ? content.at(-1) : undefined
    if (!isObject(last)) continue
    last.prompt_cache_breakpoint = { mode: 'explicit' }
    return
  }
}

/** Neighbouring messages of one role as one, for servers whose chat template insists on turns. */
function joined(items: readonly Item[]): Item[] {
  const out: Item[] = []
  for (const item of items) {
    const last = out.at(-1)
    const role = item.role
    const isPlain = (role === 'user' || role === 'assistant') && item.id === undefined
    if (last && isPlain && last.role === role && last.id === undefined) {
      out[out.length - 1] = { ...last, content: [...contents(last), ...contents(item)] }
    } else out.push(item)
  }
  return out
}

function contents(item: Item): JsonObject[] {
  const { role, content } = item
  if (Array.isArray(content)) return content.filter((part) => isObject(part))
  return [{ type: role === 'assistant' ? 'output_text' : 'input_text', text: String(content ?? '') }]
}
