import assert from 'node:assert/strict'
import test from 'node:test'
import type { JsonObject } from '../../src/core/json.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { clock, gate, serving, newConversation, readEvents, runIn, say, type Answer, str } from './serving.ts'

const rolesIn = ({ body }: Answer) => items(body).map((entry) => (entry['message'] as JsonObject)['role'])

function items(body: JsonObject): JsonObject[] {
  return body['items'] as JsonObject[]
}

test('a conversation over HTTP, from its creation to its deletion', async (t) => {
  const server = await serving(t)
  const { api, url } = server
  const made = await api('POST', '/api/conversations', { labels: ['home'], settings: { system: 'Be brief.' } })
  assert.equal(made.status, 201)
  const id = str(made.body['id'])
  assert.equal(made.headers.get('location'), `/api/conversations/${id}`)
  assert.equal('owner' in made.body, false)

  const started = await api('POST', `/api/conversations/${id}/messages`, { text: 'What time is it?' })
  assert.equal(started.status, 202)
  const runId = runIn(started)
  assert.equal(started.headers.get('location'), `/api/runs/${runId}`)
  const events = await readEvents(`${url}/api/runs/${runId}/events`)
  assert.deepEqual(
    events.map((event) => event.id),
    events.map((_, i) => i + 1),
  )
  const kinds = events.map((event) => event.event)
  assert.equal(kinds[0], 'run-start')
  assert.equal(kinds.at(-1), 'run-end')
  for (const kind of ['request', 'reply-event', 'tool-start', 'tool-end', 'message'])
    assert.ok(kinds.includes(kind), kind)

  const run = await api('GET', `/api/runs/${runId}`)
  assert.deepEqual([run.body['state'], run.body['outcome'], run.body['conversationId']], ['ended', 'done', id])
  assert.ok(Number(run.body['cost']) > 0)
  assert.equal('settings' in run.body || 'holder' in run.body || 'owner' in run.body, false)

  const now = await api('GET', `/api/conversations/${id}`)
  assert.deepEqual([now.body['title'], now.body['entries'], now.body['run']], ['What time is it?', 4, undefined])
  const page = await api('GET', `/api/conversations/${id}/entries`)
  assert.deepEqual(rolesIn(page), ['user', 'assistant', 'tool', 'assistant'])
  const first = str(items(page.body)[0]?.['id'])

  const renamed = await api('PATCH', `/api/conversations/${id}`, { title: 'Time', labels: ['a', 'b'] })
  assert.deepEqual([renamed.body['title'], renamed.body['labels']], ['Time', ['a', 'b']])
  assert.deepEqual(renamed.body['settings'], { system: 'Be brief.' })
  assert.equal(items((await api('GET', '/api/conversations?label=a')).body).length, 1)
  assert.equal(items((await api('GET', '/api/conversations?label=home')).body).length, 0)

  const hits = await api('GET', `/api/search?text=${encodeURIComponent('time')}`)
  assert.ok(items(hits.body).some((hit) => hit['entryId'] === first))

  const edited = await api('POST', `/api/conversations/${id}/entries/${first}/edit`, { text: 'What is 17 + 25?' })
  assert.equal(edited.status, 202)
  await readEvents(`${url}/api/runs/${runIn(edited)}/events`)
  const tree = await api('GET', `/api/conversations/${id}/tree`)
  assert.equal((tree.body['branches'] as JsonObject[]).length, 2)
  const roots = (tree.body['entries'] as JsonObject[]).filter((entry) => entry['parentId'] === null)
  assert.equal(roots.length, 2)

  const head = str((await api('GET', `/api/conversations/${id}`)).body['head'])
  const again = await api('POST', `/api/conversations/${id}/entries/${head}/retry`, {
    settings: { model: 'openai/gpt-5.6' },
  })
  await readEvents(`${url}/api/runs/${runIn(again)}/events`)
  const other = await api('GET', `/api/entries/${str((await api('GET', `/api/conversations/${id}`)).body['head'])}`)
  assert.equal(((other.body['message'] as JsonObject)['origin'] as JsonObject)['provider'], 'openai')
  assert.notEqual(other.body['id'], head)

  const forked = await api('POST', `/api/conversations/${id}/fork`, { entryId: head, name: 'first try' })
  assert.deepEqual([forked.body['head'], forked.body['branch']], [head, 'first try'])
  const copy = await newConversation(api, { from: { conversationId: id } })
  assert.equal(
    (await api('GET', `/api/conversations/${copy}`)).body['entries'],
    items((await api('GET', `/api/conversations/${id}/entries`)).body).length,
  )

  const exchanges = await api('GET', `/api/conversations/${id}/exchanges`)
  const [last] = items(exchanges.body)
  const body = await api('GET', `/api/exchanges/${str(last?.['id'])}/body`)
  assert.equal(body.body['model'], 'gpt-5.6')
  const usage = await api('GET', '/api/usage')
  assert.deepEqual(new Set(items(usage.body).map((row) => row['provider'])), new Set(['anthropic', 'openai']))
  const { body: used } = await api('GET', `/api/conversations/${id}/usage`)
  assert.deepEqual([used['requests'], used['saved'], used['recalls']], [items(exchanges.body).length, 0, 0])
  assert.equal((await api('GET', '/api/conversations/nowhere/usage')).status, 404)

  const exported = await api('GET', `/api/conversations/${id}/export?format=openai-chat`)
  assert.match(exported.headers.get('content-disposition') ?? '', /^attachment; /)
  assert.ok(Array.isArray(JSON.parse(exported.text)))
  assert.equal((await api('GET', `/api/conversations/${id}/export?format=wax`)).status, 400)

  assert.equal((await api('DELETE', `/api/conversations/${id}`)).status, 204)
  for (const path of [
    `/api/conversations/${id}`,
    `/api/runs/${runId}`,
    `/api/runs/${runId}/events`,
    `/api/entries/${first}`,
  ]) {
    assert.equal((await api('GET', path)).status, 404, path)
  }
})

