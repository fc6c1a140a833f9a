// Importing and exporting conversations: files and sessions of coding agents are imported, a conversation is exported
// as a file, as text on the clipboard, or by a command.

import { signal } from '@preact/signals'
import { reach, refused } from '../api/client.ts'
import { api, paths } from '../api/routes.ts'
import type { ConversationView, ImportedView, Json } from '../api/types.ts'
import { copyText } from '../parts/clipboard.ts'
import { plural } from '../parts/format.ts'
import { addressOf, openAddress } from './address.ts'
import { announce, announceCopy } from './announce.ts'
import { loadDetails } from './conversation.ts'
import { loadConversations } from './conversations.ts'
import { attempt, trouble } from './session.ts'

/** The current long operation, as text. */
export const working = signal('')
/** The result of the last operation, until it is dismissed. */
export const done = signal('')

/** The server accepts 20 MiB in one request. */
const mostBytes = 19 * 1024 * 1024

export async function importFiles(files: readonly File[]): Promise<void> {
  for (const file of files) {
    if (file.size > mostBytes) {
      const message = `${file.name} is too large for the page. In the terminal: synapse import ${file.name}`
      trouble.value = { kind: 'too-large', message }
      continue
    }
    await busy(`Importing ${file.name}`, async () => imported(await api.import(contentOf(await file.text()))))
  }
}

export async function importSession(agent: string, id: string): Promise<boolean> {
  return busy('Importing the session', async () => imported(await api.importSession({ agent, id })))
}

/** One JSON value, or JSON Lines, which the server reads as text. */
function contentOf(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

async function imported({ items }: ImportedView): Promise<void> {
  const [first] = items
  const notes = items.reduce((sum, item) => sum + item.notes.length, 0)
  done.value = `${plural(items.length, 'conversation')} imported${notes > 0 ? `, with ${plural(notes, 'note')} about what could not be imported` : ''}.`
  announce(done.value)
  await loadConversations()
  if (first) openAddress(addressOf(first.conversation.id))
}

async function busy(words: string, what: () => Promise<unknown>): Promise<boolean> {
  working.value = words
  announce(words)
  try {
    return await attempt(what)
  } finally {
    working.value = ''
  }
}

export async function saveAs(view: ConversationView, format: string, ending: string): Promise<void> {
  await attempt(async () => {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(await (await exported(view, format)).blob())
    link.download = `${(view.title ?? view.id).replaceAll(/[^\p{L}\p{N}]+/gu, '-').slice(0, 60)}.${ending}`
    link.click()
    URL.revokeObjectURL(link.href)
  })
}

export async function copyWhole(view: ConversationView): Promise<void> {
  await attempt(async () => {
    const isCopied = await copyText(await (await exported(view, 'markdown')).text())
    announceCopy(isCopied)
    done.value = isCopied
      ? 'Copied the conversation to the clipboard.'
      : 'The browser does not allow access to the clipboard.'
  })
}

async function exported(view: ConversationView, format: string): Promise<Response> {
  const answer = await reach('GET', paths.export(view.id, format))
  if (!answer.ok) throw await refused(answer)
  return answer
}

/** Replaces the older part of what is sent with a summary. */
export async function compact(view: ConversationView): Promise<void> {
  await busy('Summarising', async () => {
    const { overlay } = await api.compact(view.id)
    done.value = overlay
      ? 'A summary now replaces the older messages in requests. The inspector can bring them back.'
      : 'There is too little to summarise.'
    announce(done.value)
    await loadDetails(view.id)
  })
}
