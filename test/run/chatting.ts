// A conversation on its own emulator, for tests of runs.

import type { RunEvent } from '../../src/core/event.ts'
import type { Part, Reply, ToolCallPart, ToolResultPart } from '../../src/core/message.ts'
import type { Tool } from '../../src/core/tool.ts'
import { openSynapse, type SynapseOptions } from '../../src/runtime/open.ts'
import type { Conversation, Run, RunSettings } from '../../src/run/conversation.ts'
import { createEmulator, type EmulatorOptions, type ResponderInput } from '../../src/testing.ts'

export const clock: Tool = {
  name: 'clock',
  description: 'Tells the current time.',
  input: { type: 'object', properties: {} },
  run: () => ({ time: '12:00', zone: 'UTC' }),
}

export async function start(
  settings: Partial<RunSettings> & { model: string },
  { emulation, ...options }: SynapseOptions & { emulation?: EmulatorOptions } = {},
) {
  const emulator = createEmulator(emulation)
  const synapse = await openSynapse({ offline: emulator, env: {}, transport: { sleep: async () => {} }, ...options })
  const chat = await synapse.start({ tools: [clock], ...settings })
  return { emulator, synapse, chat }
}

export async function collect(run: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const events: RunEvent[] = []
  for await (const event of run) events.push(event)
  return events
}

export function only<T extends RunEvent['type']>(events: readonly RunEvent[], type: T) {
  return events.filter((event): event is Extract<RunEvent, { type: T }> => event.type === type)
}

export async function results(chat: Pick<Conversation, 'history'>): Promise<ToolResultPart[]> {
  const messages = (await chat.history()).map((entry) => entry.message)
  return messages.flatMap((message) => (message.role === 'tool' ? message.parts : []))
}

/** A model that makes scripted calls, one list at a time, and then says that it is done. */
export function calling(...turns: { name: string; input?: object }[][]) {
  return (situation: ResponderInput): Partial<Reply> => {
    const since = situation.messages.slice(situation.messages.findLastIndex(({ role }) => role === 'user') + 1)
    const done = since.filter(({ role }) => role === 'assistant').length
    const calls = (turns[done] ?? []).map((call): ToolCallPart => ({
      type: 'tool-call',
      callId: '',
      name: call.name,
      input: JSON.parse(JSON.stringify(call.input ?? {})),
    }))
    const said: Part[] = [{ type: 'text', text: `All ${done} turns are done.` }]
    return { parts: calls.length > 0 ? calls : said }
  }
}

export async function outcomeOf(run: Run): Promise<string> {
  const { outcome, failure } = await run.ended
  return failure ? `${outcome}: ${failure.message}` : outcome
}
