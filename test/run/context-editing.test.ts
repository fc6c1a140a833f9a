// Results that Anthropic leaves out itself.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { JsonObject } from '../../src/core/json.ts'
import { clockTool, talk, type Talk } from './talking.ts'

const policy = { preset: 'economy', maxToolTurns: 1, fold: 'provider' } as const

async function fourTurns(model: string): Promise<Talk> {
  const options = { effort: 'high' } as const
  const chat = await talk({ model, policy, tools: [clockTool], options, result: () => 'noon '.repeat(400) })
  for (let i = 0; i < 4; i++) {
    chat.clock.now += 90 * 60_000
    assert.equal((await chat.say('What time is it?')).outcome, 'done')
  }
  return chat
}

function thoughtsIn(body: JsonObject | undefined): number {
  return JSON.stringify(body).split('"type":"thinking"').length - 1
}

test('results that Anthropic leaves out itself are sent as they were, and thinking stays with them', async () => {
  const chat = await fourTurns('anthropic/claude-opus-5-5')
  const body = chat.bodies().at(-1)
  assert.deepEqual(body?.['context_management'], {
    edits: [
      { type: 'clear_thinking_20251015', keep: { type: 'thinking_turns', value: 4 } },
      {
        type: 'clear_tool_uses_20250919',
        trigger: { type: 'tool_uses', value: 2 },
        keep: { type: 'tool_uses', value: 2 },
      },
    ],
  })
  assert.equal(JSON.stringify(body).match(/"tool_result"[^}]*?(noon ){400}/g)?.length, 4)
  assert.equal(thoughtsIn(body), thoughtsIn({ all: chat.history.map(({ message }) => message) as never }) - 1)
})

test('what the provider dropped is noted with the exchange, and its count is as expected', async () => {
  const chat = await fourTurns('anthropic/claude-opus-5-5')
  const [last] = await chat.exchanges()
  const notes = last?.notes.filter((note) => note.rule === 'context-editing') ?? []
  assert.deepEqual(
    notes.map(({ kind, what }) => `${kind}: ${what.replace(/, \d+ tokens$/, '')}`),
    ['dropped: thoughts of 3 replies', 'dropped: results of 2 calls'],
  )
  await chat.fork(chat.history.length - 1)
  const { explained } = await chat.look()
  const usage = last?.usage?.input ?? 0
  assert.ok(Math.abs(explained.tokens / usage - 1) < 0.15, `${explained.tokens} against ${usage}`)
  assert.deepEqual(
    explained.messages.filter(({ fate }) => fate === 'folded').map(({ place }) => place),
    [1, 2, 5, 6],
  )
})

test('between two folds the provider drops the same, so that its cache stays valid', async () => {
  const chat = await fourTurns('anthropic/claude-opus-5-5')
  const folds = await chat.overlays('fold')
  await chat.say('Hello.')
  await chat.say('What did I say first?')
  assert.equal((await chat.overlays('fold')).length, folds.length)
  const [last] = await chat.exchanges()
  assert.ok((last?.usage?.cacheRead ?? 0) > 0.8 * (last?.usage?.input ?? 0), JSON.stringify(last?.usage))
})

test('another provider gets what is left of the same turns', async () => {
  const chat = await fourTurns('anthropic/claude-opus-5-5')
  await chat.say('Hello.', { model: 'openai/gpt-5.6' })
  const body = JSON.stringify(chat.bodies().at(-1))
  assert.equal(body.split(/\[Folded #\d+\] ok/).length - 1, 3)
  assert.ok(!body.includes('context_management'))
})
