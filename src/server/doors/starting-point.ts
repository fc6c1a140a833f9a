// Where a request continues that says so itself: by a token of ours, by the id of a reply, or by that of its conversation.

import type { Store } from '../../store/store.ts'
import type { WireService } from '../../wires/service.ts'
import { lastingContext } from '../context.ts'
import { startInConversation } from './conversation-start.ts'
import type { AuthenticatedRequest } from './incoming-request.ts'
import { startAfter, type StartingPoint } from './match.ts'
import { replyOfToken } from './match-records.ts'
import type { DoorRequest } from './read-request.ts'

/** The request with the messages that it refers to by id. */
export async function withStart(
  incoming: AuthenticatedRequest,
  service: WireService,
  request: DoorRequest,
): Promise<DoorRequest> {
  const { store } = lastingContext(incoming.server)
  const { owner } = incoming.principal
  const start = await startOf(store, incoming, service, request)
  const before = start?.entryId === undefined ? [] : await store.history(owner, start.entryId)
  return { ...request, messages: [...before.map(({ message }) => message), ...request.messages] }
}

export async function startOf(
  store: Store,
  { principal, memory }: AuthenticatedRequest,
  { door }: WireService,
  { previousId, conversation, messages, token }: DoorRequest & { token?: string | undefined },
): Promise<StartingPoint | undefined> {
  const { owner } = principal
  if (token !== undefined) return replyOfToken(store, owner, token)
  const stored = door?.stored
  if (stored && previousId !== undefined) return startAfter(store, owner, previousId, { stored, memory })
  const items = stored?.items
  if (!items || conversation === undefined) return undefined
  return startInConversation({ store, items }, owner, conversation, messages)
}
