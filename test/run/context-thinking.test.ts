// Thinking that is bound to its prefix, after a fold.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Policy } from '../../src/settings/policy.ts'
import { thorough } from '../thorough.ts'
import { clockTool, talk } from './talking.ts'

const policies: [string, Policy][] = [
  ['economy', 'economy'],
  ['classic', 'classic'],
  ['full', 'full'],
  ['small', { preset: 'small', assumedWindow: 4000 }],
  ['economy with a floor of one tool turn', { preset: 'economy', maxToolTurns: 1 }],
  ['no tool turns at all', { maxToolTurns: 0 }],
  ['a window of four that slides', { maxMessages: 4, step: 1 }],
  ['folded results', { maxToolTurns: 1, fold: 'results', step: 1 }],
  ['removed tool turns', { maxToolTurns: 1, fold: 'remove', step: 1 }],
  ['results that the provider leaves out', { maxToolTurns: 1, fold: 'provider', step: 1 }],
  ['economy by the provider', { preset: 'economy', maxToolTurns: 1, fold: 'provider', state: 'auto' }],
  ['few tokens', { maxTokens: 600 }],
  ['a summary every two turns', { preset: 'economy', compaction: { every: 2, keep: 3 } }],
  ['a summary in words every two turns', { preset: 'economy', compaction: { every: 2, keep: 3, native: false } }],
  [
    'summaries and results that the provider leaves out',
    { preset: 'economy', maxToolTurns: 1, fold: 'provider', compaction: { every: 2, keep: 3 } },
  ],
  ['summaries that the provider makes by itself', { preset: 'economy', compaction: { at: 1000 } }],
  ['state at the provider', { preset: 'economy', maxToolTurns: 1, state: 'auto' }],
]

const models = ['anthropic/claude-opus-5-5', 'anthropic/claude-opus-4-5', 'openai/gpt-5.6', 'google/gemini-3.8-flash']

for (const [m, model] of models.entries()) {
  // The model whose thoughts are bound to what was before them has every policy; the others share them.
  const some = policies.filter((_, i) => thorough || m === 0 || (i + m) % 3 === 0)
  for (const [name, policy] of some) {
    test(`six turns with thinking and tools are accepted by ${model}: ${name}`, async () => {
      const chat = await talk({
        model,
        policy,
        tools: [clockTool],
        options: { effort: 'high' },
        result: () => 'noon '.repeat(300),
        ...(name === 'small' && { contextWindow: 4000 }),
      })
      for (let i = 0; i < 6; i++) {
        // A pause now and then, so that the cache is cold and folds happen.
        if (i % 2 === 1) chat.clock.now += 10 * 60_000
        const { outcome, failure } = await chat.say('What time is it?')
        assert.deepEqual({ outcome, failure }, { outcome: 'done', failure: undefined })
      }
      const thought = chat.history.some(({ message }) => message.parts.some((part) => part.type === 'reasoning'))
      assert.ok(thought, 'the model has thought')
      for (const exchange of await chat.exchanges()) assert.equal(exchange.failure, undefined)
    })
  }
}

test('after a fold, a model with bound thinking gets back every thought that it has had since', async () => {
  const chat = await talk({
    model: 'anthropic/claude-opus-5-5',
    policy: { maxToolTurns: 3, step: 3, rhythm: 'steps' },
    tools: [clockTool],
    options: { effort: 'high' },
    result: () => 'noon '.repeat(300),
  })
  for (let i = 0; i < 12; i++) assert.equal((await chat.say('What time is it?')).outcome, 'done')
  const thoughts = chat.bodies().map((body) => JSON.stringify(body['messages']).split('"type":"thinking"').length - 1)
  const folds = thoughts.flatMap((count, i) => (count < (thoughts[i - 1] ?? 0) ? [i] : []))
  assert.ok(folds.length >= 2, `folded at ${folds.join(', ')}`)
  for (const [n, at] of folds.entries()) {
    const next = folds[n + 1] ?? thoughts.length
    for (let i = at + 1; i < next; i++) assert.ok((thoughts[i] ?? 0) > (thoughts[i - 1] ?? 0), thoughts.join(' '))
  }
})
