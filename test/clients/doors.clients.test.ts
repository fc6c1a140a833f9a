// Unchanged coding agents through the front doors, with another provider than their own behind them.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { serving, type Serving } from '../server/serving.ts'
import { codex, codexBuiltIn, gemini, homeFor, install, opencode, pi, qwen, run } from './client.ts'
import type { Client, Ended, Home } from './client.ts'

interface Scene extends Serving {
  where: Home
}

async function sceneOf(t: TestContext, client: Client, model: string): Promise<Scene> {
  await install(client)
  const server = await serving(t, { doorModel: { model, always: true } })
  const where = homeFor(client, server.url)
  t.after(() => where.close())
  writeFileSync(join(where.cwd, 'a.txt'), 'hello from file\n')
  return { ...server, where }
}

/** No request to the provider was refused, and all of them went to it. */
function assertAccepted({ emulator }: Scene, provider: string): void {
  assert.ok(emulator.requests.length > 0)
  const refused = emulator.requests
    .filter(({ status }) => status !== 200)
    .map(({ path, status }) => `${path} ${status}`)
  assert.deepEqual(refused, [])
  assert.ok(emulator.requests.every(({ path }) => path.startsWith(`/${provider}/`)))
}

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
    test('calls a tool of its own', { timeout: 400_000 }, async (t) => {
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

test('Codex edits a file with its free-form tool, over Anthropic', { timeout: 400_000 }, async (t) => {
  const scene = await sceneOf(t, codex, 'anthropic/claude-opus-5')
  // On the wire of the provider the tool is a function with one text.
  const input = '*** Begin Patch\n*** Add File: b.txt\n+made by a patch\n*** End Patch'
  const ended = await run(codex, scene.where, { prompt: `use the tool apply_patch with ${JSON.stringify({ input })}` })
  assert.equal(readFileSync(join(scene.where.cwd, 'b.txt'), 'utf8'), 'made by a patch\n', wordsOf(ended))
  assertAccepted(scene, 'anthropic')
})

test('Codex with its built-in provider falls back from a WebSocket', { timeout: 400_000 }, async (t) => {
  const scene = await sceneOf(t, codexBuiltIn, 'anthropic/claude-opus-5')
  const ended = await run(codexBuiltIn, scene.where, { prompt: codex.readsFile(scene.where.cwd) })
  assert.match(ended.stdout, /hello from file/, wordsOf(ended))
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

function wordsOf({ code, stdout, stderr }: Ended): string {
  return `code ${code}\n${stdout.slice(-1500)}\n${stderr.slice(-1500)}`
}
