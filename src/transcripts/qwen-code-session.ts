// Qwen Code's session files: lines in a tree by uuid, each with a Gemini content. Confirmed with version 0.24.4: every
// line needs uuid, parentUuid, sessionId, type, message and the folder in which it is resumed.

import { isObject, type JsonObject } from '../core/json.ts'
import { readContents } from '../wires/gemini-generate/transcript.ts'
import { contentParts, resultPart } from './gemini-cli-session.ts'
import {
  headOf,
  type NewSession,
  pathTo,
  type SessionFormat,
  type SessionScan,
  type Step,
  stringAt,
  timeAt,
  uuidFor,
} from './session.ts'

const version = '0.24.4'

export const qwenCodeSession: SessionFormat = {
  id: 'qwen-code',
  scan,
  reader: (isWhole) => (line, index) => {
    const at = timeAt(line.timestamp)
    const contents =
      compressedContents(line) && !isWhole
        ? compressedContents(line)
        : isMessageLine(line)
          ? [line.message ?? null]
          : []
    const model = stringAt(line, 'model')
    const entries = (contents ?? []).map((content) => ({ content, ...(model !== undefined && { model }) }))
    return readContents(entries, `line ${index + 1}`).map((message) => ({
      message,
      ...(at !== undefined && { at }),
    }))
  },
  writer,
  rehome: (line, _, to) => ({
    ...line,
    ...(line.sessionId !== undefined && { sessionId: to.id }),
    ...(line.cwd !== undefined && { cwd: to.cwd }),
  }),
}

const saying = new Set(['user', 'assistant', 'tool_result'])

export function isMessageLine(line: JsonObject): boolean {
  return typeof line.type === 'string' && saying.has(line.type) && isObject(line.message)
}

/** The history that replaced everything before a compression. */
function compressedContents(line: JsonObject) {
  if (line.type !== 'system' || line.subtype !== 'chat_compression' || !isObject(line.systemPayload)) return undefined
  const { compressedHistory: history } = line.systemPayload
  return Array.isArray(history) ? history : undefined
}

interface LineNode {
  uuid: string | undefined
  parent: string | undefined
  counts: boolean
  compresses: boolean
}

function scan(): SessionScan {
  const { head, time, set } = headOf()
  const nodes: LineNode[] = []
  return {
    see(line, index) {
      const compresses = compressedContents(line) !== undefined
      const [uuid, parent] = [stringAt(line, 'uuid'), stringAt(line, 'parentUuid')]
      nodes[index] = { uuid, parent, counts: isMessageLine(line), compresses }
      time(timeAt(line.timestamp))
      head.id ??= stringAt(line, 'sessionId')
      head.cwd ??= stringAt(line, 'cwd')
      if (line.type === 'assistant') set({ model: stringAt(line, 'model') })
      if (line.subtype === 'custom_title') set({ title: stringAt(line, 'systemPayload', 'customTitle') })
    },
    end(isWhole) {
      const byUuid = new Map(nodes.flatMap(({ uuid }, index) => (uuid === undefined ? [] : [[uuid, index] as const])))
      const leaf = [...byUuid.values()].at(-1)
      const path = pathTo(leaf, (index) => byUuid.get(nodes[index]?.parent ?? ''))
      const cut = isWhole ? -1 : path.findLastIndex((index) => nodes[index]?.compresses)
      const lines = path.slice(Math.max(0, cut)).filter((index, n) => nodes[index]?.counts || (cut >= 0 && n === 0))
      const omitted = nodes.filter(({ counts }) => counts).length - lines.filter((index) => nodes[index]?.counts).length
      const why = 'they are on another branch, or a summary represents them'
      return { head, lines, notes: omitted > 0 ? [{ kind: 'dropped', what: `${omitted} lines`, why }] : [] }
    },
  }
}

function writer(session: NewSession, after?: JsonObject) {
  let parentUuid: string | null = stringAt(after, 'uuid') ?? null
  let count = 0
  const line = (at: string, type: string, more: JsonObject): JsonObject => {
    const uuid = uuidFor(`${session.id} ${parentUuid} ${count++}`)
    const { id: sessionId, cwd } = session
    const placed = { uuid, parentUuid, sessionId, timestamp: at, type, cwd, version, ...more }
    parentUuid = uuid
    return placed
  }
  return {
    open: () => [],
    add(step: Step): JsonObject[] {
      if (step.kind === 'user') {
        return [line(step.at, 'user', { message: { role: 'user', parts: contentParts(step.parts) } })]
      }
      const model = step.model || 'unknown'
      return [
        line(step.at, 'assistant', { message: { role: 'model', parts: contentParts(step.parts) }, model }),
        ...step.results.map((result) =>
          line(result.at, 'tool_result', {
            message: { role: 'user', parts: [resultPart(result)] },
            toolCallResult: { callId: result.id, status: result.failed ? 'error' : 'success' },
          }),
        ),
      ]
    },
    close: (): JsonObject[] => {
      const { title: customTitle, updatedAt } = session
      if (customTitle === undefined) return []
      return [line(updatedAt, 'system', { subtype: 'custom_title', systemPayload: { customTitle } })]
    },
  }
}
