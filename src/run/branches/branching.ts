// Going back: a fork, an edit and a retry move the head to an earlier entry. Nothing is copied and nothing is lost: what
// came after it stays in the log as a branch.

import { badInput, SynapseError } from '../../core/error.ts'
import type { Entry } from '../../core/log.ts'
import type { Write } from '../../store/store.ts'
import type { ConversationLog } from '../run-context.ts'

/** Moves the head to an entry, on a new branch if a name is given. */
export async function forkAt(
  { store, owner, conversationId }: ConversationLog,
  entryId: string,
  name: string | undefined,
  write: Write,
): Promise<void> {
  await entryOf({ store, owner, conversationId }, entryId)
  if (name === undefined) return void (await store.setHead(owner, conversationId, { entryId }, write))
  await store.nameBranch(owner, conversationId, name, entryId, write)
  await store.setHead(owner, conversationId, { branch: name }, write)
}

/** Moves the head before a user message, so that another one can replace it. */
export async function beforeMessage(log: ConversationLog, entryId: string, write: Write): Promise<void> {
  const entry = await entryOf(log, entryId)
  if (entry.message.role !== 'user') {
    throw badInput(`Entry ${entryId} is not a user message; only user messages can be edited.`)
  }
  await log.store.setHead(log.owner, log.conversationId, { entryId: entry.parentId }, write)
}

/** Moves the head to the last user message, so that it is answered again. */
export async function beforeAnswer({ store, owner, conversationId }: ConversationLog, write: Write): Promise<void> {
  const stored = await store.conversation(owner, conversationId)
  const history = stored?.head ? await store.history(owner, stored.head) : []
  const question = history.findLast(({ message }) => message.role === 'user')
  if (!question) throw badInput('There is no message to answer again.')
  if (question.id !== stored?.head) await store.setHead(owner, conversationId, { entryId: question.id }, write)
}

async function entryOf({ store, owner, conversationId }: ConversationLog, entryId: string): Promise<Entry> {
  const entry = await store.entry(owner, entryId)
  if (entry?.conversationId === conversationId) return entry
  throw new SynapseError({ kind: 'not-found', message: `There is no entry ${entryId} in this conversation.` })
}
