import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createKey, listKeys, revokeKey, type NewKey } from '../../src/server/keys.ts'
import { startServer } from '../../src/server/serve.ts'
import { routes } from '../../src/server/app.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { fill, furnish, queries, routesOf, samples } from './every-route.ts'
import { apiAt, newConversation, readEvents, runIn, serving, type ServingOptions } from './serving.ts'

async function withKeys(t: TestContext, keys: NewKey[], options: ServingOptions = {}) {
  const store = openMemoryStore()
  const made = await Promise.all(keys.map((key) => createKey(store, key)))
  const server = await serving(t, { ...options, store, requireKeys: true })
  const apis = made.map(({ key }) => apiAt(server.url, { authorization: `Bearer ${key}` }))
  return { ...server, keys: made.map(({ key }) => key), apis }
}

/** What belongs to no owner: only a person on the machine of the server may change it. */
const ofTheServer = new Set(['providers', 'mcp'])

test('no route gives one owner access to data of another', async (t) => {
  const server = await withKeys(t, [{ owner: 'alice' }, { owner: 'bob' }])
  const [alice = server.api, bob = server.api] = server.apis
  const things = await furnish(server, alice, 'alice')
  const id = things['conversations']?.['id'] ?? ''
  const known = await routesOf(server.url)
  const whole = async () =>
    JSON.stringify(
      await Promise.all(
        ['', '/entries', '/tree', '/exchanges', '/overlays'].map(
          async (part) => (await alice('GET', `/api/conversations/${id}${part}`)).text,
        ),
      ),
    )
  const before = await whole()
  const mine = Object.entries(things)
    .flatMap(([kind, names]) => (ofTheServer.has(kind) ? [] : Object.values(names)))
    .filter((name) => name !== 'call-1')

  for (const { method, path, body } of known) {
    if (body !== undefined) assert.ok(body in samples, `a sample body for ${body}`)
    const sample =
      body === undefined
        ? undefined
        : JSON.parse(JSON.stringify(samples[body]).replace('ENTRY', things['conversations']?.['entryId'] ?? ''))
    const at = fill(path, things) + (queries[path] ?? '')
    const answer = await bob(method, at, sample)
    // A chat that was never started has nothing to read either.
    const isChat = path.startsWith('/api/chat/')
    const refusals = isChat ? [204] : ofTheServer.has(path.split('/')[2] ?? '') ? [403, 404] : [404]
    if (path.includes('{')) assert.ok(refusals.includes(answer.status), `${method} ${path}: ${answer.text}`)
    for (const name of mine) {
      const said = answer.text.replace(at, '').replaceAll(/There is no [a-z ]+ [^"]*/g, '')
      assert.equal(said.includes(name), false, `${method} ${path} tells ${name}`)
    }
    assert.doesNotMatch(answer.text, /of alice/, `${method} ${path}`)
    if (method === 'GET' && !path.endsWith('/watch'))
      assert.equal((await alice(method, at)).status, isChat ? 204 : 200, `${method} ${path}`)
  }
  assert.equal(await whole(), before)
  const stolen = await bob('POST', '/api/conversations', { from: { conversationId: id } })
  assert.equal(stolen.status, 404)
  const own = await newConversation(bob)
  const blob = {
    type: 'media',
    mediaType: 'image/png',
    data: { kind: 'blob', sha256: things['blobs']?.['sha256'] ?? '' },
  }
  assert.equal((await bob('POST', `/api/conversations/${own}/messages`, { parts: [blob] })).status, 404)
  assert.equal(
    (await bob('POST', `/api/conversations/${own}/fork`, { entryId: things['entries']?.['id'] ?? '' })).status,
    404,
  )
})

test('every route is in the OpenAPI document, declares its access, and refuses requests without a key', async (t) => {
  const { url } = await withKeys(t, [{ owner: 'alice' }])
  const known = await routesOf(url)
  assert.deepEqual(
    known.map(({ method, path }) => `${method} ${path}`).sort(),
    routes.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort(),
  )
  const wrong = `syn_${'A'.repeat(43)}`
  const forms: Record<string, string>[] = [
    {},
    { authorization: `Bearer ${wrong}` },
    { 'x-api-key': wrong },
    { 'x-goog-api-key': wrong },
    { cookie: `key=${wrong}` },
    { authorization: 'Basic YTpi' },
    { 'x-api-key': `' OR '1'='1` },
    { 'x-forwarded-user': 'alice' },
  ]
  for (const [i, { method, path, access }] of known.entries()) {
    assert.match(access, /^(read|write)$/, path)
    const form = forms[i % forms.length] ?? {}
    const answer = await apiAt(url, form)(method, path.replaceAll(/\{\w+\}/g, 'x'), method === 'GET' ? undefined : {})
    // The number of wrong guesses is limited too.
    assert.ok(answer.status === 401 || answer.status === 429, `${method} ${path}: ${answer.status}`)
  }
})

test('each form of sending a wrong key, or none, is refused with one sentence', async (t) => {
  const { url, keys } = await withKeys(t, [{ owner: 'alice' }, { owner: 'alice' }])
  const [right = '', other = ''] = keys
  const status = async (headers: Record<string, string>, path = '/api/status') =>
    (await apiAt(url, headers)('GET', path)).status
  assert.equal(await status({ authorization: `Bearer ${right}` }), 200)
  assert.equal(await status({ authorization: `bearer ${right}` }), 200)
  assert.equal(await status({ 'x-api-key': right }), 200)
  assert.equal(await status({ authorization: `Bearer ${right}`, 'x-api-key': right }), 200)
  assert.equal(await status({ authorization: `Bearer ${right}`, 'x-api-key': other }), 401)
  assert.equal(await status({}, `/api/status?key=${right}`), 401)
  assert.equal(await status({ cookie: `authorization=Bearer ${right}` }), 401)
  assert.equal(await status({ authorization: right }), 401)
  assert.equal(await status({ 'x-api-key': `${right.slice(0, -1)}${right.endsWith('A') ? 'B' : 'A'}` }), 401)
  assert.equal(await status({ 'x-api-key': right.slice(0, 20) }), 401)
  const { body, headers } = await apiAt(url)('GET', '/api/status')
  assert.deepEqual(body, {
    error: { kind: 'auth', message: 'A key is needed: send it as "Authorization: Bearer syn_…".' },
  })
  assert.match(headers.get('www-authenticate') ?? '', /^Bearer/)
})

test('no way of writing a path leads around the check', async (t) => {
  const { url, apis } = await withKeys(t, [{ owner: 'alice' }], { limits: {} })
  const [alice = apiAt(url)] = apis
  const id = await newConversation(alice, { title: 'Secret' })
  const path = `/api/conversations/${id}`
  const variants = [
    `/${path}`,
    `/.${path}`,
    `/x/..${path}`,
    path.replace('/api/', '/api//'),
    path.replace('/api/', '/API/'),
    path.replace('/api/', '/api%2F'),
    path.replace('/api/', '/%61pi/'),
    path.replace('/api', '/api/.'),
    path.replace('/conversations/', '/conversations%2f'),
    path.replace('/conversations/', '/conversations/..%2f..%2fconversations/'),
    `${path}/`,
    `${path}%00`,
    `${path};a=b`,
    `${path}?x=/health`,
    `/health/..${path}`,
    `/health%2f..${path}`,
    `/openapi.json/..${path}`,
    `/index.html/../..${path}`,
    `/c/..${path}`,
    `\\api\\conversations\\${id}`,
  ]
  for (const variant of variants) {
    const { status, text } = await rawGet(url, variant)
    assert.ok([400, 401, 403, 404, 429].includes(status), `${variant}: ${status}`)
    assert.doesNotMatch(text, /Secret/, variant)
  }
})

test('a key that may only read changes nothing', async (t) => {
  const server = await withKeys(t, [{ owner: 'alice' }, { owner: 'alice', access: 'read' }])
  const [write = server.api, read = server.api] = server.apis
  const things = await furnish(server, write, 'alice')
  for (const { method, path, access, body } of await routesOf(server.url)) {
    if (path.endsWith('/watch')) continue
    const sample = body === undefined ? undefined : samples[body]
    const { status } = await read(method, fill(path, things) + (queries[path] ?? ''), sample)
    assert.ok((access === 'write' ? [403] : [200, 204]).includes(status), `${method} ${path}`)
  }
})

test('a key is valid for its models, its time and its budget only', async (t) => {
  const server = await withKeys(t, [
    { owner: 'alice', models: ['openai/*', 'anthropic/claude-haiku*5'] },
    { owner: 'alice', expiresAt: new Date(Date.now() - 1000).toISOString() },
    { owner: 'alice', budget: 0.000_001 },
    { owner: 'alice' },
  ])
  const [limited = server.api, late = server.api, poor = server.api, any = server.api] = server.apis
  const id = await newConversation(limited)
  const ask = (api: typeof any, model: string) =>
    api('POST', `/api/conversations/${id}/messages`, { text: 'Hello', settings: { model } })
  assert.equal((await ask(limited, 'anthropic/claude-opus-5')).status, 403)
  // The name of a provider alone means its usual model.
  assert.equal((await ask(limited, 'anthropic')).status, 403)
  assert.equal((await limited('PATCH', `/api/conversations/${id}`, { settings: { model: 'mistral/x' } })).status, 403)
  const others = [
    { route: { answer: 'mistral/x' } },
    { route: { tools: 'anthropic/claude-opus-5' } },
    { fallback: ['openai', 'mistral/x'] },
    { fallback: [{ model: 'mistral/x' }] },
  ]
  for (const settings of others) {
    const refused = await limited('POST', `/api/conversations/${id}/messages`, {
      text: 'Hello',
      settings: { model: 'openai/gpt-5.6', ...settings },
    })
    assert.equal(refused.status, 403, JSON.stringify(settings))
    assert.match(refused.text, /This key is not allowed to use \w+\/[\w-]+; it may use openai\/\*/)
  }
  const allowed = await ask(limited, 'openai/gpt-5.6')
  assert.equal(allowed.status, 202)
  const events = (runId: string, key: string) =>
    readEvents(`${server.url}/api/runs/${runId}/events`, { headers: { 'x-api-key': key } })
  await events(runIn(allowed), server.keys[0] ?? '')

  const expired = await late('GET', '/api/status')
  assert.deepEqual([expired.status, expired.body['error']], [401, { kind: 'auth', message: 'This key has expired.' }])

  const first = await ask(poor, 'anthropic/claude-opus-5')
  assert.equal(first.status, 202)
  const end = (await events(runIn(first), server.keys[2] ?? '')).at(-1)
  assert.match(JSON.stringify(end?.data['failure']), /budget of this key/)
  const second = await ask(poor, 'anthropic/claude-opus-5')
  assert.deepEqual([second.status, (second.body['error'] as { kind: string }).kind], [429, 'quota'])
  assert.equal(second.headers.get('retry-after'), null, 'waiting would not help')
  assert.equal((await ask(poor, 'openai/a-model-without-a-price')).status, 403)

  const key = (await listKeys(server.store)).find(({ budget, models, expiresAt }) => !budget && !models && !expiresAt)
  assert.equal((await any('GET', '/api/status')).status, 200)
  assert.equal(await revokeKey(server.store, key?.id ?? ''), true)
  assert.equal((await any('GET', '/api/status')).status, 401)
})

test('keys are stored as hashes only', async () => {
  const store = openMemoryStore()
  const { key, about } = await createKey(store, { owner: 'alice', name: 'laptop' })
  assert.match(key, /^syn_[A-Za-z0-9_-]{43}$/)
  const records = JSON.stringify((await store.records('synapse:server', 'api-key')).items)
  assert.equal(records.includes(key) || records.includes(key.slice(4, 24)), false)
  assert.deepEqual(await listKeys(store), [about])
  await assert.rejects(createKey(store, { owner: 'synapse:server' }), /cannot be an owner/)
})

test('a page of another site reaches nothing, by address or by its own host name', async (t) => {
  const { url, api } = await serving(t)
  const { host } = new URL(url)
  const status = async (headers: Record<string, string>, method = 'GET') => {
    const answer = await rawGet(url, '/api/conversations', { host, ...headers }, method)
    return answer.status
  }
  assert.equal(await status({}), 200)
  assert.equal(await status({ origin: url }), 200)
  assert.equal(await status({ host: `localhost:${host.split(':')[1]}` }), 200)
  assert.equal(await status({ origin: 'http://evil.example' }), 403)
  assert.equal(await status({ origin: 'null' }), 403)
  assert.equal(await status({ origin: `http://${host}.evil.example` }), 403)
  assert.equal(await status({ host: 'evil.example' }), 403)
  assert.equal(await status({ host: `evil.example:${host.split(':')[1]}` }), 403)
  assert.equal(await status({ host: '127.0.0.1.evil.example' }), 403)
  assert.equal(await status({ 'sec-fetch-site': 'cross-site' }), 403)
  assert.equal(await status({ 'sec-fetch-site': 'same-site' }), 403)
  assert.equal(await status({ 'sec-fetch-site': 'same-origin' }), 200)
  const preflight = await api('OPTIONS', '/api/conversations', undefined, { origin: 'http://evil.example' })
  assert.equal(preflight.headers.get('access-control-allow-origin'), null)
})

test('elsewhere than on loopback it does not start without keys', async () => {
  const store = openMemoryStore()
  const start = (options: object) =>
    startServer({
      store,
      endpoint: () => Promise.reject(new Error('not asked')),
      rows: [],
      version: '0',
      defaultModel: 'x/y',
      ...options,
    })
  const says = /Listening on .* requires an API key: create one with "synapse keys create"\./
  await assert.rejects(start({ host: '0.0.0.0' }), says)
  await assert.rejects(start({ host: '::' }), says)
  await assert.rejects(start({ names: ['chat.example'] }), says)
  await assert.rejects(start({ requireKeys: true }), says)
  await createKey(store, { expiresAt: '2020-01-01' })
  await assert.rejects(start({ host: '0.0.0.0' }), says)
  await createKey(store, {})
  const server = await start({ host: '0.0.0.0', names: ['Chat.example'] })
  try {
    const port = new URL(server.url).port
    const ask = async (host: string) => (await rawGet(`http://127.0.0.1:${port}`, '/api/status', { host })).status
    assert.deepEqual([await ask('chat.example'), await ask('other.example')], [401, 403])
  } finally {
    await server.stop(0)
  }
})

/** As it is written: fetch would tidy up the path and the headers. */
async function rawGet(url: string, path: string, headers: Record<string, string> = {}, method = 'GET') {
  const { request } = await import('node:http')
  const { hostname, port } = new URL(url)
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const asked = request({ hostname, port, path, method, headers, insecureHTTPParser: false }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    asked.on('error', reject)
    asked.end()
  })
}