test('the next request is shown side by side for several models, and nothing is sent', async (t) => {
  const server = await serving(t)
  const { api, emulator } = server
  const id = await newConversation(api)
  await say(server, id, 'What time is it?')
  const before = emulator.requests.length
  const targets = [
    { model: 'anthropic/claude-opus-5' },
    { model: 'openai/gpt-5.6', protocol: 'openai-chat' },
    { model: 'nobody/nothing' },
  ]
  const { status, body } = await api('POST', `/api/conversations/${id}/prepare`, { targets, text: 'And in Tokyo?' })
  assert.equal(status, 200)
  const [claude, gpt, nobody] = items(body)
  assert.deepEqual([claude?.['protocol'], gpt?.['protocol']], ['anthropic-messages', 'openai-chat'])
  assert.ok(claude && gpt && nobody)
  for (const item of [claude, gpt]) {
    assert.deepEqual(item['issues'], [])
    assert.match(JSON.stringify(item['body']), /And in Tokyo\?/)
    assert.equal((item['messages'] as JsonObject[]).length, 5)
    assert.ok((item['estimate'] as JsonObject)['input'])
  }
  assert.equal((nobody['error'] as JsonObject)['kind'], 'bad-input')
  assert.equal(emulator.requests.length, before)
  assert.equal((await api('GET', `/api/conversations/${id}`)).body['entries'], 4)
})

test('a long history is read page by page in both directions, each entry once', async (t) => {
  const { api, store } = await serving(t)
  const id = await newConversation(api)
  const entries = Array.from({ length: 1000 }, (_, i) => ({
    message: { role: 'user' as const, parts: [{ type: 'text' as const, text: `message ${i}` }] },
  }))
  const ids = (await store.appendAll('local', id, entries)).map((entry) => entry.id)
  const idsIn = ({ body }: Answer) => items(body).map((entry) => entry['id'])
  let page = await api('GET', `/api/conversations/${id}/entries?limit=300`)
  const up = [...idsIn(page)]
  while (page.body['before'] !== null) {
    page = await api('GET', `/api/conversations/${id}/entries?limit=300&before=${str(page.body['before'])}`)
    up.unshift(...idsIn(page))
  }
  assert.deepEqual(up, ids)
  page = await api('GET', `/api/conversations/${id}/entries?limit=100&around=${ids[500]}`)
  assert.deepEqual(idsIn(page), ids.slice(450, 550))
  const down = [...idsIn(page)]
  while (page.body['after'] !== null) {
    page = await api('GET', `/api/conversations/${id}/entries?limit=100&after=${str(page.body['after'])}`)
    down.push(...idsIn(page))
  }
  assert.deepEqual(down, ids.slice(450))
  assert.equal((await api('GET', `/api/conversations/${id}/entries?before=${ids[3]}&after=${ids[3]}`)).status, 400)
  assert.equal((await api('GET', `/api/conversations/${id}/entries?before=nobody`)).status, 404)
})

