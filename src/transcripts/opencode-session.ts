// opencode's sessions: what `opencode export` prints and `opencode import` takes, as a list: first the session, then
// its messages, each with its parts. Confirmed with version 1.18.33: a message without tokens, cost, path, agent or
// model makes the import fail halfway.

import { createHash } from 'node:crypto'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { MediaPart, Message, Part, TextPart, ToolResultPart, UserMessage } from '../core/message.ts'
import { mediaFromUrl } from '../wires/shared/media.ts'
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
import { objectIn } from '../wires/shared/json-fields.ts'

const version = '1.18.33'

export const opencodeSession: SessionFormat = { id: 'opencode', joinsResults: true, scan, reader, writer, rehome }

interface LineNode {
  id: string
  role: string | undefined
  parentId: string | undefined
  /** A completed summary. */
  summary: boolean
  compaction: { tail: string | undefined } | undefined
}

function scan(): SessionScan {
  const { head, time, set } = headOf()
  const nodes: (LineNode | undefined)[] = []
  let revertedFrom: string | undefined
  return {
    see(line, index) {
      if (index === 0) {
        set({ id: stringAt(line, 'id'), cwd: stringAt(line, 'directory'), title: stringAt(line, 'title') })
        const { time: times } = line
        if (isObject(times)) for (const at of [times.created, times.updated]) time(timeAt(at))
        revertedFrom = stringAt(line, 'revert', 'messageID')
        return
      }
      const info = objectIn(line.info)
      const parts = partsIn(line)
      const compaction = parts.find(({ type }) => type === 'compaction')
      nodes[index] = {
        id: stringAt(info, 'id') ?? '',
        role: stringAt(info, 'role'),
        parentId: stringAt(info, 'parentID'),
        summary: info.summary === true && info.finish !== undefined && info.error === undefined,
        compaction: compaction && { tail: stringAt(compaction, 'tail_start_id') },
      }
      if (info.role === 'assistant') set({ model: stringAt(info, 'modelID'), provider: stringAt(info, 'providerID') })
    },
    end(isWhole) {
      const all = nodes.flatMap((node, index) => (node ? [index] : []))
      const from = revertedFrom === undefined ? -1 : nodes.findIndex((node) => node?.id === revertedFrom)
      const standing = from < 0 ? all : all.filter((index) => index < from)
      const lines = isWhole ? standing : sinceCompaction(standing, nodes)
      const omitted = all.length - lines.length
      const why = 'they were taken back, or a summary represents them'
      return { head, lines, notes: omitted > 0 ? [{ kind: 'dropped', what: `${omitted} messages`, why }] : [] }
    },
  }
}

/** Like opencode: from the last compaction with a summary on, with the tail that it kept after the summary. */
function sinceCompaction(lines: readonly number[], nodes: readonly (LineNode | undefined)[]): number[] {
  const node = (at: number): LineNode | undefined => nodes[lines[at] ?? -1]
  for (let at = lines.length - 1; at >= 0; at--) {
    const { role, compaction, id } = node(at) ?? {}
    if (role !== 'user' || !compaction) continue
    const summary = lines.findIndex((_, i) => i > at && node(i)?.summary === true && node(i)?.parentId === id)
    if (summary < 0) continue
    const tail = compaction.tail === undefined ? -1 : lines.findIndex((_, i) => node(i)?.id === compaction.tail)
    const recent = tail >= 0 && tail < at ? lines.slice(tail, at) : []
    return [...lines.slice(at, summary + 1), ...recent, ...lines.slice(summary + 1)]
  }
  return [...lines]
}

function partsIn(line: JsonObject): JsonObject[] {
  return Array.isArray(line.parts) ? line.parts.filter(isObject) : []
}

function reader(isWhole: boolean): ReturnType<SessionFormat['reader']> {
  return (line) => {
    const info = objectIn(line.info)
    const at = timeAt(isObject(info.time) ? info.time.created : undefined)
    const messages = info.role === 'user' ? readUser(partsIn(line)) : readReply(info, partsIn(line), isWhole)
    return messages.map((message) => ({ message, ...(at !== undefined && { at }) }))
  }
}

