// From messages to steps that any coding agent can resume. Calls get exactly one result, after their reply; ids and
// names fit every wire; thinking, system prompts and what only one provider understands are left out, and counted.

import { createHash } from 'node:crypto'
import type { Note } from '../core/context.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { MediaPart, Message, Part, Reply, TextPart, ToolCallPart, ToolResultPart } from '../core/message.ts'
import { cleanJson } from '../wires/shared/clean-json.ts'
import { cleanText, isBlank } from '../wires/shared/text.ts'
import {
  flatCall,
  flatResult,
  flatResultLabel,
  malformedInput,
  mediaStandIn,
  summaryLabel,
} from '../wires/shared/injected-text.ts'
import type { ReplyStep, SessionFormat, Step, StepCall, StepResult, UserStep } from './session.ts'

const noResultText = '[no result was recorded]'

export interface Stepper {
  push(message: Message, at: string): Step[]
  /** A message that is already written: results of its calls may follow. */
  seen(message: Message, at: string): Step[]
  end(): Step[]
  notes(): Note[]
}

export function stepper(adapt: SessionFormat['adaptUser'] = (parts) => parts): Stepper {
  const omitted = tally()
  const name = callNames()
  let open: OpenReply | undefined
  /** User messages that came before all results. */
  let waiting: UserStep[] = []

  const flush = (): Step[] => {
    const steps: Step[] = open ? closeReply(open, omitted) : []
    steps.push(...waiting)
    open = undefined
    waiting = []
    return steps
  }
  return {
    push(message, at) {
      switch (message.role) {
        case 'system':
          omitted.add('system', 1)
          return []
        case 'user': {
          const content = message.parts.flatMap((part) => userParts(part, omitted))
          if (content.length === 0) return []
          const parts = adapt(content)
          if (parts !== content) omitted.add('commands', 1)
          const step: UserStep = { kind: 'user', at, parts }
          if (open && hasOpenCall(open)) {
            waiting.push(step)
            return []
          }
          return [...flush(), step]
        }
        case 'assistant': {
          const steps = open && continues(open, message) ? [] : flush()
          open ??= newReply(message, at)
          addReply(open, message, name, omitted)
          return steps
        }
        case 'tool':
          for (const part of message.parts) addResult(open, part, at, omitted)
          return []
      }
    },
    seen(message, at) {
      if (message.role === 'tool') {
        for (const { callId } of message.parts) if (open) open.calls = open.calls.filter(({ from }) => from !== callId)
        return []
      }
      const steps = flush()
      if (message.role === 'assistant') open = seenReply(message, at)
      return steps
    },
    end: flush,
    notes: () => omitted.notes(),
  }
}

interface OpenReply {
  step: ReplyStep
  replyId: string | undefined
  /** The calls by their ids in the source. */
  calls: { from: string; call: StepCall; result?: StepResult }[]
  /** Only its results must be written. */
  seen?: true
}

function newReply({ origin }: Reply, at: string): OpenReply {
  const { provider, model, replyId } = origin
  return { step: { kind: 'reply', at, provider, model, parts: [], results: [] }, replyId, calls: [] }
}

function seenReply(reply: Reply, at: string): OpenReply {
  const calls = reply.parts.flatMap((part) => {
    if (part.type !== 'tool-call') return []
    const call: StepCall = { type: 'call', id: part.alias ?? part.callId, name: part.name, input: {} }
    return [{ from: part.callId, call }]
  })
  return { ...newReply(reply, at), calls, seen: true }
}

/** Pieces of one reply: those with one id, or, without ids, all before the first result. */
function continues({ replyId, calls, seen }: OpenReply, { origin }: Reply): boolean {
  if (seen) return false
  if (replyId !== undefined || origin.replyId !== undefined) return replyId === origin.replyId
  return calls.every(({ result }) => result === undefined)
}

function hasOpenCall({ calls }: OpenReply): boolean {
  return calls.some(({ result }) => result === undefined)
}

function closeReply({ step, calls, seen }: OpenReply, omitted: Tally): Step[] {
  if (seen) {
    const results = calls.flatMap(({ result }) => result ?? [])
    return results.length > 0 ? [{ ...step, results }] : []
  }
  const results = calls.map(({ call, result }) => {
    if (result) return result
    omitted.add('unanswered', 1)
    const output = [{ type: 'text' as const, text: noResultText }]
    return { id: call.id, name: call.name, output, failed: true, at: step.at }
  })
  return step.parts.length > 0 ? [{ ...step, results }] : []
}

function addReply(open: OpenReply, reply: Reply, name: CallNames, omitted: Tally): void {
  for (const part of reply.parts) {
    if (part.type === 'tool-call') {
      const call: StepCall = {
        type: 'call',
        id: name.id(part.alias ?? part.callId),
        name: name.tool(part.name),
        input: inputOf(part),
      }
      open.step.parts.push(call)
      open.calls.push({ from: part.callId, call })
      if (call.name !== part.name) omitted.add('renamed', 1)
    } else open.step.parts.push(...replyTexts(part, omitted))
  }
}

function inputOf({ input, malformed }: ToolCallPart): JsonObject {
  const object = malformed !== undefined ? malformedInput(malformed) : isObject(input) ? input : { input }
  return cleanJson(object, '', [])
}

