// The conversation that a request of a client is answered in: the one that it continues, or a new one.

import { asFailure, type Failure } from '../../core/error.ts'
import { sideCall } from '../../core/log.ts'
import type { Message } from '../../core/message.ts'
import { afterTaggedBlocks } from '../../core/tagged-blocks.ts'
import { titleOf } from '../../core/title.ts'
import { isAbandoned } from '../../run/log/lease.ts'
import { uuidv7 } from '../../store/ids.ts'
import { textIn } from '../../wires/shared/json-fields.ts'
import { conversationLocked } from './conversations.ts'
import type { Match } from './match.ts'
import type { DoorRunOptions } from './run.ts'
import { isSideCall } from './side-call.ts'

/** Conversations in which this process is answering a request: checked and added to without a wait in between. */
export const busy = new Set<string>()

export interface ChosenConversation extends Match {
  conversationId: string
  isNew: boolean
  isAside: boolean
  /** Why it was not created, once that is known; undefined: it was. */
  notCreated?: Promise<Failure | undefined>
}

/**
 * The conversation of the request; a new one if none is known, or if it is being answered in right now. It is busy until
 * the caller says otherwise. `isTaken`: another server is known to answer in it.
 */
export async function chooseConversation(
  options: DoorRunOptions,
  matched: Match,
  { isTaken = false }: { isTaken?: boolean } = {},
): Promise<ChosenConversation> {
  const { server, principal, request, sent } = options
  const { store } = server
  const { owner } = principal
  const { conversationId } = matched
  const [lease, conversation] =
    conversationId === undefined
      ? []
      : await Promise.all([store.lease(owner, conversationId), store.conversation(owner, conversationId)])
  // A killed server leaves its leases behind.
  const isHeld = isTaken || (lease && !isAbandoned(lease))
  const isAside = isSideCall(request, sent.client ?? '', textIn(conversation?.settings['system']))
  if (conversationId !== undefined && conversation && !isHeld && !busy.has(conversationId)) {
    busy.add(conversationId)
    return { ...matched, conversationId, isNew: false, isAside }
  }
  // The client named it, so no other may be used.
  if (request.conversation !== undefined) throw conversationLocked()
  return newConversation(options, matched, isAside)
}

/** Two concurrent requests are two conversations: the second begins with a copy of what both have in common. */
async function newConversation(
  { server, principal, request, sent, model }: DoorRunOptions,
  matched: Match,
  isAside: boolean,
): Promise<ChosenConversation> {
  const { store } = server
  const { owner } = principal
  const before = matched.parentId === null ? [] : await store.history(owner, matched.parentId)
  const title = titleFrom([...before.map(({ message }) => message), ...request.messages])
  const id = uuidv7()
  const creating = store.createConversation(owner, {
    id,
    ...(title && { title }),
    ...(isAside && { labels: [sideCall] }),
    settings: {
      model: model.model,
      ...(sent.client !== undefined && { client: sent.client }),
      ...(request.system && { system: request.system }),
    },
  })
  // A store that writes in order commits it together with the lease, which usually reports its errors.
  const notCreated = creating.then(() => undefined, asFailure)
  if (!store.ordered) await creating
  busy.add(id)
  const copied = before.map(({ message }) => ({ message }))
  const append = [...copied, ...matched.append]
  return { ...matched, conversationId: id, isNew: true, isAside, notCreated, parentId: null, append }
}

/**
 * Codex, Claude Code and Gemini CLI mark such text with a tag, or with the name of the file; GitHub Copilot CLI writes
 * the question below it (checked 2026-11).
 */
const context = /^\s*(?:<[a-z][\w-]*>|# AGENTS\.md)/i

/**
 * The first line of the first question. Coding agents send what they know about the folder and the machine as messages of
 * the user, before it.
 */
function titleFrom(messages: readonly Message[]): string {
  let other = ''
  for (const message of messages) {
    if (message.role !== 'user') continue
    const parts = message.parts.map((part) =>
      part.type === 'text' ? { ...part, text: afterTaggedBlocks(part.text) } : part,
    )
    const title = titleOf({ parts: parts.filter((part) => part.type !== 'text' || !context.test(part.text)) })
    if (title) return title
    other ||= titleOf(message)
  }
  return other
}
