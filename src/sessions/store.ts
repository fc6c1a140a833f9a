// Sessions of agents in our own store, and conversations of the store as sessions. Lines of an agent stay with the
// messages that were read from them, so that they return to the same agent unchanged, thinking included.

import { shortTitle } from '../core/title.ts'
import { badInput } from '../core/error.ts'
import type { Json } from '../core/json.ts'
import type { Conversation, Entry } from '../core/log.ts'
import type { Message } from '../core/message.ts'
import type { ReadArchive } from '../transfer/archive-read.ts'
import { readForeign } from '../transfer/foreign.ts'
import { writeTranscript } from '../transcripts/index.ts'
import { headOfSources, objectLines, timeOf } from '../transcripts/session-file.ts'
import { opencodeLines } from '../transcripts/opencode.ts'
import type { SessionFormat } from '../transcripts/session.ts'
import { lineSource, messagesSource, type SessionSource } from './source.ts'

export function sessionArchive(source: SessionSource, now: string): ReadArchive {
  const { format, head } = source
  if (!format) throw badInput('The conversation is already in the store.')
  const lines = [...source.lines()]
  const json: Json = format.id === 'opencode' ? { info: lines[0] ?? {}, messages: lines.slice(1) } : lines
  const [read] = readForeign(json, format.id, now)
  if (!read) throw badInput('The session has no messages.')
  const { conversation, entries } = read.archive
  let at = head.startedAt ?? now
  const timed = entries.map((entry) => {
    const time = timeOf(entry.message)
    if (time !== undefined && time > at) at = time
    return { ...entry, at }
  })
  const title = head.title === undefined ? {} : { title: shortTitle(head.title) }
  const createdAt = head.startedAt ?? conversation.createdAt
  return {
    ...read,
    archive: { ...read.archive, conversation: { ...conversation, ...title, createdAt }, entries: timed },
  }
}

/** A conversation for `target`; `messages` are those of the entries with their media in place. */
export function conversationSource(
  about: Conversation,
  entries: readonly Entry[],
  messages: readonly Message[],
  target: SessionFormat,
): SessionSource {
  const head = { startedAt: about.createdAt, title: about.title, ...headOfSources(messages) }
  if (messages.some(({ source }) => source?.format === target.id)) {
    const json = writeTranscript([...messages], target.id)
    const lines = target.id === 'opencode' ? opencodeLines(json) : objectLines(target.id, json)
    const source = lineSource(target, () => lines, {})
    return { ...source, head: { ...head, ...source.head } }
  }
  const timed = messages.map((message, index) => ({ message, at: entries[index]?.at ?? about.createdAt }))
  return messagesSource(timed, head)
}
