// The messages of a request, after all decisions about them.

import type { Entry } from '../../core/log.ts'
import type { Message } from '../../core/message.ts'
import { contextOf } from '../../context/assemble.ts'
import { readDecisions } from '../../context/overlay-codec.ts'
import { draftOf } from './draft.ts'
import type { RunContext } from '../run-context.ts'

export async function sentMessages(run: RunContext, history: readonly Entry[]): Promise<Message[]> {
  const overlays = await run.store.overlays(run.owner, run.conversationId)
  return contextOf(draftOf(run, history, readDecisions(history, overlays))).context.messages
}