function addResult(open: OpenReply | undefined, part: ToolResultPart, at: string, omitted: Tally): void {
  const match =
    open?.calls.find(({ from }) => from === part.callId) ??
    open?.calls.find(({ call, result }) => result === undefined && call.name === part.name)
  if (!match) {
    omitted.add('orphans', 1)
    return
  }
  // A session that its tool has resumed can contain a result twice.
  if (match.result) return
  const output = part.output.flatMap((piece) => showPart(piece, omitted))
  match.result = {
    id: match.call.id,
    name: match.call.name,
    output,
    failed: part.failed === true,
    at: part.endedAt ?? at,
  }
}

function replyTexts(part: Exclude<Part, ToolCallPart>, omitted: Tally): TextPart[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return textParts(part.text)
    case 'reasoning':
      omitted.add('thinking', 1)
      return []
    case 'compaction':
      return [summaryText(part.text)]
    case 'media':
      omitted.add('media', 1)
      return [{ type: 'text', text: mediaStandIn(part.mediaType, part.name) }]
    case 'server-tool':
      omitted.add('serverTools', 1)
      return [{ type: 'text', text: serverToolText(part.name, part.input, part.output) }]
    default:
      if (part.type === 'opaque' && /reasoning|thinking/.test(part.kind)) omitted.add('thinking', 1)
      else omitted.add('opaque', 1)
      return []
  }
}

function serverToolText(name: string, input: Json | undefined, output: Json | undefined): string {
  const call = flatCall(name, input ?? {})
  return output === undefined ? call : `${call}\n${flatResult(flatResultLabel, name, JSON.stringify(output), false)}`
}

function summaryText(text: string | undefined): TextPart {
  return { type: 'text', text: `${summaryLabel}\n${text ?? ''}` }
}

function userParts(part: Part, omitted: Tally): (TextPart | MediaPart)[] {
  switch (part.type) {
    case 'text':
      return textParts(part.text)
    case 'media':
      return showPart(part, omitted)
    case 'compaction':
      return [summaryText(part.text)]
    default:
      omitted.add('opaque', 1)
      return []
  }
}

/** Some providers refuse a text of only blanks, and all of them refuse invalid characters. */
function textParts(text: string): TextPart[] {
  return isBlank(text) ? [] : [{ type: 'text', text: cleanText(text, '', []) }]
}

/** Images in the file itself are included; anything else is mentioned, so that the model knows about it. */
function showPart(part: TextPart | MediaPart, omitted: Tally): (TextPart | MediaPart)[] {
  if (part.type === 'text') return part.text === '' ? [] : [{ type: 'text', text: cleanText(part.text, '', []) }]
  if (part.data.kind === 'base64' && part.mediaType.startsWith('image/')) {
    return [{ type: 'media', mediaType: part.mediaType, data: part.data }]
  }
  omitted.add('media', 1)
  const text = part.data.kind === 'url' ? part.data.url : mediaStandIn(part.mediaType, part.name)
  return [{ type: 'text', text }]
}

interface CallNames {
  id(alias: string): string
  tool(name: string): string
}

/** Ids that are valid on every wire, each unique in a session; valid names. */
function callNames(): CallNames {
  const used = new Set<string>()
  return {
    id(alias) {
      const preferred = fitName(alias, 'call')
      let id = preferred
      for (let n = 2; used.has(id); n++) id = `${preferred.slice(0, longest - 8)}_${n}`
      used.add(id)
      return id
    },
    tool: (name) => fitName(name, 'tool'),
  }
}

const longest = 64

function fitName(text: string, fallback: string): string {
  const clean = text.replaceAll(/[^A-Za-z0-9_-]/g, '_')
  if (clean === text && clean !== '' && clean.length <= longest) return clean
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 8)
  return `${clean.slice(0, longest - 9) || fallback}_${digest}`
}

type LeftOut =
  | 'thinking'
  | 'system'
  | 'unanswered'
  | 'orphans'
  | 'opaque'
  | 'media'
  | 'serverTools'
  | 'commands'
  | 'renamed'

interface Tally {
  add(what: LeftOut, n: number): void
  notes(): Note[]
}

const reasons: Record<LeftOut, [kind: Note['kind'], one: string, many: string, why: string]> = {
  thinking: [
    'dropped',
    'block of thinking',
    'blocks of thinking',
    'thinking is valid only for the model that wrote it',
  ],
  system: ['dropped', 'system prompt', 'system prompts', 'the agent that continues has its own'],
  unanswered: ['added', 'result', 'results', `a call had none; "${noResultText}" was added`],
  orphans: ['dropped', 'result', 'results', 'the call that it answers is not in the session'],
  opaque: ['dropped', 'block', 'blocks', 'only the provider that wrote it understands it'],
  media: ['changed', 'file', 'files', 'only images inside the session can be carried; its name is written instead'],
  serverTools: ['changed', 'call', 'calls', 'the provider ran the tool itself; call and result are text instead'],
  commands: ['changed', 'user text', 'user texts', 'it would be taken for a command; words come before it'],
  renamed: ['changed', 'tool name', 'tool names', 'names take letters, digits, "_" and "-", at most 64'],
}

function tally(): Tally {
  const counts = new Map<LeftOut, number>()
  return {
    add(what, n) {
      counts.set(what, (counts.get(what) ?? 0) + n)
    },
    notes: () =>
      [...counts].map(([what, n]): Note => {
        const [kind, singular, plural, why] = reasons[what]
        return { kind, what: `${n} ${n === 1 ? singular : plural}`, why }
      }),
  }
}
