// What an unfinished run has left, for the user who continues.

import type { StopReason } from '../core/message.ts'
import { nextStep } from '../run/next-step.ts'
import type { ChatSession } from './chat-session.ts'
import { neutralLine } from './terminal.ts'

/** One sentence, or undefined if there is nothing to report. */
export async function unfinishedRun({
  local: { store, owner },
  conversation,
}: ChatSession): Promise<string | undefined> {
  const { id } = conversation
  const [history, open, tools] = await Promise.all([
    conversation.history(),
    store.exchanges(owner, id, { outcome: 'open', limit: 1 }),
    store.toolRuns(owner, id, { unfinished: true }),
  ])
  const last = history.at(-1)?.message
  const howToContinue = '"synapse --resume" continues from there, and /resume in a chat.'
  const unknown = tools.filter((tool) => !tool.repeatable).map((tool) => neutralLine(tool.name))
  if (unknown.length > 0)
    return `The last run was cut off while ${unknown.join(' and ')} ran; whether it had any effect is unknown. ${howToContinue}`
  if (open.items.length > 0) return `The last answer was cut off; the partial answer is saved. ${howToContinue}`
  if (last?.role === 'assistant' && Object.hasOwn(ends, last.stop.reason))
    return `The last answer was ${ends[last.stop.reason]}; the partial answer is saved. ${howToContinue}`
  const waiting = (await conversation.approvals()).map(({ call }) => neutralLine(call.name))
  if (waiting.length > 0) return `${waiting.join(' and ')} is waiting for approval. ${howToContinue}`
  return nextStep(history).kind === 'finish' ? undefined : `The last run did not finish. ${howToContinue}`
}

const ends: Partial<Record<StopReason, string>> = {
  cancelled: 'stopped',
  interrupted: 'interrupted',
  failed: 'interrupted',
}
