// Unchanged coding agents through the front doors, with a different provider than their own.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import type { Log } from '../../src/server/log.ts'
import { codex, codexBuiltIn, codexNewest, gemini, opencode, opencodeOn, pi, qwen, run, type Client } from './client.ts'
import { assertAccepted, listed, sceneOf, wordsOf, type Scene } from './door-scene.ts'

const pairs: [Client, string][] = [
  [codex, 'anthropic/claude-opus-5'],
  [codex, 'google/gemini-3-flash-preview'],
  [codex, 'mistral/mistral-large-latest'],
  [opencode, 'openai/gpt-5.6'],
  [gemini, 'anthropic/claude-opus-5'],
  [qwen, 'anthropic/claude-opus-5'],
  [pi, 'anthropic/claude-opus-5'],
]

for (const [client, model] of pairs) {
  const [provider = ''] = model.split('/')

  describe(`${client.name} ${client.version} over ${model}`, () => {
    test('calls its own tool', { timeout: 400_000 }, async (t) => {
      const scene = await sceneOf(t, client, model)
      const ended = await run(client, scene.where, { prompt: client.readsFile(scene.where.cwd) })
      assert.match(ended.stdout, /answered:[\s\S]*hello from file/, wordsOf(ended))
      assertAccepted(scene, provider)
    })

    test('continues its session in the same conversation', { timeout: 400_000 }, async (t) => {
      const scene = await sceneOf(t, client, model)
      const first = await run(client, scene.where, { prompt: 'I like green tea. What is 1 + 1?' })
      assert.match(first.stdout, /1 \+ 1 = 2/, wordsOf(first))
      const second = await run(client, scene.where, { prompt: 'What is 2 + 2?', resume: true })
      assert.match(second.stdout, /2 \+ 2 = 4/, wordsOf(second))
      assertAccepted(scene, provider)
      assert.ok(await hasBoth(scene), 'one conversation has both turns')
    })
  })
}

for (const model of ['anthropic/claude-opus-5', 'google/gemini-3-flash-preview', 'mistral/mistral-large-latest']) {
  test(`Codex edits a file with its free-form tool, over ${model}`, { timeout: 400_000 }, (t) => editsFile(t, model))
}

async function editsFile(t: TestContext, model: string): Promise<void> {
  const scene = await sceneOf(t, codex, model)
  // On the wire of the provider the tool is a function with one text.
  const input = '*** Begin Patch\n*** Add File: b.txt\n+made by a patch\n*** End Patch'
  const ended = await run(codex, scene.where, { prompt: `use the tool apply_patch with ${JSON.stringify({ input })}` })
  assert.equal(readFileSync(join(scene.where.cwd, 'b.txt'), 'utf8'), 'made by a patch\n', wordsOf(ended))
  assertAccepted(scene, model.split('/', 1)[0] ?? '')
}

for (const model of ['anthropic/claude-opus-5', 'mistral/mistral-large-latest', 'openai/gpt-5.6']) {
  test(`Codex runs the tools that its newest models get as items, over ${model}`, { timeout: 400_000 }, async (t) => {
    const scene = await sceneOf(t, codexNewest, model)
    const ended = await run(codexNewest, scene.where, { prompt: codexNewest.readsFile(scene.where.cwd) })
    assert.match(ended.stdout, /answered:[\s\S]*hello from file/, wordsOf(ended))
    assertAccepted(scene, model.split('/', 1)[0] ?? '')
  })
}

test('Codex with its built-in provider asks over a WebSocket', { timeout: 400_000 }, async (t) => {
  const statuses: unknown[] = []
  const log: Log = ({ status }) => statuses.push(status)
  const scene = await sceneOf(t, codexBuiltIn, 'anthropic/claude-opus-5', { log })
  const ended = await run(codexBuiltIn, scene.where, { prompt: codex.readsFile(scene.where.cwd) })
  assert.match(ended.stdout, /answered:[\s\S]*hello from file/, wordsOf(ended))
  assert.ok(statuses.includes(101))
  assertAccepted(scene, 'anthropic')
})

/** One black pixel. */
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

