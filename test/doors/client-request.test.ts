// What is kept of a client's request, and how it may come.

import assert from 'node:assert/strict'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import test from 'node:test'
import { serving } from '../server/serving.ts'

const body = '{ "model": "anthropic/claude-opus-5",  "messages": [{"role":"user","content":"What is 1 + 1?"}] }'
const headers = { 'content-type': 'application/json', 'user-agent': 'a-client/1.2' }

test('the client request is found with the exchange that was made from it', async (t) => {
  const { url, api } = await serving(t)
  const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
  assert.equal(answer.status, 200)
  const id = answer.headers.get('x-synapse-conversation') ?? ''
  const { body: page } = await api('GET', `/api/conversations/${id}/exchanges`)
  const [exchange] = page['items'] as { id: string; clientRequest: Record<string, string> }[]
  assert.ok(exchange)
  const { bodySha256, ...about } = exchange.clientRequest
  assert.match(bodySha256 ?? '', /^[0-9a-f]{64}$/)
  assert.deepEqual(about, { client: 'a-client/1.2', protocol: 'openai-chat', path: '/v1/chat/completions' })
  assert.deepEqual((await api('GET', `/api/exchanges/${exchange.id}`)).body['clientRequest'], exchange.clientRequest)
  assert.equal((await api('GET', `/api/exchanges/${exchange.id}/client-body`)).text, body)
})

test('an exchange of the page has none', async (t) => {
  const { api } = await serving(t)
  const { body: made } = await api('POST', '/api/conversations', { settings: {} })
  const id = String(made['id'])
  const run = await api('POST', `/api/conversations/${id}/messages`, { text: 'Hello' })
  assert.ok(run.status < 300, run.text)
  let exchange: { id: string; clientRequest?: object } | undefined
  while (exchange === undefined) {
    const { body: page } = await api('GET', `/api/conversations/${id}/exchanges`)
    exchange = (page['items'] as { id: string }[])[0]
  }
  assert.equal(exchange.clientRequest, undefined)
  assert.equal((await api('GET', `/api/exchanges/${exchange.id}/client-body`)).status, 404)
})

test('a compressed body counts with its decompressed size', async (t) => {
  const { url } = await serving(t, { limits: { body: 4000 } })
  const send = (packed: Uint8Array<ArrayBuffer>, encoding: string) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, 'content-encoding': encoding },
      body: packed,
    })
  for (const [encoding, pack] of [
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ] as const) {
    assert.equal((await send(pack(body), encoding)).status, 200, encoding)
  }
  assert.equal((await send(gzipSync(`{"model":"${'a'.repeat(5000)}"}`), 'gzip')).status, 413)
  assert.equal((await send(Buffer.from('no gzip'), 'gzip')).status, 400)
  assert.equal((await send(gzipSync(body), 'compress')).status, 415)
})