test('a page of long entries ends at about 4 MB, and each entry is still read once', async (t) => {
  const { api, store } = await serving(t)
  const id = await newConversation(api)
  const sizes = [1, 1_500_000, 1_500_000, 1_500_000, 5_000_000, 1, 1, 3_900_000]
  const entries = sizes.map((size) => ({
    message: { role: 'user' as const, parts: [{ type: 'text' as const, text: 'x'.repeat(size) }] },
  }))
  const ids = (await store.appendAll('local', id, entries)).map((entry) => entry.id)
  const read = async (query: string) => {
    const { body } = await api('GET', `/api/conversations/${id}/entries?${query}`)
    const places = items(body).map((entry) => ids.indexOf(str(entry['id'])))
    return { places, before: body['before'], after: body['after'] }
  }
  assert.deepEqual(await read(''), { places: [5, 6, 7], before: ids[5], after: null })
  assert.deepEqual(await read(`before=${ids[5]}`), { places: [4], before: ids[4], after: ids[4] })
  assert.deepEqual(await read(`before=${ids[4]}`), { places: [2, 3], before: ids[2], after: ids[3] })
  assert.deepEqual(await read(`before=${ids[2]}`), { places: [0, 1], before: null, after: ids[1] })
  assert.deepEqual(await read(`before=${ids[0]}`), { places: [], before: null, after: null })
  assert.deepEqual(await read(`after=${ids[0]}`), { places: [1, 2], before: ids[1], after: ids[2] })
  assert.deepEqual(await read(`after=${ids[2]}`), { places: [3], before: ids[3], after: ids[3] })
  assert.deepEqual(await read(`after=${ids[4]}`), { places: [5, 6, 7], before: ids[5], after: null })
  assert.deepEqual(await read(`after=${ids[7]}`), { places: [], before: null, after: null })
  assert.deepEqual(await read(`around=${ids[2]}`), { places: [1, 2], before: ids[1], after: ids[2] })
  assert.deepEqual(await read(`around=${ids[4]}`), { places: [4], before: ids[4], after: ids[4] })
  assert.deepEqual(await read(`around=${ids[6]}`), { places: [5, 6, 7], before: ids[5], after: null })
})

test('a second message while a run continues is a conflict, and a message that saw another head too', async (t) => {
  const held = gate(0)
  const { api, url } = await serving(t, { between: held.between })
  const id = await newConversation(api)
  const both = await Promise.all([
    api('POST', `/api/conversations/${id}/messages`, { text: 'one' }),
    api('POST', `/api/conversations/${id}/messages`, { text: 'two' }),
  ])
  assert.deepEqual(
    both.map(({ status }) => status).toSorted((a, b) => a - b),
    [202, 409],
  )
  const refused = both.find(({ status }) => status === 409)
  assert.match(refused?.text ?? '', /"kind":"conflict"/)
  held.open()
  for (const one of both) if (one.status === 202) await readEvents(`${url}/api/runs/${runIn(one)}/events`)
  const late = await api('POST', `/api/conversations/${id}/messages`, { text: 'late', parentId: null })
  assert.equal(late.status, 409)
  assert.equal((await api('GET', `/api/conversations/${id}`)).body['entries'], 2)
})

test('a conversation accepts the next message as soon as the end of its run arrives', async (t) => {
  const { api, url } = await serving(t)
  const id = await newConversation(api)
  for (let i = 0; i < 20; i++) {
    const started = await api('POST', `/api/conversations/${id}/messages`, { text: `Message ${i}` })
    assert.equal(started.status, 202, started.text)
    await readEvents(`${url}/api/runs/${runIn(started)}/events`)
    assert.equal((await api('GET', `/api/runs/${runIn(started)}`)).body['state'], 'ended')
  }
})

test('a summary represents the older part, is listed, and can be undone', async (t) => {
  const server = await serving(t)
  const { api } = server
  const id = await newConversation(api)
  assert.deepEqual((await api('POST', `/api/conversations/${id}/compact`, {})).body, { overlay: null })
  for (let i = 0; i < 8; i++) await say(server, id, `Tell me a long story about ${'tea and coffee '.repeat(200)} ${i}`)
  const made = await api('POST', `/api/conversations/${id}/compact`, {})
  assert.equal(made.status, 200, made.text)
  const overlay = made.body['overlay'] as JsonObject
  assert.equal(overlay['kind'], 'compaction')
  const targets = [{ model: 'anthropic/claude-opus-5' }]
  const fates = async () => {
    const { body } = await api('POST', `/api/conversations/${id}/prepare`, { targets, text: 'Continue.' })
    const { messages = [] } = items(body)[0] as { messages?: JsonObject[] }
    return new Set(messages.map((message) => message['fate']))
  }
  assert.ok((await fates()).has('summarised'))
  await api('PATCH', `/api/conversations/${id}/overlays/${str(overlay['id'])}`, { undone: true })
  assert.equal((await fates()).has('summarised'), false)
})

