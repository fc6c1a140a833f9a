// A new conversation with an existing history: messages, or a transcript in any format that Synapse reads. Calls in a
// transcript are data, not actions: those without a result are never run.

import { badInput } from '../core/error.ts'
import type { Json } from '../core/json.ts'
import type { Message } from '../core/message.ts'
import { checkMessages } from '../run/check-messages.ts'
import { settingsToStore } from '../run/stored-settings.ts'
import type { RunSettings } from '../settings/run.ts'
import type { Store } from '../store/store.ts'

/** The initial history; at most one of them. */
export interface Beginning {
  /** Your own history. */
  messages?: readonly Message[]
  /**
   * JSON, or the text of a JSON or JSONL file, in a format that `readTranscript` recognises. Its system prompt is used
   * if the settings have none.
   */
  transcript?: Json
}

/** Creates it, and returns its id and the effective settings. */
export async function beginConversation(
  store: Store,
  owner: string,
  settings: RunSettings,
  { messages, transcript }: Beginning,
): Promise<{ id: string; settings: RunSettings }> {
  if (transcript !== undefined && messages) throw badInput('Give messages or a transcript, not both.')
  if (transcript !== undefined) return importTranscript(store, owner, settings, transcript)
  if (messages) checkMessages(messages)
  const { id } = await store.createConversation(owner, { settings: settingsToStore(settings) })
  if (messages && messages.length > 0) {
    const entries = messages.map((message) => ({ message }))
    await store.appendAll(owner, id, entries)
  }
  return { id, settings }
}

async function importTranscript(store: Store, owner: string, requested: RunSettings, transcript: Json) {
  const [{ readForeign }, { asImported }] = await Promise.all([
    import('../transfer/foreign.ts'),
    import('../transfer/as-imported.ts'),
  ])
  const [read, ...others] = readForeign(transcript, undefined, new Date().toISOString())
  if (!read || others.length > 0) {
    throw badInput(`The transcript has ${read ? others.length + 1 : 'no'} conversations: give one of them.`)
  }
  const { archive } = asImported(read)
  const { system } = archive.conversation.settings
  const settings = { ...(typeof system === 'string' && { system }), ...requested }
  const conversation = { ...archive.conversation, settings: settingsToStore(settings) }
  const { id } = await store.importConversation(owner, { ...archive, conversation })
  return { id, settings }
}
