// How much of six requests of one session the provider's cache has: through a door as much as without one.

import assert from 'node:assert/strict'
import test from 'node:test'
import OpenAI from 'openai'
import { serveEmulator } from '../../src/testing.ts'
import { serving } from '../server/serving.ts'

const instructions = `You are careful. ${'Look at each file before you change it, and say what you found. '.repeat(400)}`
const tools: OpenAI.Responses.Tool[] = [
  { type: 'function', name: 'read', strict: false, parameters: { type: 'object', properties: { path: {} } } },
]

/** The share of all input tokens of a session that were read from the cache. */
async function shareOf(baseURL: string, model: string): Promise<number> {
  const openai = new OpenAI({ apiKey: 'key', baseURL, maxRetries: 0 })
  const input: OpenAI.Responses.ResponseInput = []
  const sum = { cached: 0, all: 0 }
  for (let turn = 0; turn < 6; turn++) {
    input.push({ role: 'user', content: `Question ${turn}: ${'what does this do and why is it there? '.repeat(40)}` })
    const answer = await openai.responses.create({
      model,
      instructions,
      tools,
      input,
      store: false,
      prompt_cache_key: 'session',
      include: ['reasoning.encrypted_content'],
    })
    input.push(...(answer.output as OpenAI.Responses.ResponseInput))
    sum.cached += answer.usage?.input_tokens_details.cached_tokens ?? 0
    sum.all += answer.usage?.input_tokens ?? 0
  }
  return sum.cached / sum.all
}

test('the cached share through a door is at least 0.98 of that without one', async (t) => {
  const emulator = await serveEmulator()
  t.after(() => emulator.close())
  const direct = await shareOf(`${emulator.url}/openai/v1`, 'gpt-5.6')
  assert.ok(direct > 0.5, `${direct}`)
  for (const model of ['openai/gpt-5.6', 'anthropic/claude-opus-5', 'google/gemini-3-flash-preview']) {
    const { url } = await serving(t)
    const share = await shareOf(`${url}/v1`, model)
    t.diagnostic(`${model}: ${share.toFixed(3)}, directly ${direct.toFixed(3)}`)
    assert.ok(share >= 0.98 * direct, `${model}: ${share} of ${direct}`)
  }
})
