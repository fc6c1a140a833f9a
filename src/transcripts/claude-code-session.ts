// Claude Code's session files for `carry`: the lines of the next request, and lines that it resumes. As observed with
// version 2.1.325: every line needs type, message, uuid, parentUuid, timestamp and sessionId.

import type { Note } from '../core/context.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Message } from '../core/message.ts'
import { blocksOf, readReply, readUser, replyMetadata } from '../wires/anthropic-messages/transcript.ts'
import { callRegistry } from '../wires/shared/call-registry.ts'
import {
  headOf,
  type NewSession,
  pathTo,
  type ReplyStep,
  type SessionFormat,
  type SessionScan,
  type Step,
  type StepResult,
  stringAt,
  timeAt,
  type UserStep,
  uuidFor,
} from './session.ts'

const version = '2.1.325'

export const claudeCodeSession: SessionFormat = {
  id: 'claude-code',
  scan,
  reader() {
    const registry = callRegistry()
    return (line, index) => {
      if (isAside(line)) return []
      const at = timeAt(line.timestamp)
      const message = line.message as JsonObject
      const blocks = blocksOf(message.content, `line ${index + 1}.message.content`)
      const read: Message[] =
        line.type === 'assistant'
          ? [readReply(blocks, replyMetadata(message, ''), registry)]
          : readUser(blocks, registry)
      return read.map((message) => ({ message: message, ...(at !== undefined && { at }) }))
    }
  },
  writer,
  rehome(line, _, to) {
    if (line.isSidechain === true) return undefined
    return {
      ...line,
      ...(line.sessionId !== undefined && { sessionId: to.id }),
      ...(line.cwd !== undefined && { cwd: to.cwd }),
    }
  },
}

export function isMessageLine(line: JsonObject): boolean {
  return (line.type === 'user' || line.type === 'assistant') && isObject(line.message)
}

/** Lines that Claude Code itself never sends to the model. */
export function isAside(line: JsonObject): boolean {
  return !isMessageLine(line) || line.isSidechain === true || line.isApiErrorMessage === true || isSynthetic(line)
}

function isSynthetic(line: JsonObject): boolean {
  return isObject(line.message) && line.message.model === '<synthetic>'
}

export function hasResult(content: Json | undefined): boolean {
  return Array.isArray(content) && content.some((block) => isObject(block) && block.type === 'tool_result')
}

interface LineNode {
  uuid: string | undefined
  parent: string | null | undefined
  /** The line that it really follows, if a compaction cut the chain. */
  logicalParent: string | undefined
  replyId: string | undefined
  isResult: boolean
  counts: boolean
}

function nodeOf(line: JsonObject): LineNode {
  return {
    uuid: line.isSidechain === true ? undefined : stringAt(line, 'uuid'),
    parent: line.parentUuid === null ? null : stringAt(line, 'parentUuid'),
    logicalParent: stringAt(line, 'logicalParentUuid'),
    replyId: line.type === 'assistant' ? stringAt(line, 'message', 'id') : undefined,
    isResult: line.type === 'user' && isObject(line.message) && hasResult(line.message.content),
    counts: !isAside(line),
  }
}

/** The lines of the current branch, including what was compacted. */
export function branchOf(lines: readonly JsonObject[]): ReadonlySet<number> {
  return mainLines(lines.map(nodeOf), true)
}

function scan(): SessionScan {
  const nodes: LineNode[] = []
  const { head, time, set } = headOf()
  let sidechains = 0
  return {
    see(line, index) {
      const node = nodeOf(line)
      nodes[index] = node
      set({ title: stringAt(line, 'customTitle') ?? (line.type === 'summary' ? stringAt(line, 'summary') : undefined) })
      if (line.isSidechain === true) sidechains++
      if (line.isSidechain === true || !isMessageLine(line)) return
      time(timeAt(line.timestamp))
      head.id ??= stringAt(line, 'sessionId')
      head.cwd ??= stringAt(line, 'cwd')
      set({ gitBranch: stringAt(line, 'gitBranch') })
      if (node.counts && line.type === 'assistant')
        set({ model: stringAt(line, 'message', 'model'), provider: 'anthropic' })
    },
    end(isWhole) {
      const on = mainLines(nodes, isWhole)
      const all = nodes.flatMap((node, index) => (node.counts ? [index] : []))
      const lines = afterParents(
        all.filter((index) => on.has(index)),
        nodes,
      )
      const notes: Note[] = []
      const omitted = all.length - lines.length
      const why = 'they are on another branch, or a summary represents them'
      if (omitted > 0) notes.push({ kind: 'dropped', what: `${omitted} lines`, why })
      if (sidechains > 0) {
        const what = `${sidechains} ${sidechains === 1 ? 'line' : 'lines'} of sub-agents`
        notes.push({ kind: 'dropped', what, why: 'the results of their calls are in the session' })
      }
      return { head, lines, notes }
    },
  }
}

