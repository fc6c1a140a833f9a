// All calls of one reply, at the same time where the model asked for several. Each start is in the log before the tool
// runs, and each result when it is there: after a crash nobody has to guess which tools had run (P5).

import { createHash } from 'node:crypto'
import type { Entry } from '../core/log.ts'
import type { ToolCallPart, ToolMessage } from '../core/message.ts'
import { runTool } from './run-tool.ts'
import type { Running } from './running.ts'

export async function runCalls(run: Running, replyEntry: Entry, calls: readonly ToolCallPart[]): Promise<Entry[]> {
  const { store, owner, conversationId } = run
  const known = run.tools.map((tool) => tool.name)
  const entries: Entry[] = []
  await Promise.all(calls.map(one))
  return entries

  async function one(call: ToolCallPart): Promise<void> {
    const tool = run.tools.find((candidate) => candidate.name === call.name)
    const argsSha256 = createHash('sha256')
      .update(call.malformed ?? JSON.stringify(call.input))
      .digest('hex')
    const started = { callId: call.callId, entryId: replyEntry.id, name: call.name, argsSha256 }
    await store.startTool(owner, conversationId, { ...started, repeatable: tool?.repeatable === true }, run.write())
    run.emit({ type: 'tool-start', call })
    const result = await runTool(tool, call, run.signal, known)
    const outcome = run.signal.aborted && result.failed ? 'unknown' : result.failed ? 'failed' : 'done'
    const message: ToolMessage = { role: 'tool', parts: [result] }
    const end = { outcome, result: { message } } as const
    const { entry } = await store.finishTool(owner, conversationId, call.callId, end, run.write())
    entries.push(entry)
    run.emit({ type: 'tool-end', call, result })
    run.emit({ type: 'message', entryId: entry.id, message: entry.message })
  }
}
