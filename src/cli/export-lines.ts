// A conversation as the text of a file, piece by piece: our own archive, a readable format, or the format of another
// tool.

import { escapedJson, type Json } from '../core/json.ts'
import type { Conversation, Entry } from '../core/log.ts'
import { attachMedia } from '../store/media.ts'
import { formatIds, writeTranscript } from '../transcripts/index.ts'
import { archiveLines } from '../transfer/archive-write.ts'
import { everyConversation, type LocalStore } from './local-store.ts'
import { percent } from './format-number.ts'
import { progressOn } from './print.ts'

export const exportFormats: readonly string[] = ['archive', 'markdown', 'html', ...formatIds]

type Place = Pick<LocalStore, 'store' | 'owner'>
type Redact = ((value: Json) => Json) | undefined

export function exportLines(place: Place, about: Conversation, format: string, redact?: Redact): AsyncIterable<string> {
  return format === 'archive' ? archives(place, [about], redact) : onePiece(place, about, format, redact)
}

/** `counted` receives how many there were. */
export async function* allArchives(
  place: Place,
  redact: Redact,
  counted: (conversations: number) => void,
): AsyncGenerator<string> {
  const all: Conversation[] = []
  for await (const conversation of everyConversation(place)) all.push(conversation)
  yield* archives(place, all, redact)
  counted(all.length)
}

async function* archives(
  { store, owner }: Place,
  conversations: readonly Conversation[],
  redact: Redact,
): AsyncGenerator<string> {
  const progress = progressOn()
  for (const [i, { id, title }] of conversations.entries()) {
    const options = {
      ...(redact && { redact }),
      progress: (done: number, total: number) =>
        progress.tell(
          `Exporting ${title ?? id}: ${percent(i + (total === 0 ? 1 : done / total), conversations.length)}`,
        ),
    }
    for await (const line of archiveLines(store, owner, id, options)) yield `${line}\n`
  }
  progress.done()
}

async function* onePiece(
  { store, owner }: Place,
  about: Conversation,
  format: string,
  redact: Redact,
): AsyncGenerator<string> {
  const history = about.head ? await store.history(owner, about.head) : []
  const messages = await attachMedia(
    history.map((entry) => entry.message),
    (sha256) => store.blob(owner, sha256),
  )
  const withMedia = history.map((entry, i) => ({ ...entry, message: messages[i] ?? entry.message }))
  const entries = redact ? (redact(JSON.parse(JSON.stringify(withMedia)) as Json) as Json & Entry[]) : withMedia
  const header = redact ? (redact({ id: about.id, title: about.title }) as { id: string; title?: string }) : about
  if (format === 'markdown') yield (await import('../transfer/markdown.ts')).toMarkdown(header, entries)
  else if (format === 'html') yield (await import('../transfer/html.ts')).toHtml(header, entries)
  else {
    const json = writeTranscript(
      entries.map((entry) => entry.message),
      format,
    )
    if (lineFormats.has(format) && Array.isArray(json)) for (const line of json) yield `${escapedJson(line)}\n`
    else yield `${escapedJson(json, 2)}\n`
  }
}

/** The file extension of this format. */
export function endingOf(format: string): string {
  if (format === 'markdown') return 'md'
  if (format === 'html') return 'html'
  return format === 'archive' || lineFormats.has(format) ? 'jsonl' : 'json'
}

/** Formats whose files are lines of JSON. */
const lineFormats = new Set(['claude-code', 'codex', 'pi', 'gemini-cli', 'qwen-code', 'synapse'])
