// `synapse probe` as a command.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { newHome } from '../cli/command-line.ts'

test('probe --offline shows a table, writes a report and ends with 0', async (t) => {
  const { synapse, folder } = newHome(t)
  const { code, out, err } = await synapse(['probe', 'mistral', 'ollama', '--offline', '--report', 'report.md'])
  assert.equal(code, 0, err)
  assert.match(out, /^mistral +mistral-chat +plain +as expected/m)
  assert.match(out, /^ollama +ollama-chat +O-1 +as expected/m)
  assert.match(out, /^\d+ as expected, \$0$/m)
  assert.match(readFileSync(join(folder, 'report.md'), 'utf8'), /## Differences\n\nNone\./)
})

test('probe --json has one object per request', async (t) => {
  const { code, out } = await newHome(t).synapse([
    'probe',
    'google',
    '--protocol',
    'gemini-generate',
    '--offline',
    '--json',
  ])
  assert.equal(code, 0)
  const rows: unknown = JSON.parse(out)
  assert.ok(Array.isArray(rows) && rows.length >= 25)
  assert.deepEqual(rows[0], {
    provider: 'google',
    wire: 'gemini-generate',
    model: 'gemini-3.8-flash',
    check: 'plain',
    about: 'a question',
    expected: 'accepted',
    outcome: 'as-expected',
    observed: 'accepted',
    cost: 0,
    status: 200,
  })
})

test('when not interactive, probe shows the price and sends nothing', async (t) => {
  const { code, err } = await newHome(t).synapse(['probe', 'anthropic'], { env: { ANTHROPIC_API_KEY: 'not-a-key' } })
  assert.equal(code, 2)
  assert.match(err, /^Anthropic, claude-opus-5: \d+ requests, about \$0\.0\d+, at most \$0\.05\d*$/m)
  assert.match(err, /Nothing was sent/)
})

for (const [what, args, says] of [
  ['without a provider and a key', ['probe'], /Name a provider/],
  ['of a provider that does not exist', ['probe', 'nowhere'], /There is no provider "nowhere"/],
  ['of a server without a model', ['probe', 'vllm'], /synapse probe vllm\/MODEL/],
  ['over a wire that the provider does not support', ['probe', 'mistral', '--protocol', 'x'], /does not support "x"/],
  ['with a budget that is no number', ['probe', 'mistral', '--budget', 'little'], /--budget takes an amount/],
] as const) {
  test(`a probe ${what} is one sentence`, async (t) => {
    const { code, err } = await newHome(t).synapse([...args])
    assert.equal(code, 2)
    assert.match(err, says)
  })
}
