import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { tempFolder } from '../store/temp.ts'
import { gate, newConversation, readEvents, runIn, serving, str } from './serving.ts'

test('the same key and body give the same answer and one run, at once, during the run and after it', async (t) => {
  const held = gate(3)
  const { api, url, emulator } = await serving(t, { between: held.between })
  const id = await newConversation(api)
  const send = () =>
    api('POST', `/api/conversations/${id}/messages`, { text: 'What time is it?' }, { 'idempotency-key': 'k-1' })
  const first = await Promise.all(Array.from({ length: 10 }, send))
  await held.held
  const during = await send()
  held.open()
  await readEvents(`${url}/api/runs/${runIn(during)}/events`)
  const after = await send()
  const answers = [...first, during, after]
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([202]))
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  assert.equal(after.headers.get('idempotency-replayed'), 'true')
  assert.equal((await api('GET', `/api/conversations/${id}`)).body['entries'], 4)
  assert.equal(emulator.requests.length, 2)
})

test('the same key with another body, path or owner is a different request', async (t) => {
  const { api, url } = await serving(t)
  const [id, other] = [await newConversation(api), await newConversation(api)]
  const key = { 'idempotency-key': 'k-1' }
  const started = await api('POST', `/api/conversations/${id}/messages`, { text: 'one' }, key)
  await readEvents(`${url}/api/runs/${runIn(started)}/events`)
  const changed = await api('POST', `/api/conversations/${id}/messages`, { text: 'two' }, key)
  assert.deepEqual(
    [changed.status, changed.body['error']],
    [
      422,
      {
        kind: 'conflict',
        code: 'idempotency-mismatch',
        message: 'This Idempotency-Key was used for another request. Use a new one.',
      },
    ],
  )
  assert.equal((await api('POST', `/api/conversations/${other}/messages`, { text: 'one' }, key)).status, 422)
  assert.equal((await api('POST', `/api/conversations/${id}/runs`, {}, key)).status, 422)
  const long = { 'idempotency-key': 'x'.repeat(256) }
  assert.equal((await api('POST', `/api/conversations/${other}/messages`, { text: 'one' }, long)).status, 400)
})

test('a request that was refused leaves its key free', async (t) => {
  const { api } = await serving(t)
  const id = await newConversation(api)
  const key = { 'idempotency-key': 'k-1' }
  const send = (body: { text: string; settings?: { model: string } }) =>
    api('POST', `/api/conversations/${id}/messages`, body, key)
  assert.equal((await send({ text: 'Hello', settings: { model: 'nobody/x' } })).status, 400)
  assert.equal((await send({ text: 'Hello' })).status, 202)
})

test('every way to start a run accepts a key, and a failed run is not started again', async (t) => {
  const { api, url, emulator } = await serving(t)
  const id = await newConversation(api)
  emulator.order({ status: 400 })
  const start = async (path: string, body: { text?: string }, key: string) => {
    const [a, b] = [
      await api('POST', path, body, { 'idempotency-key': key }),
      await api('POST', path, body, { 'idempotency-key': key }),
    ]
    assert.equal(a.status, 202, a.text)
    assert.equal(a.text, b.text)
    await readEvents(`${url}/api/runs/${runIn(a)}/events`)
    assert.equal((await api('POST', path, body, { 'idempotency-key': key })).text, a.text)
    return runIn(a)
  }
  const failed = await start(`/api/conversations/${id}/messages`, { text: 'Hello' }, 'a')
  assert.equal((await api('GET', `/api/runs/${failed}`)).body['outcome'], 'failed')
  await start(`/api/conversations/${id}/runs`, {}, 'b')
  const head = str((await api('GET', `/api/conversations/${id}`)).body['head'])
  await start(`/api/conversations/${id}/entries/${head}/retry`, {}, 'c')
  const first = str(((await api('GET', `/api/conversations/${id}/tree`)).body['entries'] as { id: string }[])[0]?.id)
  await start(`/api/conversations/${id}/entries/${first}/edit`, { text: 'Good day' }, 'd')
  const runs = (await api('GET', `/api/conversations/${id}/runs`)).body['items'] as { id: string }[]
  assert.equal(runs.length, 4)
})

test('a key is valid on every server of the store and after a restart, and is deleted with its conversation', async (t) => {
  const file = join(tempFolder(t), 'chats.db')
  const key = { 'idempotency-key': 'k-1' }
  const first = await serving(t, { file })
  const id = await newConversation(first.api)
  const path = `/api/conversations/${id}/messages`
  const before = await first.api('POST', path, { text: 'Hello' }, key)
  await readEvents(`${first.url}/api/runs/${runIn(before)}/events`)
  await first.server.stop(0)
  const second = await serving(t, { file })
  assert.equal((await second.api('POST', path, { text: 'Hello' }, key)).text, before.text)
  await second.api('DELETE', `/api/conversations/${id}`)
  assert.equal((await second.api('POST', path, { text: 'Hello' }, key)).status, 404)
  assert.deepEqual((await second.store.records('local', 'idempotency')).items, [])
})
