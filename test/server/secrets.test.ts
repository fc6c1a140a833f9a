import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import type { Log } from '../../src/server/log.ts'
import { writeLog } from '../../src/server/log.ts'
import { createKey } from '../../src/server/keys.ts'
import { endpointFinder } from '../../src/runtime/open.ts'
import { rows } from '../../src/providers/rows.ts'
import { createEmulator } from '../../src/testing.ts'
import { startServer } from '../../src/server/serve.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { tempFolder } from '../store/temp.ts'
import { furnish, fill, queries, routesOf, samples } from './every-route.ts'
import { apiAt, newConversation, say } from './serving.ts'

test('keys of providers and of clients are in no answer, log, error, export or file', async (t) => {
  const folder = tempFolder(t)
  const emulator = createEmulator()
  const canaries: Record<string, string> = {}
  const env: Record<string, string> = {}
  for (const [i, row] of rows.entries()) {
    const [name] = row.keyVariables
    if (name === undefined) continue
    canaries[row.id] = env[name] = `sk-canary-${i}-0123456789abcdefghij`
  }
  // With the real keys in the real headers, and only the last step to the emulator instead of out into the world.
  const sent: string[] = []
  const outside: typeof fetch = (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const row = rows.find(({ wires }) => wires.some(({ baseUrl }) => baseUrl.includes(url.host)))
    sent.push(JSON.stringify([...new Headers(init?.headers)]))
    return emulator.fetch(`http://emulator.invalid/${row?.id}${url.pathname}${url.search}`, init)
  }
  let logged = ''
  const log: Log = writeLog({ write: (text) => (logged += text) }, () => true)
  const store = await openSqliteStore(join(folder, 'chats.db'))
  const { key } = await createKey(store, { owner: 'alice' })
  const server = await startServer({
    store,
    endpoint: await endpointFinder({ env, transport: { fetch: outside, sleep: async () => {} } }),
    rows,
    env,
    version: '0',
    defaultModel: 'openai/gpt-5.6',
    requireKeys: true,
    log,
  })
  const api = apiAt(server.url, { authorization: `Bearer ${key}` })
  const heard: string[] = []
  const listening: typeof api = async (...args) => {
    const answer = await api(...args)
    heard.push(answer.text, JSON.stringify([...answer.headers]))
    return answer
  }
  try {
    const serving = { server, url: server.url, store, emulator, api: listening }
    const things = await furnish(serving, listening, 'alice')
    const id = things['conversations']?.['id'] ?? ''
    // A provider that repeats the key it was sent, as some do.
    const echoed = { error: { message: `Incorrect API key provided: ${canaries['openai']}` } }
    emulator.order({ status: 401, body: echoed })
    await say({ api: listening }, id, 'Hello')
    emulator.order({ errorAt: 2, body: echoed })
    await say({ api: listening }, id, 'Hello again')
    await say(
      { api: listening },
      await newConversation(listening, { settings: { model: 'anthropic/claude-opus-5' } }),
      'Hi',
    )
    for (const { method, path, body } of await routesOf(server.url)) {
      if (path.endsWith('/watch') || method === 'DELETE') continue
      await listening(
        method,
        fill(path, things) + (queries[path] ?? ''),
        body === undefined ? undefined : samples[body],
      )
    }
    for (const format of ['synapse', 'openai-chat', 'anthropic-messages', 'gemini-generate']) {
      await listening('GET', `/api/conversations/${id}/export?format=${format}`)
    }
    const targets = ['openai', 'anthropic', 'google', 'mistral', 'deepseek', 'groq', 'xai', 'openrouter']
    for (const provider of targets) {
      await listening('POST', `/api/conversations/${id}/prepare`, { targets: [{ model: `${provider}/some-model` }] })
    }
    await listening('GET', '/api/status', undefined, { 'x-api-key': 'syn_wrong' })
  } finally {
    await server.stop(0)
    await store.close()
  }
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'))
  const everything: [string, string][] = [
    ['answers', heard.join('\n')],
    ['log', logged],
    ['files', files.join('\n')],
  ]
  for (const [where, text] of everything) {
    for (const [provider, canary] of Object.entries(canaries)) {
      assert.equal(text.includes(canary), false, `the key of ${provider} is in the ${where}`)
    }
    assert.equal(text.includes(key), false, `the client's key is in the ${where}`)
  }
  assert.ok(
    sent.some((headers) => headers.includes(canaries['openai'] ?? '?')),
    'the key was really sent',
  )
  assert.ok(emulator.requests.some(({ status }) => status === 200))
  assert.match(logged, /"event":"request"/)
  assert.doesNotMatch(logged, /secret of alice|Hello/, 'what was said is not in the log')
})