/** The chain from the last line to the first, with the pieces and results of replies that have several calls. */
function mainLines(nodes: readonly LineNode[], isWhole: boolean): ReadonlySet<number> {
  const byUuid = new Map(nodes.flatMap(({ uuid }, index) => (uuid === undefined ? [] : [[uuid, index] as const])))
  const counting = nodes.flatMap(({ counts }, index) => (counts ? [index] : []))
  // A log without a chain is simply in order.
  if (!counting.some((index) => typeof nodes[index]?.parent === 'string')) return new Set(counting)
  const path = pathTo(counting.at(-1), (index) => {
    const node = nodes[index]
    const parent = typeof node?.parent === 'string' ? byUuid.get(node.parent) : undefined
    if (parent !== undefined || !isWhole) return parent
    const logical = node?.logicalParent === undefined ? undefined : byUuid.get(node.logicalParent)
    return logical ?? counting.findLast((earlier) => earlier < index)
  })
  return withParallel(nodes, new Set(path))
}

/** A tool can finish before the line of its call is written: its result then comes before the call. */
function afterParents(lines: readonly number[], nodes: readonly LineNode[]): number[] {
  const byUuid = new Map(lines.map((index) => [nodes[index]?.uuid, index]))
  const placeFor = (index: number): number => {
    const { parent, isResult } = nodes[index] ?? {}
    const call = isResult && typeof parent === 'string' ? byUuid.get(parent) : undefined
    return call !== undefined && call > index ? call + 0.5 : index
  }
  return lines.toSorted((a, b) => placeFor(a) - placeFor(b))
}

/** Calls of one reply are in separate lines, and each has its result as another child. */
function withParallel(nodes: readonly LineNode[], path: ReadonlySet<number>): ReadonlySet<number> {
  const replies = new Set([...path].map((index) => nodes[index]?.replyId))
  const all = new Set(path)
  const pieces = new Set<string>()
  for (const [index, { replyId, uuid, counts }] of nodes.entries()) {
    if (!counts || replyId === undefined || !replies.has(replyId) || uuid === undefined) continue
    all.add(index)
    pieces.add(uuid)
  }
  for (const [index, { parent, isResult, counts }] of nodes.entries()) {
    if (counts && isResult && typeof parent === 'string' && pieces.has(parent)) all.add(index)
  }
  return all
}

function writer(session: NewSession, after?: JsonObject) {
  let parentUuid: string | null = stringAt(after, 'uuid') ?? null
  let count = 0
  const line = (at: string, more: JsonObject): JsonObject => {
    const uuid = uuidFor(`${session.id} ${parentUuid} ${count++}`)
    const { gitBranch = '' } = session
    const { id: sessionId, cwd } = session
    const common = { parentUuid, isSidechain: false, userType: 'external', cwd, sessionId, version, gitBranch }
    parentUuid = uuid
    return { ...common, ...more, uuid, timestamp: at }
  }
  return {
    open: () => [],
    add(step: Step): JsonObject[] {
      if (step.kind === 'user') return [line(step.at, { type: 'user', message: userMessage(step) })]
      const replyId = `msg_${uuidFor(`${session.id} reply ${count}`).replaceAll('-', '').slice(0, 24)}`
      return [
        ...step.parts.map((_, index) =>
          line(step.at, { type: 'assistant', message: blockMessage(step, index, replyId) }),
        ),
        ...step.results.map((result) => line(result.at, { type: 'user', message: resultMessage(result) })),
      ]
    },
    close: () => {
      if (session.title === undefined) return []
      return [{ type: 'custom-title', customTitle: session.title, sessionId: session.id }]
    },
  }
}

function userMessage({ parts }: UserStep): JsonObject {
  const [only] = parts
  const content = parts.length === 1 && only?.type === 'text' ? only.text : parts.map(block)
  return { role: 'user', content }
}

/** One block per line, as Claude Code writes it. */
function blockMessage(step: ReplyStep, index: number, id: string): JsonObject {
  const part = step.parts[index] as ReplyStep['parts'][number]
  const isLast = index === step.parts.length - 1
  const content: JsonObject =
    part.type === 'call' ? { type: 'tool_use', id: part.id, name: part.name, input: part.input } : block(part)
  const stop = step.results.length > 0 ? 'tool_use' : 'end_turn'
  return {
    id,
    type: 'message',
    role: 'assistant',
    model: step.model || 'unknown',
    content: [content],
    stop_reason: isLast ? stop : null,
    stop_sequence: null,
    usage: { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 },
  }
}

function resultMessage({ id, output, failed }: StepResult): JsonObject {
  const [only] = output
  const content = output.length === 1 && only?.type === 'text' ? only.text : output.map(block)
  const result = { type: 'tool_result', tool_use_id: id, content, ...(failed && { is_error: true }) }
  return { role: 'user', content: [result] }
}

function block(part: UserStep['parts'][number]): JsonObject {
  if (part.type === 'text') return { type: 'text', text: part.text }
  const data = part.data.kind === 'base64' ? part.data.base64 : ''
  return { type: 'image', source: { type: 'base64', media_type: part.mediaType, data } }
}