test('watching a conversation reports changes by others, and its deletion', async (t) => {
  const { api, url } = await serving(t)
  const id = await newConversation(api)
  const seen: string[] = []
  const watched = readEvents(`${url}/api/conversations/${id}/watch`, {}, ({ event, data }) => {
    seen.push(event === 'conversation' ? str(data['title']) : event)
    if (seen.length === 1) void api('PATCH', `/api/conversations/${id}`, { title: 'Tea' })
    if (seen.length === 2) void api('DELETE', `/api/conversations/${id}`)
    return false
  })
  await watched
  assert.deepEqual(seen, ['null', 'Tea', 'deleted'])
})

test('a call that needs approval waits for it, and then continues', async (t) => {
  const { api, url } = await serving(t, { tools: [{ ...clock, ask: true }] })
  const id = await newConversation(api)
  const started = await api('POST', `/api/conversations/${id}/messages`, { text: 'What time is it?' })
  const first = await readEvents(`${url}/api/runs/${runIn(started)}/events`)
  assert.equal(first.at(-1)?.data['outcome'], 'waiting')
  const [waiting] = items((await api('GET', `/api/conversations/${id}/approvals`)).body)
  const callId = (waiting?.['call'] as { callId: string } | undefined)?.callId ?? ''
  const path = `/api/conversations/${id}/approvals/${callId}`
  assert.equal((await api('POST', path, { allowed: true })).status, 409)
  assert.equal((await api('POST', path, { allowed: true, argsHash: 'other' })).status, 409)
  const verdict = { allowed: true, argsHash: str(waiting?.['argsHash']) }
  const answers = [
    await api('POST', path, verdict, { 'idempotency-key': 'yes' }),
    await api('POST', path, verdict, { 'idempotency-key': 'yes' }),
  ]
  assert.deepEqual([answers[0]?.status, answers[0]?.text], [202, answers[1]?.text])
  const second = await readEvents(`${url}/api/runs/${answers[0] && runIn(answers[0])}/events`)
  assert.equal(second.at(-1)?.data['outcome'], 'done')
  assert.equal((await api('POST', path, verdict)).status, 409)
  assert.deepEqual(items((await api('GET', `/api/conversations/${id}/approvals`)).body), [])
})

test('the server lists providers and models, and shows no key', async (t) => {
  const { api } = await serving(t, { env: { OPENAI_API_KEY: 'sk-canary-of-the-environment' }, offline: false })
  const status = await api('GET', '/api/status')
  assert.deepEqual([status.body['owner'], status.body['access'], status.body['offline']], ['local', 'write', false])
  const providers = await api('GET', '/api/providers')
  const keys = new Map(items(providers.body).map((row) => [row['id'], row['key']]))
  assert.deepEqual([keys.get('openai'), keys.get('anthropic'), keys.get('ollama')], ['found', 'missing', 'not-needed'])
  assert.doesNotMatch(providers.text, /canary/)
  const models = await api('GET', '/api/models?provider=anthropic')
  assert.ok(items(models.body).some((model) => model['model'] === 'anthropic/claude-opus-5'))
  assert.equal((await api('GET', '/api/models?provider=nobody')).status, 404)
})

test('a long conversation is read once, and from then on only what is new of it', async (t) => {
  const store = openMemoryStore()
  let read = 0
  const history: Store['history'] = async (...asked) => {
    const entries = await store.history(...asked)
    read += entries.length
    return entries
  }
  const server = await serving(t, { store: { ...store, history } })
  const id = await newConversation(server.api)
  const before = Array.from({ length: 200 }, (_, n) => ({
    message: { role: 'user' as const, parts: [{ type: 'text' as const, text: `message ${n}` }] },
  }))
  await store.appendAll('local', id, before)
  await say(server, id, 'What time is it?')
  assert.ok(read >= 200)
  read = 0
  await say(server, id, 'And now?')
  assert.ok(read < 40, `${read} entries were read again`)
  assert.equal((await store.conversation('local', id))?.entries, 206)
})
