// A conversation as a person would have it, played from its position in the log: the same code plays it the first time,
// in a process that is killed, and again after that.

import { appendFileSync } from 'node:fs'
import type { RunEvent } from '../../src/core/event.ts'
import { isObject, type Json } from '../../src/core/json.ts'
import type { Tool } from '../../src/core/tool.ts'
import type { PolicySettings } from '../../src/settings/policy.ts'
import { openSynapse } from '../../src/runtime/open.ts'
import type { Store } from '../../src/store/store.ts'
import { createEmulator } from '../../src/testing.ts'

export interface Scenario {
  turns: { text: string; model: string }[]
  policy?: PolicySettings
}

const anthropic = 'anthropic/claude-opus-5'
const openai = 'openai/gpt-5.6'
const google = 'google/gemini-3.8-flash'

export const scenarios: Record<string, Scenario> = {
  // Long enough for several batches of the journal.
  text: { turns: [{ text: 'Count to 3000.', model: anthropic }] },
  'one tool': { turns: [{ text: 'What time is it?', model: openai }] },
  'parallel tools': { turns: [{ text: 'What time is it, and what is 17 + 25?', model: anthropic }] },
  switching: {
    turns: [
      { text: 'What time is it?', model: google },
      { text: 'And what is 17 + 25?', model: openai },
      { text: 'What did I say first?', model: anthropic },
    ],
  },
  compaction: {
    policy: { compaction: { every: 2, keep: 1, native: false } },
    turns: [
      { text: 'What time is it?', model: openai },
      { text: 'My name is Ada.', model: openai },
      { text: 'What did I say before?', model: openai },
    ],
  },
}

export interface Stage {
  store: Store
  owner: string
  conversationId: string
  /** Where tools leave a line for each start. */
  effects: string
  /** Where each request that reaches the provider leaves a line. */
  requests: string
}

/** Throws where a run fails. */
export async function play(
  stage: Stage,
  scenario: Scenario,
  told: (event: RunEvent) => void = () => {},
): Promise<void> {
  const emulator = createEmulator()
  const fetch: typeof globalThis.fetch = async (input, init) => {
    appendFileSync(stage.requests, `${stage.conversationId}\n`)
    return emulator.fetch(input, init)
  }
  const { store, owner, conversationId } = stage
  const synapse = await openSynapse({ store, owner, offline: { ...emulator, fetch }, env: {} })
  const first = scenario.turns[0] ?? { model: '' }
  const chat = await synapse.open(conversationId, {
    model: first.model,
    tools: toolsOf(stage),
    ...(scenario.policy && { policy: scenario.policy }),
  })
  for (const [i, { text, model }] of scenario.turns.entries()) {
    const said = (await chat.history()).filter((entry) => entry.message.role === 'user').length
    if (said > i + 1) continue
    const run = said > i ? chat.resume({ model }) : chat.send(text, { model })
    for await (const event of run) told(event)
    const { outcome, failure } = await run.ended
    if (outcome !== 'done') throw new Error(`${outcome}: ${failure?.message}`)
  }
}

/** `clock` must not run twice; `add` may. */
export function toolsOf({ effects }: Pick<Stage, 'effects'>): Tool[] {
  const leave = (name: string, callId: string) => appendFileSync(effects, `${name} ${callId}\n`)
  return [
    {
      name: 'clock',
      description: 'Tells the current time.',
      input: { type: 'object', properties: {} },
      async run(_, { callId }) {
        leave('clock', callId)
        await new Promise(setImmediate)
        return { time: '12:00', zone: 'UTC' }
      },
    },
    {
      name: 'add',
      description: 'Adds two numbers.',
      input: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
      repeatable: true,
      run(input, { callId }) {
        leave('add', callId)
        return number(input, 'a') + number(input, 'b')
      },
    },
  ]
}

function number(input: Json, name: string): number {
  return isObject(input) ? Number(input[name]) : Number.NaN
}
