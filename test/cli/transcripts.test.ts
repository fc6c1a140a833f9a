import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { newHome } from './command-line.ts'

/** The bug that nearly every agent project has on record: a call without a result. */
const broken = [
  { role: 'user', content: 'What time is it?' },
  { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'clock', input: {} }] },
  { role: 'user', content: 'Hello?' },
]

test('check shows what the provider would refuse, with its error messages, and what Synapse would change', async (t) => {
  const { synapse, folder } = newHome(t)
  const file = join(folder, 'broken.json')
  writeFileSync(file, JSON.stringify(broken))
  const { code, out } = await synapse(['check', file, '--for', 'anthropic'])
  assert.equal(code, 1)
  assert.match(out, /`tool_use` ids were found without `tool_result` blocks immediately after: toolu_1/)
  assert.match(out, /Synapse would change:\n.*added.*clock/)
})

test('a piped body is checked like one in a file', async (t) => {
  const { synapse, folder } = newHome(t)
  const body = JSON.stringify({ model: 'claude-opus-5', max_tokens: 16, temperature: 7, messages: broken.slice(0, 1) })
  writeFileSync(join(folder, 'body.json'), body)
  const there = await synapse(['check', 'body.json', '--for', 'anthropic'])
  assert.match(there.out, /temperature/)
  assert.deepEqual(await synapse(['check', '-', '--for', 'anthropic'], { input: body, process: true }), there)
})

test('convert repairs it for any provider, and the notes go to stderr', async (t) => {
  const { synapse, folder } = newHome(t)
  const file = join(folder, 'broken.json')
  writeFileSync(file, JSON.stringify(broken))
  for (const provider of ['anthropic', 'openai', 'google', 'mistral', 'ollama/llama3.3']) {
    const { code, out, err } = await synapse(['convert', file, '--to', provider])
    assert.equal(code, 0, err)
    assert.equal(typeof JSON.parse(out), 'object')
    assert.match(err, /added {4}messages\[1\]: failed result/)
  }
})

test('input that is nested too deeply is one clear sentence', async (t) => {
  const { synapse, folder } = newHome(t)
  const input = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`
  const call = `{"type":"tool_use","id":"toolu_1","name":"clock","input":${input}}`
  writeFileSync(join(folder, 'deep.json'), `[{"role":"user","content":"Hi"},{"role":"assistant","content":[${call}]}]`)
  const { code, err } = await synapse(['import', 'deep.json'])
  assert.equal(code, 2)
  assert.match(err, /^synapse: The input is nested too deeply\.\n$/)
})

test('a byte order mark at the start of a file is ignored', async (t) => {
  const { synapse, folder } = newHome(t)
  writeFileSync(join(folder, 'chat.json'), `\uFEFF${JSON.stringify(broken)}`)
  assert.equal((await synapse(['convert', 'chat.json', '--to', 'openai'])).code, 0)
  assert.equal((await synapse(['import', 'chat.json'])).code, 0)
})

test('convert writes other transcript formats too', async (t) => {
  const { synapse, folder } = newHome(t)
  const file = join(folder, 'broken.json')
  writeFileSync(file, JSON.stringify(broken))
  const { out } = await synapse(['convert', file, '--to', 'openai-chat'])
  const messages = JSON.parse(out) as { role: string }[]
  assert.deepEqual(messages.map((message) => message.role).slice(0, 2), ['user', 'assistant'])
})

const unreadable: [string, string, RegExp][] = [
  ['not JSON', 'hello', /not JSON/],
  ['a bad line in the middle', '{"a":1}\n{oops\n{"b":2}\n', /Line 2/],
  ['JSON that is no conversation', '{"weather":"fine"}', /not a conversation/],
]

for (const [what, text, words] of unreadable) {
  test(`${what} is one clear sentence and exit code 2`, async (t) => {
    const { synapse, folder } = newHome(t)
    const file = join(folder, 'file.json')
    writeFileSync(file, text)
    const { code, err } = await synapse(['convert', file, '--to', 'anthropic'])
    assert.equal(code, 2)
    assert.match(err, words)
    assert.ok(err.includes(file), err)
    assert.equal(err.trimEnd().split('\n').length, 1, err)
  })
}

test('a source without an end is read up to the limit', async (t) => {
  const { synapse } = newHome(t)
  for (const to of ['anthropic', 'codex']) {
    const { code, err } = await synapse(['convert', '/dev/zero', '--to', to])
    assert.equal(code, 2)
    assert.equal(err, 'synapse: /dev/zero is larger than 400 MB.\n')
  }
})

test('a file that is not there, a missing target and an unknown policy are named', async (t) => {
  const { synapse } = newHome(t)
  assert.match((await synapse(['convert', 'nope.json', '--to', 'openai'])).err, /no file nope\.json/)
  assert.match((await synapse(['convert', 'nope.json'])).err, /--to/)
  assert.match((await synapse(['check', 'nope.json'])).err, /--for/)
})
