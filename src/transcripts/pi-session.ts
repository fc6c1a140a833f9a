// pi's session files for `carry`. Confirmed with version 0.74.2: entries are a tree, and a reply without usage ends pi.

import { isObject, type JsonObject } from '../core/json.ts'
import { callRegistry } from '../wires/shared/call-registry.ts'
import { readEntry } from './pi-entry.ts'
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

export const piSession: SessionFormat = {
  id: 'pi',
  scan,
  reader() {
    const registry = callRegistry()
    return (line, index) => {
      const message = readEntry(line, `$[${index}]`, registry, [])
      if (!message || isBrokenOff(line)) return []
      const at = timeAt(line.timestamp)
      return [{ message, ...(at !== undefined && { at }) }]
    }
  },
  writer,
  withHead: (lines, session) => (lines[0]?.type === 'session' ? lines : [...writer(session).open(), ...lines]),
  rehome: (line, _, to) => (line.type === 'session' ? { ...line, id: to.id, cwd: to.cwd } : line),
}

/** pi itself never sends a failed or stopped reply. */
function isBrokenOff({ message }: JsonObject): boolean {
  return isObject(message) && (message.stopReason === 'error' || message.stopReason === 'aborted')
}

interface LineNode {
  id: string | undefined
  parentId: string | undefined
  isMessage: boolean
  isCompaction: boolean
  firstRemaining: string | number | undefined
}

function scan(): SessionScan {
  const { head, time, set } = headOf()
  const nodes: LineNode[] = []
  return {
    see(line, index) {
      const remaining = line.firstKeptEntryId ?? line.firstKeptEntryIndex
      nodes[index] = {
        id: index > 0 ? stringAt(line, 'id') : undefined,
        parentId: stringAt(line, 'parentId'),
        isMessage: line.type === 'message' || line.type === 'custom_message' || line.type === 'branch_summary',
        isCompaction: line.type === 'compaction',
        firstRemaining: typeof remaining === 'string' || typeof remaining === 'number' ? remaining : undefined,
      }
      time(timeAt(line.timestamp))
      if (line.type === 'session') set({ id: stringAt(line, 'id'), cwd: stringAt(line, 'cwd') })
      if (line.type === 'session_info') set({ title: stringAt(line, 'name') })
      set({ model: stringAt(line, 'message', 'model'), provider: stringAt(line, 'message', 'provider') })
    },
    end(isWhole) {
      const byId = new Map(nodes.flatMap(({ id }, index) => (id === undefined ? [] : [[id, index] as const])))
      const isTree = nodes.some(({ parentId }) => parentId !== undefined)
      const path = isTree
        ? pathTo([...byId.values()].at(-1), (index) => byId.get(nodes[index]?.parentId ?? ''))
        : nodes.map((_, index) => index).slice(1)
      const counting = path.filter((index) => nodes[index]?.isMessage || nodes[index]?.isCompaction)
      const all = nodes.filter(({ isMessage }) => isMessage).length
      const lines = isWhole ? counting : afterCompaction(counting, nodes)
      const omitted = all - lines.filter((index) => nodes[index]?.isMessage).length
      const why = 'they are on another branch, or a summary represents them'
      return { head, lines, notes: omitted > 0 ? [{ kind: 'dropped', what: `${omitted} messages`, why }] : [] }
    },
  }
}

/** The summary, then the kept entries, then what follows. */
function afterCompaction(path: readonly number[], nodes: readonly LineNode[]): number[] {
  const at = path.findLastIndex((index) => nodes[index]?.isCompaction)
  const compaction = path[at]
  if (compaction === undefined) return [...path]
  const remaining = nodes[compaction]?.firstRemaining
  const first =
    typeof remaining === 'number' ? remaining : nodes.findIndex(({ id }) => id !== undefined && id === remaining)
  const from = first < 0 ? at : path.findIndex((index) => index >= first)
  const older = path.slice(from, at).filter((index) => !nodes[index]?.isCompaction)
  return [compaction, ...(from < 0 ? [] : older), ...path.slice(at + 1)]
}

function writer(session: NewSession, after?: JsonObject) {
  let parentId: string | null = stringAt(after, 'id') ?? null
  // The first version of the format is a plain list.
  const isTree = after === undefined || parentId !== null
  let count = 0
  const entry = (at: string, more: JsonObject): JsonObject => {
    const id = uuidFor(`${session.id} ${parentId} ${count++}`).slice(0, 8)
    const { type, ...rest } = more
    if (!isTree) return { type, timestamp: at, ...rest }
    const placed = { type, id, parentId, timestamp: at, ...rest }
    parentId = id
    return placed
  }
  const messageEntry = (at: string, message: JsonObject): JsonObject => entry(at, { type: 'message', message })
  return {
    open(): JsonObject[] {
      if (after) return []
      const { id, startedAt: timestamp, cwd, title } = session
      return [
        { type: 'session', version: 3, id, timestamp, cwd },
        ...(title === undefined ? [] : [entry(timestamp, { type: 'session_info', name: title })]),
      ]
    },
    add(step: Step): JsonObject[] {
      if (step.kind === 'user') {
        return [messageEntry(step.at, { role: 'user', content: step.parts.map(block), timestamp: Date.parse(step.at) })]
      }
      return [
        messageEntry(step.at, replyMessage(step)),
        ...step.results.map((result) => messageEntry(result.at, resultMessage(result))),
      ]
    },
    close: () => [],
  }
}

const noUsage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
}

const apis: Record<string, string> = {
  anthropic: 'anthropic-messages',
  openai: 'openai-responses',
  google: 'google-generative-ai',
  mistral: 'mistral-conversations',
}

function replyMessage({ parts, provider, model, results, at }: ReplyStep): JsonObject {
  return {
    role: 'assistant',
    content: parts.map((part) =>
      part.type === 'call'
        ? { type: 'toolCall', id: part.id, name: part.name, arguments: part.input }
        : { type: 'text', text: part.text },
    ),
    api: (Object.hasOwn(apis, provider) ? apis[provider] : undefined) ?? 'openai-completions',
    provider,
    model,
    usage: noUsage,
    stopReason: results.length > 0 ? 'toolUse' : 'stop',
    timestamp: Date.parse(at),
  }
}

function resultMessage({ id, name, output, failed, at }: StepResult): JsonObject {
  const content = output.map(block)
  return { role: 'toolResult', toolCallId: id, toolName: name, content, isError: failed, timestamp: Date.parse(at) }
}

function block(part: UserStep['parts'][number]): JsonObject {
  if (part.type === 'text') return { type: 'text', text: part.text }
  return { type: 'image', data: part.data.kind === 'base64' ? part.data.base64 : '', mimeType: part.mediaType }
}
