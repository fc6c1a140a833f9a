// Tool runs in memory.

import type { RecordedToolRun } from '../../core/log.ts'
import { checkEntry } from '../new-entry.ts'
import { checkToolRestart, toolNotRunning } from '../store-errors.ts'
import type { ToolRuns } from '../store.ts'
import type { MemoryState } from './state.ts'

export function toolMethods(state: MemoryState): ToolRuns {
  return {
    async startTool(owner, conversationId, run, write) {
      const conversation = state.writable(owner, conversationId, write)
      const { callId, entryId, name, argsSha256 } = run
      state.entryIn(conversation, entryId)
      const before = conversation.tools.get(callId)
      if (before) {
        checkToolRestart(before, run)
        before.starts++
        return { ...before }
      }
      const started: RecordedToolRun = {
        conversationId,
        callId,
        entryId,
        name,
        argsSha256,
        idempotencyKey: run.idempotencyKey ?? `${conversationId}/${callId}`,
        repeatable: run.repeatable ?? false,
        starts: 1,
        startedAt: new Date(state.now()).toISOString(),
      }
      conversation.tools.set(callId, started)
      return { ...started }
    },

    async finishTool(owner, conversationId, callId, end, write) {
      const result = checkEntry(end.result, state.now())
      const conversation = state.writable(owner, conversationId, write)
      const run = conversation.tools.get(callId)
      if (!run || run.outcome) throw toolNotRunning(callId, run)
      const entry = state.append(conversation, result)
      run.outcome = end.outcome
      run.endedAt = new Date(state.now()).toISOString()
      run.resultEntryId = entry.id
      return { run: { ...run }, entry }
    },

    async toolRuns(owner, conversationId, only) {
      const runs = [...(state.find(owner, conversationId)?.tools.values() ?? [])]
      return runs.filter((run) => !only?.unfinished || run.outcome === undefined).map((run) => ({ ...run }))
    },

    async unsettled(owner) {
      const ids: string[] = []
      for (const { about, exchanges, tools } of state.conversations.values()) {
        const open = exchanges.some((exchange) => exchange.about.outcome === 'open')
        const running = tools.values().some((run) => run.outcome === undefined)
        if (about.owner === owner && (open || running)) ids.push(about.id)
      }
      return ids.sort()
    },
  }
}