for (const client of [codex, opencode, gemini, qwen, pi]) {
  test(`a picture of ${client.name} reaches another provider`, { timeout: 400_000 }, async (t) => {
    const scene = await sceneOf(t, client, 'mistral/mistral-large-latest')
    const image = join(scene.where.cwd, 'pixel.png')
    writeFileSync(image, Buffer.from(pixel, 'base64'))
    const ended = await run(client, scene.where, { prompt: 'What is 17 + 25?', image })
    assert.match(ended.stdout, /17 \+ 25 = 42/, wordsOf(ended))
    assert.ok(scene.emulator.requests.some(({ body }) => /iVBORw0KGgo|\/9j\//.test(JSON.stringify(body))))
    assertAccepted(scene, 'mistral')
  })
}

test(
  'Codex offers its sub-agents to another provider, whose thinking is sent back unchanged',
  { timeout: 400_000 },
  async (t) => {
    const scene = await sceneOf(t, codexNewest, 'anthropic/claude-opus-5')
    const ended = await run(codexNewest, scene.where, { prompt: codexNewest.readsFile(scene.where.cwd) })
    assert.match(ended.stdout, /hello from file/, wordsOf(ended))
    const bodies = scene.emulator.requests.map(({ body }) => JSON.stringify(body))
    assert.ok(bodies.some((body) => body.includes('spawn_agent')))
    const signatures = bodies.flatMap((body) => body.match(/"signature":"[^"]+"/g) ?? [])
    assert.ok(signatures.length > 0 && signatures.every((one) => !one.includes('SynapseSealed')))
    assertAccepted(scene, 'anthropic')
  },
)

test('one session of Codex over another provider each turn is one conversation', { timeout: 600_000 }, async (t) => {
  const doorModel = { model: 'anthropic/claude-opus-5', always: true }
  const scene = await sceneOf(t, codex, doorModel.model, { doorModel })
  const models = ['anthropic/claude-opus-5', 'google/gemini-3-flash-preview', 'openai/gpt-5.6']
  for (const [i, model] of models.entries()) {
    doorModel.model = model
    const ended = await run(codex, scene.where, { prompt: `What is ${i} + 40?`, resume: i > 0 })
    assert.match(ended.stdout, new RegExp(`${i} \\+ 40 = ${i + 40}`), wordsOf(ended))
  }
  assert.deepEqual([...new Set(scene.emulator.requests.map(({ status }) => status))], [200])
  const asked = new Set(scene.emulator.requests.map(({ path }) => path.split('/')[1]))
  assert.deepEqual(asked, new Set(['anthropic', 'google', 'openai']))
  assert.equal((await listed(scene)).length, 1)
})

test('Codex that shortens its history before each turn stays in its conversation', { timeout: 600_000 }, async (t) => {
  const compacting: Client = {
    ...codex,
    setUp(baseUrl) {
      const { files, env } = codex.setUp(baseUrl)
      const limits = 'model_auto_compact_token_limit = 9000\nmodel_context_window = 20000\n'
      return { files: { ...files, '.codex/config.toml': limits + files['.codex/config.toml'] }, env }
    },
  }
  const scene = await sceneOf(t, compacting, 'anthropic/claude-opus-5')
  for (const turn of [0, 1, 2]) {
    const ended = await run(compacting, scene.where, { prompt: `What is ${turn} + 40?`, resume: turn > 0 })
    assert.equal(ended.code, 0, wordsOf(ended))
  }
  const summaries = scene.emulator.requests.filter(({ body }) => JSON.stringify(body).includes('CHECKPOINT COMPACTION'))
  assert.ok(summaries.length >= 2, `${summaries.length} summaries`)
  assertAccepted(scene, 'anthropic')
  assert.equal((await listed(scene)).length, 1)
})

for (const [wire, model] of [
  ['openai', 'anthropic/claude-opus-5'],
  ['google', 'anthropic/claude-opus-5'],
] as const) {
  test(
    `opencode with its ${wire} client over ${model}: thinking of tool turns is sent back`,
    { timeout: 400_000 },
    async (t) => {
      const client = opencodeOn(wire)
      const scene = await sceneOf(t, client, model)
      const ended = await run(client, scene.where, { prompt: client.readsFile(scene.where.cwd) })
      assert.match(ended.stdout, /hello from file/, wordsOf(ended))
      assertAccepted(scene, 'anthropic')
      const bodies = scene.emulator.requests.map(({ body }) => JSON.stringify(body))
      assert.ok(bodies.some((body) => body.includes('"tool_result"') && /"signature":"[^"]+"/.test(body)))
      assert.ok(bodies.every((body) => !body.includes('SynapseSealed')))
    },
  )
}

const sessions: Client[] = [
  codex,
  codexNewest,
  codexBuiltIn,
  opencode,
  opencodeOn('openai'),
  opencodeOn('google'),
  gemini,
  qwen,
  pi,
]
let steps = 0

describe('every step of a session finds its conversation', () => {
  for (const [i, client] of sessions.entries()) {
    test(`${client.name} (${i + 1})`, { timeout: 600_000 }, async (t) => {
      const scene = await sceneOf(t, client, 'anthropic/claude-opus-5')
      const sums = [21, 22, 23].map((n) => `What is 20 + ${n}?`)
      const prompts = [client.readsFile(scene.where.cwd), ...sums]
      for (const [turn, prompt] of prompts.entries()) {
        const ended = await run(client, scene.where, { prompt, resume: turn > 0 })
        assert.match(ended.stdout, turn === 0 ? /hello from file/ : /= 4[123]/, wordsOf(ended))
      }
      const [id = '', ...others] = await listed(scene)
      assert.deepEqual(others, [])
      const count = (await scene.store.exchanges('local', id)).items.length
      assert.ok(count >= 5, `${count} requests`)
      steps += count - 1
    })
  }

  test('and there are at least 34', (t) => {
    t.diagnostic(`${steps} steps`)
    assert.ok(steps >= 34, `${steps} steps`)
  })
})

/** Whether some conversation has both turns on its current branch, each with a reply. */
async function hasBoth({ store }: Scene): Promise<boolean> {
  for (const { head } of (await store.conversations('local')).items) {
    const path = head === null ? [] : await store.history('local', head)
    const said = JSON.stringify(path.map(({ message }) => message.parts))
    if (said.includes('1 + 1 = 2') && said.includes('2 + 2 = 4')) return true
  }
  return false
}