function readUser(parts: readonly JsonObject[]): Message[] {
  const read = parts.flatMap((part): UserMessage['parts'] => {
    if (part.type === 'text' && part.ignored !== true) return [{ type: 'text', text: stringAt(part, 'text') ?? '' }]
    // The contents of a text file and the names in a folder are in a separate text part.
    if (part.type === 'file' && part.mime !== 'text/plain' && part.mime !== 'application/x-directory')
      return fileIn(part)
    if (part.type === 'compaction') return [{ type: 'text', text: 'What did we do so far?' }]
    if (part.type === 'subtask') return [{ type: 'text', text: 'The following tool was executed by the user' }]
    return []
  })
  return read.length > 0 ? [{ role: 'user', parts: read }] : []
}

function fileIn(part: JsonObject): MediaPart[] {
  const [url, mime, name] = [stringAt(part, 'url'), stringAt(part, 'mime'), stringAt(part, 'filename')]
  if (url === undefined) return []
  return [{ ...mediaFromUrl(url, mime ?? 'application/octet-stream'), ...(name !== undefined && { name }) }]
}

/** A failed reply is not sent again, unless it was stopped after some output. */
function isDropped(info: JsonObject, parts: readonly JsonObject[]): boolean {
  if (!isObject(info.error)) return false
  const hasOutput = parts.some(({ type }) => type !== 'step-start' && type !== 'reasoning')
  return !(info.error.name === 'MessageAbortedError' && hasOutput)
}

function readReply(info: JsonObject, parts: readonly JsonObject[], isWhole: boolean): Message[] {
  if (info.role !== 'assistant' || isDropped(info, parts)) return []
  const read: Part[] = []
  const results: ToolResultPart[] = []
  for (const part of parts) {
    if (part.type === 'text') read.push({ type: 'text', text: stringAt(part, 'text') ?? '' })
    if (part.type === 'reasoning') read.push({ type: 'reasoning', text: stringAt(part, 'text') ?? '' })
    if (part.type !== 'tool') continue
    const state = objectIn(part.state)
    const [callId, name] = [stringAt(part, 'callID') ?? '', stringAt(part, 'tool') ?? '']
    read.push({ type: 'tool-call', callId, alias: callId, name, input: state.input ?? {} })
    const result = readResult(state, isWhole)
    if (result) results.push({ type: 'tool-result', callId, name, ...result })
  }
  const [provider, model, replyId] = [stringAt(info, 'providerID'), stringAt(info, 'modelID'), stringAt(info, 'id')]
  const calls = read.some(({ type }) => type === 'tool-call')
  return [
    {
      role: 'assistant',
      parts: read,
      native: [],
      origin: { protocol: '', provider: provider ?? '', model: model ?? '', ...(replyId !== undefined && { replyId }) },
      stop: { reason: calls ? 'tool-calls' : 'done' },
    },
    ...(results.length > 0 ? [{ role: 'tool' as const, parts: results }] : []),
  ]
}

function readResult(state: JsonObject, isWhole: boolean): Pick<ToolResultPart, 'output' | 'failed'> | undefined {
  const metadata = objectIn(state.metadata)
  if (state.status === 'error') {
    const interrupted = metadata.interrupted === true ? stringAt(metadata, 'output') : undefined
    const text = interrupted ?? stringAt(state, 'error') ?? ''
    return { output: texts(text), failed: interrupted === undefined }
  }
  if (state.status !== 'completed') return undefined
  const isCleared = !isWhole && isObject(state.time) && state.time.compacted !== undefined
  if (isCleared) return { output: texts('[Old tool result content cleared]') }
  const files = Array.isArray(state.attachments) ? state.attachments.filter(isObject).flatMap(fileIn) : []
  return { output: [...texts(stringAt(state, 'output') ?? ''), ...files] }
}

function texts(text: string): TextPart[] {
  return text === '' ? [] : [{ type: 'text', text }]
}

function rehome(line: JsonObject, _: unknown, to: NewSession): JsonObject | undefined {
  if (line.info === undefined) {
    const time = { ...(isObject(line.time) && line.time), updated: Date.parse(to.updatedAt) }
    return { ...line, id: to.id, directory: to.cwd, time, path: undefined, parentID: undefined, share: undefined }
  }
  const digest = createHash('sha256').update(to.id).digest('hex')
  const renamed = (value: Json | undefined) => (typeof value === 'string' ? newId(value, digest) : value)
  const info = objectIn(line.info)
  return {
    info: {
      ...info,
      id: renamed(info.id),
      sessionID: to.id,
      ...(info.parentID !== undefined && { parentID: renamed(info.parentID) }),
    },
    parts: partsIn(line).map((part) => ({
      ...part,
      id: renamed(part.id),
      messageID: renamed(part.messageID),
      sessionID: to.id,
      ...(part.tail_start_id !== undefined && { tail_start_id: renamed(part.tail_start_id) }),
    })),
  }
}

