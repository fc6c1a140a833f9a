// Unchanged coding agents against the emulator: what they can do with a real provider they can do here. Prints a table.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test, type TestContext } from 'node:test'
import { serveEmulator, type ServedEmulator } from '../../src/testing.ts'
import { clients, codex, codexBuiltIn, homeFor, install, run, type Client, type Ended, type Home } from './client.ts'

/** One black pixel. */
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

interface Scene {
  client: Client
  where: Home
  emulator: ServedEmulator
}

const checks: Record<string, (scene: Scene) => Promise<void>> = {
  async prompt({ client, where }) {
    answered(await run(client, where, { prompt: 'What is 17 + 25?' }))
  },
  async 'tool call'({ client, where }) {
    const ended = await run(client, where, { prompt: client.readsFile(where.cwd) })
    assert.match(ended.stdout, /answered:[\s\S]*hello from file/, wordsOf(ended))
  },
  async 'second turn'({ client, where, emulator }) {
    const first = await run(client, where, { prompt: 'I like green tea. What is 1 + 1?' })
    assert.match(first.stdout, /1 \+ 1 = 2/, wordsOf(first))
    const before = emulator.requests.length
    const second = await run(client, where, { prompt: 'What is 2 + 2?', resume: true })
    assert.match(second.stdout, /2 \+ 2 = 4/, wordsOf(second))
    const sent = emulator.requests.slice(before).map(({ body }) => JSON.stringify(body))
    assert.ok(
      sent.some((body) => body.includes('green tea') && body.includes('1 + 1 = 2') && body.includes('2 + 2')),
      'the first turn was sent with the second',
    )
  },
  async image({ client, where, emulator }) {
    const image = join(where.cwd, 'pixel.png')
    writeFileSync(image, Buffer.from(pixel, 'base64'))
    const ended = await run(client, where, { prompt: 'What is 17 + 25?', image })
    answered(ended)
    // As it was, or written again as JPEG.
    const seen = emulator.requests.some(
      ({ body, status }) => status === 200 && /iVBORw0KGgo|\/9j\//.test(JSON.stringify(body)),
    )
    assert.ok(seen, 'the picture was sent')
  },
  'status 429': (scene) => survives(scene, 429),
  'status 500': (scene) => survives(scene, 500),
  async 'cut stream'({ client, where, emulator }) {
    emulator.order({ cutAt: 3 })
    const ended = await run(client, where, { prompt: 'What is 17 + 25?' })
    assert.equal(ended.timedOut, false, 'it came to an end')
    const did = /= 42/.test(ended.stdout) ? 'asks again' : ended.code === 0 ? 'accepts' : 'reports'
    assert.equal(did, client.onCut, wordsOf(ended))
  },
}

async function survives({ client, where, emulator }: Scene, status: number): Promise<void> {
  emulator.order({ status, headers: { 'retry-after': '1' } })
  answered(await run(client, where, { prompt: 'What is 17 + 25?' }))
  assert.ok(emulator.requests.some((request) => request.status === status))
}

function answered(ended: Ended): void {
  assert.equal(ended.timedOut, false, wordsOf(ended))
  assert.match(ended.stdout, /17 \+ 25 = 42/, wordsOf(ended))
}

function wordsOf({ code, stdout, stderr }: Ended): string {
  return `code ${code}\n${stdout.slice(-1500)}\n${stderr.slice(-1500)}`
}

const table = new Map<string, Record<string, string>>()

for (const client of clients) {
  describe(`${client.name} ${client.version}`, () => {
    const row: Record<string, string> = {}
    table.set(`${client.name} ${client.version}`, row)
    for (const [name, check] of Object.entries(checks)) {
      test(name, { timeout: 400_000 }, async (t) => {
        row[name] = 'failed'
        const scene = await sceneOf(t, client)
        await check(scene)
        const refused = scene.emulator.requests.filter(({ status }) => status === 400 || status === 404)
        assert.deepEqual(
          refused.map(({ method, path, status }) => `${method} ${path} ${status}`),
          [],
          'nothing that the client sent was refused',
        )
        row[name] = 'ok'
      })
    }
  })
}

/** One client in its own home, with a file to read, removed after the test. */
async function sceneOf(t: TestContext, client: Client): Promise<Scene> {
  await install(client)
  const emulator = await serveEmulator()
  const where = homeFor(client, emulator.url)
  t.after(async () => {
    await emulator.close()
    where.close()
  })
  writeFileSync(join(where.cwd, 'a.txt'), 'hello from file\n')
  return { client, where, emulator }
}

test('Codex edits a file with its free-form tool', async (t) => {
  const { where } = await sceneOf(t, codex)
  const patch = '*** Begin Patch\n*** Add File: b.txt\n+made by a patch\n*** End Patch'
  const ended = await run(codex, where, { prompt: `use the tool apply_patch with ${patch}` })
  assert.equal(readFileSync(join(where.cwd, 'b.txt'), 'utf8'), 'made by a patch\n', wordsOf(ended))
})

test('Codex works with its built-in provider, which tries a WebSocket first', async (t) => {
  const { where, emulator } = await sceneOf(t, codexBuiltIn)
  const ended = await run(codexBuiltIn, where, { prompt: codex.readsFile(where.cwd) })
  assert.match(ended.stdout, /hello from file/, wordsOf(ended))
  assert.match(JSON.stringify(emulator.requests.at(-1)?.body), /internal_chat_message_metadata_passthrough/)
  assert.deepEqual(
    emulator.requests.map(({ status }) => status),
    [200, 200],
  )
})

after(() => {
  const names = Object.keys(checks)
  const lines = [...table].map(([client, row]) => [client, ...names.map((name) => row[name] ?? '-')])
  console.log(['', ['client', ...names], ...lines].map((line) => [line].flat().join(' | ')).join('\n'))
})
