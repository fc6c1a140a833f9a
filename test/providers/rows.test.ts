import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { wireIds } from '../../src/wires/list.ts'
import { catalogue } from '../../src/providers/catalogue.ts'
import { modelRows } from '../../src/providers/models.ts'
import { exampleOf } from '../../src/providers/places.ts'
import { factsFor, wireOf } from '../../src/providers/resolve-with.ts'
import { compatible, rows } from '../../src/providers/rows.ts'

test('every provider that is promised has a row', () => {
  assert.deepEqual(
    rows.map(({ id }) => id),
    [
      'openai',
      'azure-openai',
      'anthropic',
      'google',
      'mistral',
      'cohere',
      'deepseek',
      'xai',
      'bedrock',
      'bedrock-invoke',
      'bedrock-mantle',
      'claude-aws',
      'vertex',
      'vertex-express',
      'foundry',
      'openrouter',
      'groq',
      'together',
      'fireworks',
      'cerebras',
      'moonshot',
      'qwen',
      'vercel',
      'zai',
      'huggingface',
      'cloudflare',
      'nvidia',
      'nebius',
      'baseten',
      'ovhcloud',
      'inception',
      'upstage',
      'chutes',
      'ollama',
      'lmstudio',
      'vllm',
      'llama.cpp',
      'openai-compatible',
    ],
  )
})

for (const row of rows) {
  describe(`the row of ${row.id}`, () => {
    test('serves wires that exist, each once', () => {
      const spoken = row.wires.map(({ protocol }) => protocol)
      assert.equal(new Set(spoken).size, spoken.length)
      for (const protocol of spoken) assert.ok(wireIds.includes(protocol), protocol)
    })

    test('has an address without a slash at its end, safe unless it is locally', () => {
      for (const { baseUrl } of row.wires) {
        assert.doesNotMatch(baseUrl, /\/$/)
        if (baseUrl.startsWith('/')) assert.ok(row.baseUrlVariables, 'a host must be given somehow')
        else
          assert.match(
            exampleOf(baseUrl, row),
            row.keyOptional ? /^http:\/\/localhost:\d+/ : /^https:\/\/[a-z0-9.-]+(\/|$)/,
          )
      }
    })

    test('says where its key is and how it is sent', () => {
      assert.ok(row.keyVariables.length > 0)
      for (const name of row.keyVariables) assert.match(name, /^[A-Z][A-Z0-9_]+$/)
      if (!row.keyOptional) assert.match(row.keysAt ?? '', /^https:\/\//)
      assert.equal(row.auth.prefix === 'Bearer ', row.auth.header === 'authorization')
    })

    test('has a default model that the catalogue knows, unless it serves what its owner loads', () => {
      if (row.keyOptional) return assert.equal(row.defaultModel, undefined)
      for (const model of [row.defaultModel, ...row.wires.flatMap((wire) => wire.defaultModel ?? [])]) {
        const facts = factsFor(catalogue, row, wireOf(row, undefined, model), model ?? '')
        assert.ok(facts.price, model)
        assert.ok(facts.contextWindow, model)
      }
    })

    test('has state only on wires that are known to support it', () => {
      for (const { protocol, state } of row.wires) {
        if (!state) continue
        assert.ok(state.lifetimeMs > 0)
        const kinds: Record<string, string> = {
          'openai-responses': 'response-chain',
          'anthropic-messages': 'thread',
          'gemini-interactions': 'interaction',
        }
        assert.equal(state.kind, kinds[protocol])
      }
    })
  })
}

test('a custom server is one call', () => {
  const row = compatible('http://10.0.0.5:9000/v1', 'my-box', 'My box')
  assert.equal(row.wires[0].baseUrl, 'http://10.0.0.5:9000/v1')
  assert.deepEqual(row.keyVariables, ['MY_BOX_API_KEY'])
  assert.equal(row.keyOptional, true)
})

test('rows about models name providers that exist', () => {
  const ids = new Set(rows.map(({ id }) => id))
  for (const row of modelRows) for (const id of row.providers) assert.ok(ids.has(id), id)
})

test('the catalogue has sane numbers for providers that exist', () => {
  assert.match(catalogue.generatedAt, /^\d{4}-\d{2}-\d{2}$/)
  assert.equal(catalogue.sources.length, 2)
  const ids = new Set(rows.map(({ id }) => id))
  for (const [provider, models] of Object.entries(catalogue.models)) {
    assert.ok(ids.has(provider), provider)
    for (const [model, { contextWindow, price }] of Object.entries(models)) {
      const name = `${provider}/${model}`
      assert.ok(contextWindow === undefined || contextWindow >= 1000, name)
      if (!price) continue
      assert.ok(price.input >= 0 && price.output >= 0, name)
      assert.ok((price.cacheRead ?? 0) <= price.input, name)
      assert.ok((price.beyond?.tokens ?? 200_000) >= 32_000, name)
    }
  }
})