/** Ids of messages and parts are keys of the whole database: the beginning orders them, the end is the session's. */
function newId(id: string, digest: string): string {
  const suffix = createHash('sha256').update(`${digest} ${id}`).digest('hex').slice(0, 14)
  return `${id.slice(0, 16)}${suffix}`
}

function writer(session: NewSession, after?: JsonObject) {
  const { id: sessionID, cwd } = session
  const suffix = createHash('sha256').update(session.id).digest('hex').slice(0, 14)
  let last = 0n
  /** Ascending, as opencode makes them: time and a counter. */
  const nextId = (prefix: string, at: string): string => {
    const now = BigInt(Date.parse(at)) * 0x1000n
    last = now > last ? now : last + 1n
    return `${prefix}_${(last & 0xffff_ffff_ffffn).toString(16).padStart(12, '0')}${suffix}`
  }
  let parentID = stringAt(after, 'info', 'id') ?? nextId('msg', session.startedAt)
  return {
    open(): JsonObject[] {
      if (after) return []
      const times = { created: Date.parse(session.startedAt), updated: Date.parse(session.updatedAt) }
      const title = session.title ?? 'Carried session'
      return [{ id: sessionID, slug: 'carried', projectID: 'global', directory: cwd, title, version, time: times }]
    },
    add(step: Step): JsonObject[] {
      const id = nextId('msg', step.at)
      const part = (more: JsonObject): JsonObject => ({ id: nextId('prt', step.at), sessionID, messageID: id, ...more })
      const model = { providerID: session.provider ?? 'unknown', modelID: session.model ?? 'unknown' }
      if (step.kind === 'user') {
        parentID = id
        const info = { id, sessionID, role: 'user', time: { created: Date.parse(step.at) }, agent: 'build', model }
        return [{ info, parts: step.parts.map((content) => part(userPart(content))) }]
      }
      const parts = step.parts.map((content) => {
        if (content.type === 'text') return part({ type: 'text', text: content.text })
        const result = step.results.find((candidate) => candidate.id === content.id) as StepResult
        const state = stateOf(content.input, result, step.at, (file) => part(file))
        return part({ type: 'tool', callID: content.id, tool: content.name, state })
      })
      return [{ info: replyInfo(step, { id, sessionID, parentID, cwd }), parts }]
    },
    close: (): JsonObject[] => [],
  }
}

function replyInfo(
  step: ReplyStep,
  { id, sessionID, parentID, cwd }: { id: string; sessionID: string; parentID: string; cwd: string },
): JsonObject {
  const created = Date.parse(step.at)
  return {
    id,
    sessionID,
    role: 'assistant',
    parentID,
    mode: 'build',
    agent: 'build',
    providerID: step.provider || 'unknown',
    modelID: step.model || 'unknown',
    path: { cwd, root: cwd },
    cost: 0,
    tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
    time: { created, completed: created },
    finish: step.results.length > 0 ? 'tool-calls' : 'stop',
  }
}

function stateOf(
  input: JsonObject,
  result: StepResult,
  startedAt: string,
  part: (file: JsonObject) => JsonObject,
): JsonObject {
  const text = result.output.flatMap((piece) => (piece.type === 'text' ? [piece.text] : [])).join('')
  const files = result.output.filter((piece) => piece.type === 'media')
  const time = { start: Date.parse(startedAt), end: Date.parse(result.at) }
  // A failure does not support images.
  if (result.failed && files.length === 0) return { status: 'error', input, error: text, metadata: {}, time }
  const attachments = files.length > 0 ? { attachments: files.map((file) => part(userPart(file))) } : {}
  return { status: 'completed', input, output: text, title: '', metadata: {}, time, ...attachments }
}

function userPart(part: UserStep['parts'][number]): JsonObject {
  if (part.type === 'text') return { type: 'text', text: part.text }
  const data = part.data.kind === 'base64' ? part.data.base64 : ''
  return { type: 'file', mime: part.mediaType, url: `data:${part.mediaType};base64,${data}` }
}
