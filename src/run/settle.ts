// After a crash: what was under way is brought to an honest end before anything else is written. A partial reply is
// kept and marked interrupted. A tool that had started and has no result gets one that says that nobody knows, unless
// it may be run again: then its call is left open, and the loop runs it.

import { folding } from '../core/fold.ts'
import type { Entry, RecordedToolRun } from '../core/log.ts'
import type { ToolMessage } from '../core/message.ts'
import type { Store, Write } from '../store/store.ts'

export async function settle(store: Store, owner: string, conversationId: string, write: () => Write): Promise<void> {
  const open = await store.exchanges(owner, conversationId, { outcome: 'open' })
  for (const { id, provider, protocol, model, basedOn } of open.items) {
    const fold = folding({ provider, protocol, model })
    for (const event of await store.journaled(owner, id)) fold.push(event)
    const { reply, usage } = fold.result()
    const kept = reply.parts.length > 0 && { reply: { message: reply, parentId: basedOn } }
    await store.finishExchange(owner, id, { outcome: 'interrupted', ...kept, ...(usage && { usage }) }, write())
  }
  for (const run of await store.toolRuns(owner, conversationId, { unfinished: true })) {
    if (!run.repeatable) await closeUnknown(store, owner, run, write)
  }
}

async function closeUnknown(store: Store, owner: string, run: RecordedToolRun, write: () => Write): Promise<Entry> {
  const text = `${run.name} was interrupted while it ran; whether it had any effect is not known.`
  const { conversationId, callId, name, startedAt } = run
  const message: ToolMessage = {
    role: 'tool',
    parts: [{ type: 'tool-result', callId, name, output: [{ type: 'text', text }], failed: true, startedAt }],
  }
  const { entry } = await store.finishTool(
    owner,
    conversationId,
    callId,
    { outcome: 'unknown', result: { message } },
    write(),
  )
  return entry
}
