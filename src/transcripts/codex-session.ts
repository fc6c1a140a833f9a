// Codex session files for `carry`. Confirmed with version 0.169.0: `response_item` lines go to the model, `event_msg`
// lines are shown in lists and on the screen, and a message needs its type and a list of contents.

import type { Note } from '../core/context.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Message, Origin } from '../core/message.ts'
import {
  inputItemTypes,
  objectField,
  objectFields,
  protocolId,
  stringField,
  typeOf,
  type Item,
} from '../wires/openai-responses/types.ts'
import { readGroups } from '../wires/openai-responses/transcript.ts'
import {
  headOf,
  type NewSession,
  type ReplyStep,
  type SessionFormat,
  type SessionScan,
  type Step,
  type StepResult,
  stringAt,
  timeAt,
  type UserStep,
} from './session.ts'

const version = '0.169.0'

export const codexSession: SessionFormat = {
  id: 'codex',
  scan,
  reader,
  writer,
  withHead(lines, session) {
    const hasHead = lines.some(({ type }) => type === 'session_meta') || isOldHead(lines[0])
    return hasHead || lines.length === 0 ? lines : [...writer(session).open(), ...lines]
  },
  rehome(line, from, to) {
    if (!isObject(line.payload) || (line.type !== 'session_meta' && line.type !== 'turn_context')) return line
    const id = line.payload.id === from.id && line.payload.id !== undefined && { id: to.id }
    // Codex resumes only sessions of the provider in its configuration, or of none.
    const { model_provider: _, ...payload } = line.payload
    return { ...line, payload: { ...payload, ...id, cwd: to.cwd } }
  },
}

/** Before lines had payloads, the first one was the session and the others bare items. */
export function isOldHead(line: Json | undefined): boolean {
  return isObject(line) && line.type === undefined && typeof line.timestamp === 'string' && 'instructions' in line
}

export function itemOf(line: JsonObject): Item | undefined {
  const payload = objectField(line, 'payload')
  if (line.type === 'response_item') return payload && inputItemTypes.includes(typeOf(payload)) ? payload : undefined
  if (payload || line.type === undefined) return undefined
  return inputItemTypes.includes(typeOf(line)) ? line : undefined
}

function isUserItem(item: Item | undefined): boolean {
  return item !== undefined && typeOf(item) === 'message' && item.role === 'user'
}

/** What Codex itself writes as the user; it does not begin a turn. */
const wrapped =
  /^\s*<(environment_context|user_instructions|turn_aborted|INSTRUCTIONS|skill|user_shell_command)\b|^# AGENTS\.md/i

function beginsTurn(item: Item | undefined): boolean {
  if (!item || !isUserItem(item)) return false
  const text =
    typeof item.content === 'string' ? item.content : (stringAt(objectFields(item, 'content')[0], 'text') ?? '')
  return !wrapped.test(text)
}

function scan(): SessionScan {
  const { head, time, set } = headOf()
  let lines: { index: number; isUser: boolean; begins: boolean }[] = []
  const all: number[] = []
  let compactions = 0
  let rolledBack = 0
  return {
    see(line, index) {
      const payload = objectField(line, 'payload') ?? {}
      time(timeAt(line.timestamp))
      if (line.type === 'session_meta' || (index === 0 && line.type === undefined)) {
        const meta = line.type === undefined ? line : payload
        head.id ??= stringField(meta, 'id')
        head.cwd ??= stringField(meta, 'cwd')
        time(timeAt(meta.timestamp))
        set({ provider: stringField(meta, 'model_provider'), gitBranch: stringAt(meta, 'git', 'branch') })
      }
      if (line.type === 'turn_context') set({ model: stringField(payload, 'model') })
      if (payload.type === 'thread_name_updated') set({ title: stringField(payload, 'thread_name') })
      if (payload.type === 'thread_rolled_back' && typeof payload.num_turns === 'number') {
        const count = lines.length
        lines = withoutTurns(lines, payload.num_turns)
        rolledBack += count - lines.length
      }
      const item = itemOf(line)
      // Lines about the session and its turns name the model.
      const isAbout = line.type === 'session_meta' || line.type === 'turn_context'
      if (item || isAbout) lines.push({ index, isUser: isUserItem(item), begins: beginsTurn(item) })
      if (item || isAbout || line.type === 'compacted') all.push(index)
      if (line.type !== 'compacted') return
      compactions++
      const userLines = Array.isArray(payload.replacement_history) ? [] : lines.filter(({ isUser }) => isUser)
      lines = [...userLines, { index, isUser: false, begins: false }]
    },
    end(isWhole) {
      const notes: Note[] = []
      const why = 'the session was rolled back to before them'
      if (rolledBack > 0 && !isWhole) notes.push({ kind: 'dropped', what: `${rolledBack} items`, why })
      if (compactions > 0 && !isWhole) {
        notes.push({
          kind: 'dropped',
          what: 'what comes before the last compaction',
          why: 'its summary represents it',
        })
      }
      return { head, lines: isWhole ? all : lines.map(({ index }) => index), notes }
    },
  }
}

