import assert from 'node:assert/strict'
import test from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { decoded, delta } from './target.ts'

interface Row {
  host: string
  chunk: JsonObject
  counted: [input: number, output: number, cacheRead: number, cacheWrite: number, reasoning: number]
}

const rows: Row[] = [
  {
    host: 'OpenAI, with reads, writes and reasoning inside the totals',
    chunk: {
      usage: {
        prompt_tokens: 4020,
        completion_tokens: 70,
        total_tokens: 4090,
        prompt_tokens_details: { cached_tokens: 1024, cache_write_tokens: 2000 },
        completion_tokens_details: { reasoning_tokens: 64 },
      },
    },
    counted: [4020, 70, 1024, 2000, 64],
  },
  {
    host: 'DeepSeek, in fields of its own',
    chunk: {
      usage: {
        prompt_tokens: 100,
        completion_tokens: 5,
        total_tokens: 105,
        prompt_cache_hit_tokens: 64,
        prompt_cache_miss_tokens: 36,
      },
    },
    counted: [100, 5, 64, 0, 0],
  },
  {
    host: 'xAI, where the completion leaves reasoning out',
    chunk: {
      usage: {
        prompt_tokens: 288,
        completion_tokens: 27,
        total_tokens: 665,
        prompt_tokens_details: { cached_tokens: 7 },
        completion_tokens_details: { reasoning_tokens: 350 },
      },
    },
    counted: [288, 377, 7, 0, 350],
  },
  {
    host: 'Grok on Azure, where the prompt leaves cached tokens out',
    chunk: {
      usage: {
        prompt_tokens: 24,
        completion_tokens: 2,
        total_tokens: 26,
        prompt_tokens_details: { cached_tokens: 161 },
      },
    },
    counted: [185, 2, 161, 0, 0],
  },
  {
    host: 'Gemini behind a gateway, where the total hides the reasoning too',
    chunk: {
      usage: {
        prompt_tokens: 61,
        completion_tokens: 10,
        total_tokens: 71,
        completion_tokens_details: { reasoning_tokens: 96 },
        cache_creation_input_tokens: 0,
      },
    },
    counted: [61, 106, 0, 0, 96],
  },
  {
    host: 'Groq, in x_groq alone',
    chunk: { x_groq: { id: 'req_1', usage: { prompt_tokens: 339, completion_tokens: 58, total_tokens: 397 } } },
    counted: [339, 58, 0, 0, 0],
  },
  {
    host: 'Moonshot, in the choice',
    chunk: {
      choices: [
        {
          index: 0,
          delta: {},
          finish_reason: 'stop',
          usage: { prompt_tokens: 20, completion_tokens: 30, total_tokens: 50, cached_tokens: 10 },
        },
      ],
    },
    counted: [20, 30, 10, 0, 0],
  },
  {
    host: 'a host that sends null for what it does not count',
    chunk: {
      usage: {
        prompt_tokens: 40,
        completion_tokens: 2,
        total_tokens: 42,
        prompt_tokens_details: null,
        completion_tokens_details: null,
      },
    },
    counted: [40, 2, 0, 0, 0],
  },
]

for (const { host, chunk, counted } of rows) {
  test(`tokens are counted alike for ${host}`, () => {
    const { usage } = decoded([delta({ content: 'Hi' }), delta({}, 'stop'), { choices: [], ...chunk }])
    const [input, output, cacheRead, cacheWrite, reasoning] = counted
    const { raw, ...rest } = usage ?? {}
    assert.deepEqual(rest, { input, output, cacheRead, cacheWrite, reasoning })
    assert.ok(raw)
  })
}
