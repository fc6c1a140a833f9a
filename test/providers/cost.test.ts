import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noUsage, type Usage } from '../../src/core/usage.ts'
import { catalogue } from '../../src/providers/catalogue.ts'
import { costOf, factsOf, type Price } from '../../src/providers/price.ts'

const million = 1_000_000
const usage = (some: Partial<Usage>): Usage => ({ ...noUsage, ...some })
const marked: Price = { input: 4, output: 20, cacheRead: 0.4, cacheWrite: 5, cacheWriteLong: 8 }

const table: [string, Usage, Price, number][] = [
  ['input alone', usage({ input: million }), marked, 4],
  ['output, with reasoning as a share of it', usage({ output: million, reasoning: million / 2 }), marked, 20],
  ['a prompt read from the cache', usage({ input: million, cacheRead: million }), marked, 0.4],
  ['a prompt written to the cache', usage({ input: million, cacheWrite: million }), marked, 5],
  [
    'a prompt of all three',
    usage({ input: 10_000, cacheRead: 6000, cacheWrite: 3000, output: 500 }),
    marked,
    (1000 * 4 + 6000 * 0.4 + 3000 * 5 + 500 * 20) / million,
  ],
  [
    'a cache without prices of its own',
    usage({ input: 10, cacheRead: 5, cacheWrite: 5 }),
    { input: 1, output: 1 },
    1e-5,
  ],
  [
    'more read than was sent, as xAI reports it',
    usage({ input: 10, cacheRead: 30 }),
    { input: 1, output: 1, cacheRead: 0.1 },
    3e-6,
  ],
  [
    'a prompt up to the border',
    usage({ input: 200_000 }),
    { input: 1, output: 2, beyond: { tokens: 200_000, input: 2, output: 3 } },
    0.2,
  ],
  [
    'a prompt beyond the border, all of it at the higher price',
    usage({ input: 200_001, output: 1000 }),
    { input: 1, output: 2, beyond: { tokens: 200_000, input: 2, output: 3 } },
    (200_001 * 2 + 1000 * 3) / million,
  ],
  ['nothing', noUsage, marked, 0],
]

describe('the cost of', () => {
  for (const [name, used, price, dollars] of table) {
    test(name, () =>
      assert.ok(Math.abs((costOf(used, price) ?? Number.NaN) - dollars) < 1e-12, `${costOf(used, price)}`),
    )
  }

  test('a cache with a lifetime of an hour', () => {
    const used = usage({ input: million, cacheWrite: million })
    assert.equal(costOf(used, marked, '1h'), 8)
    assert.equal(costOf(used, marked, '5m'), 5)
    assert.equal(costOf(used, { input: 4, output: 20, cacheWrite: 5 }, '1h'), 5)
  })

  test('a model without a price has an unknown cost, not zero', () => {
    assert.equal(costOf(usage({ input: 5 }), undefined), undefined)
  })

  test('the billed amount is used as it is reported', () => {
    assert.equal(costOf(usage({ input: 5, raw: { cost: 0.0123 } }), marked), 0.0123)
    assert.equal(costOf(usage({ input: 5, raw: { cost_in_usd_ticks: 37_756_000 } }), marked), 0.0037756)
  })

  test('a request through a gateway with your own upstream key costs what both have billed', () => {
    const raw = { cost: 0.25, is_byok: true, cost_details: { upstream_inference_cost: 5 } }
    assert.equal(costOf(usage({ input: 5, raw }), marked), 5.25)
    assert.equal(costOf(usage({ input: 5, raw: { ...raw, is_byok: false } }), marked), 0.25)
  })

  test('cache writes of two lives is what the provider says of each', () => {
    const raw = {
      cache_creation: { ephemeral_5m_input_tokens: 0.75 * million, ephemeral_1h_input_tokens: million / 4 },
    }
    const used = usage({ input: million, cacheWrite: million, raw })
    for (const asked of [undefined, '5m', '1h'] as const) assert.equal(costOf(used, marked, asked), 0.75 * 5 + 8 / 4)
  })
})

describe('the catalogue', () => {
  const price = (provider: string, model: string) => factsOf(catalogue, provider, model).price

  test('knows models by their dated and marked names', () => {
    assert.deepEqual(price('anthropic', 'claude-opus-5-20260724'), price('anthropic', 'claude-opus-5'))
    assert.deepEqual(price('openai', 'gpt-5-2025-08-07'), price('openai', 'gpt-5'))
    assert.deepEqual(price('anthropic', 'claude-3-5-haiku-20241022'), price('anthropic', 'claude-3-5-haiku-latest'))
    assert.deepEqual(
      price('openrouter', 'anthropic/claude-opus-5:nitro'),
      price('openrouter', 'anthropic/claude-opus-5'),
    )
    for (const model of ['claude-opus-5', 'claude-3-5-haiku-latest']) assert.ok(price('anthropic', model), model)
  })

  test('is of the tokens that were billed, where those are not the ones that were read', () => {
    const raw = { billed_units: { input_tokens: 51, output_tokens: 13 }, tokens: { input_tokens: 1533 } }
    const usage = { input: 1533, output: 36, cacheRead: 1440, cacheWrite: 0, reasoning: 0, raw }
    assert.equal(costOf(usage, { input: 2.5, output: 10 }), (51 * 2.5 + 13 * 10) / 1_000_000)
  })

  test('does not confuse two models', () => {
    assert.notDeepEqual(price('anthropic', 'claude-opus-5-5'), price('anthropic', 'claude-opus-5'))
    assert.equal(price('openai', 'gpt-5-imaginary'), undefined)
    assert.equal(price('openai', 'constructor'), undefined)
    assert.equal(price('nobody', 'gpt-5'), undefined)
  })

  test('has reads and writes of caches where they have a price', () => {
    assert.deepEqual(price('anthropic', 'claude-opus-5'), {
      input: 5,
      output: 25,
      cacheRead: 0.5,
      cacheWrite: 6.25,
      cacheWriteLong: 10,
    })
    assert.equal(price('openai', 'gpt-5.6')?.cacheWrite, 5)
    assert.equal(price('openai', 'gpt-5.6')?.beyond?.input, 8)
  })
})
