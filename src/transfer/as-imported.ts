// An imported conversation is data, not actions. Whatever in it names code, an agent, an address or a file of another
// machine is left out, and an unanswered call is never run here: not now, and not later when the conversation is
// continued from the middle.

import { createHash } from 'node:crypto'
import type { PolicySettings } from '../settings/policy.ts'
import type { Note } from '../core/context.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { ToolCallPart } from '../core/message.ts'
import type { Options } from '../settings/options.ts'
import type { Archive, ArchivedEntry } from '../store/archive.ts'
import { uuidv7 } from '../store/ids.ts'
import type { ReadArchive } from './archive-read.ts'

/** The same conversation, ready to be stored, with a note for everything that was left out. */
export function asImported({ archive, notes }: ReadArchive): ReadArchive {
  const { settings, dropped } = importedSettings(archive.conversation.settings)
  const closed = withoutOpenCalls(archive)
  const answered = closed.entries.length - archive.entries.length
  const added: Note[] =
    answered > 0
      ? [{ kind: 'added', what: 'results of unanswered tool calls', why: 'calls from elsewhere are not run here' }]
      : []
  return {
    archive: { ...closed, conversation: { ...closed.conversation, settings } },
    notes: [...notes, ...dropped, ...added],
  }
}

const policyKeys: Record<keyof PolicySettings, true> = {
  preset: true,
  maxMessages: true,
  maxTokens: true,
  maxToolTurns: true,
  fold: true,
  step: true,
  rhythm: true,
  usable: true,
  floor: true,
  atLimit: true,
  assumedWindow: true,
  pinned: true,
  state: true,
  compaction: true,
  recall: true,
}

/** Not `extra` and `serverTools`: they may name a server for the provider to call. */
const optionKeys: Record<
  Exclude<keyof Options, 'cacheKey' | 'extra' | 'serverTools' | 'toolChoice' | 'store' | 'stream'>,
  true
> = {
  maxOutput: true,
  temperature: true,
  topP: true,
  topK: true,
  seed: true,
  presencePenalty: true,
  frequencyPenalty: true,
  stop: true,
  effort: true,
  parallelTools: true,
  answerSchema: true,
  cacheTtl: true,
}

/** The allowed settings of an imported conversation. */
const allowed: Record<string, (value: Json) => Json | undefined> = {
  model: text,
  system: text,
  protocol: text,
  policy: (value) => (typeof value === 'string' && /^[a-z]+$/.test(value) ? value : onlyKeys(value, policyKeys)),
  options: (value) => onlyKeys(value, optionKeys),
  maxSteps: (value) => (typeof value === 'number' ? value : undefined),
}

function importedSettings(original: JsonObject): { settings: JsonObject; dropped: Note[] } {
  const settings: JsonObject = {}
  const dropped: Note[] = []
  for (const [name, value] of Object.entries(original)) {
    if (value === undefined) continue
    const read = Object.hasOwn(allowed, name) ? allowed[name]?.(value) : undefined
    if (read !== undefined) settings[name] = read
    if (JSON.stringify(read) !== JSON.stringify(value)) dropped.push(droppedSetting(name, value))
  }
  return { settings, dropped }
}

function droppedSetting(name: string, value: Json): Note {
  const which = name === 'agent' && typeof value === 'string' ? `agent ${value}` : name
  return {
    kind: 'dropped',
    what: `setting ${which}`,
    why: 'a conversation from elsewhere chooses no agent, code, address or file here',
  }
}

function text(value: Json): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function onlyKeys(value: Json, keys: Readonly<Record<string, true>>): JsonObject | undefined {
  if (!isObject(value)) return undefined
  return Object.fromEntries(Object.entries(value).filter(([key]) => Object.hasOwn(keys, key)))
}

/** Wherever the conversation may be continued, open calls are answered; and each call counts as started already. */
function withoutOpenCalls(archive: Archive): Archive {
  const { conversation, branches, entries } = archive
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const parents = new Set(entries.map((entry) => entry.parentId))
  const ends = new Set([
    ...entries.flatMap(({ id }) => (parents.has(id) ? [] : [id])),
    ...branches.map(({ entryId }) => entryId),
    ...(conversation.head === null ? [] : [conversation.head]),
  ])
  const answers = new Map<string, ArchivedEntry>()
  for (const id of ends) {
    const end = byId.get(id)
    const open = end ? openCalls(end, byId) : []
    if (end && open.length > 0) answers.set(id, answerAfter(end, open))
  }
  const endOf = (id: string): string => answers.get(id)?.id ?? id
  const { head } = conversation
  return {
    ...archive,
    conversation: { ...conversation, head: head === null ? null : endOf(head) },
    branches: branches.map(({ name, entryId }) => ({ name, entryId: endOf(entryId) })),
    entries: [...entries, ...answers.values()],
    toolRuns: finishedRuns(archive),
  }
}

function answerAfter(end: ArchivedEntry, calls: readonly ToolCallPart[]): ArchivedEntry {
  const parts = calls.map(({ callId, name }) => {
    const text = `It was asked for elsewhere, so ${name} was not run here.`
    return {
      type: 'tool-result' as const,
      callId,
      name,
      output: [{ type: 'text' as const, text }],
      failed: true,
    }
  })
  return { id: uuidv7(), parentId: end.id, at: end.at, message: { role: 'tool', parts } }
}

/** Calls on the path to this entry that have no result yet. */
function openCalls(end: ArchivedEntry, byId: ReadonlyMap<string, ArchivedEntry>): ToolCallPart[] {
  const answered = new Set<string>()
  for (let at: ArchivedEntry | undefined = end; at; at = byId.get(at.parentId ?? '')) {
    const { message } = at
    if (message.role === 'user' || message.role === 'system') return []
    if (message.role === 'assistant') {
      return message.parts.filter((part) => part.type === 'tool-call').filter((call) => !answered.has(call.callId))
    }
    for (const part of message.parts) answered.add(part.callId)
  }
  return []
}

/**
 * A tool run with an outcome is never started again, so such a call cannot be run by continuing from before its result.
 */
function finishedRuns({ conversation, entries, toolRuns }: Archive): Archive['toolRuns'] {
  const recorded = new Set(toolRuns.map(({ callId }) => callId))
  const ended = toolRuns.map((run) =>
    run.outcome === undefined ? { ...run, outcome: 'unknown' as const, endedAt: run.startedAt } : run,
  )
  const calls = entries.flatMap(({ id, at, message }) =>
    message.role === 'assistant'
      ? message.parts.flatMap((part) => (part.type === 'tool-call' ? [{ id, at, part }] : []))
      : [],
  )
  const added = calls.flatMap(({ id, at, part }): Archive['toolRuns'] => {
    if (recorded.has(part.callId)) return []
    recorded.add(part.callId)
    return [
      {
        callId: part.callId,
        entryId: id,
        name: part.name,
        argsSha256: createHash('sha256')
          .update(part.malformed ?? JSON.stringify(part.input))
          .digest('hex'),
        idempotencyKey: `${conversation.id}/${part.callId}`,
        repeatable: false,
        starts: 0,
        startedAt: at,
        endedAt: at,
        outcome: 'unknown',
      },
    ]
  })
  return [...ended, ...added]
}