function withoutTurns<L extends { begins: boolean }>(lines: L[], turns: number): L[] {
  let end = lines.length
  for (let left = turns; left > 0 && end > 0; left--) end = lines.findLastIndex((line, i) => i < end && line.begins)
  return lines.slice(0, Math.max(0, end))
}

function reader(isWhole: boolean): ReturnType<SessionFormat['reader']> {
  let provider = 'openai'
  let model = ''
  return (line) => {
    const payload = objectField(line, 'payload') ?? {}
    if (line.type === 'session_meta') provider = stringField(payload, 'model_provider') ?? provider
    if (line.type === 'turn_context') model = stringField(payload, 'model') ?? model
    const at = timeAt(line.timestamp)
    const origin: Origin = { protocol: protocolId, provider, model }
    return messagesOf(line, payload, origin, isWhole).map((message) => ({ message, ...(at !== undefined && { at }) }))
  }
}

function messagesOf(line: JsonObject, payload: JsonObject, origin: Origin, isWhole: boolean): Message[] {
  const read = (items: Item[]): Message[] =>
    readGroups(items.map((item) => ({ item, origin }))).map(({ message }) => message)
  if (line.type === 'compacted') {
    if (!isWhole && Array.isArray(payload.replacement_history)) {
      return read(payload.replacement_history.filter((item): item is Item => isObject(item)))
    }
    return [{ role: 'user', parts: [{ type: 'compaction', text: stringField(payload, 'message') ?? '' }] }]
  }
  const item = itemOf(line)
  return item ? read([item]) : []
}

function writer(session: NewSession, after?: JsonObject) {
  const line = (at: string, type: string, payload: JsonObject): JsonObject => ({ timestamp: at, type, payload })
  const item = (at: string, payload: JsonObject): JsonObject => line(at, 'response_item', payload)
  return {
    open(): JsonObject[] {
      if (after) return []
      const { id, cwd, startedAt, title } = session
      const meta = { id, timestamp: startedAt, cwd, originator: 'synapse', cli_version: version, source: 'cli' }
      const named = { type: 'thread_name_updated', thread_id: id, thread_name: title }
      return [
        line(startedAt, 'session_meta', meta),
        ...(title === undefined ? [] : [line(startedAt, 'event_msg', named)]),
      ]
    },
    add(step: Step): JsonObject[] {
      if (step.kind === 'user') {
        const text = step.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
        return [
          line(step.at, 'event_msg', { type: 'user_message', message: text }),
          item(step.at, { type: 'message', role: 'user', content: step.parts.map(content) }),
        ]
      }
      return [
        ...step.parts.flatMap((part) => replyLines(part).map(([type, payload]) => line(step.at, type, payload))),
        ...step.results.map((result) => item(result.at, outputItem(result))),
      ]
    },
    close: () => [],
  }
}

function replyLines(part: ReplyStep['parts'][number]): [type: string, payload: JsonObject][] {
  if (part.type === 'call') {
    const { id, name, input } = part
    return [['response_item', { type: 'function_call', name, arguments: JSON.stringify(input), call_id: id }]]
  }
  const output = { type: 'output_text', text: part.text }
  return [
    ['event_msg', { type: 'agent_message', message: part.text }],
    ['response_item', { type: 'message', role: 'assistant', content: [output] }],
  ]
}

function outputItem({ id, output }: StepResult): JsonObject {
  const [only] = output
  const plain = only === undefined ? '' : output.length === 1 && only.type === 'text' ? only.text : undefined
  return { type: 'function_call_output', call_id: id, output: plain ?? output.map(content) }
}

function content(part: UserStep['parts'][number]): JsonObject {
  if (part.type === 'text') return { type: 'input_text', text: part.text }
  const data = part.data.kind === 'base64' ? part.data.base64 : ''
  return { type: 'input_image', image_url: `data:${part.mediaType};base64,${data}` }
}
