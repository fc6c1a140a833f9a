// Requests over node:http do what the platform's fetch does, as far as it is used.

import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { brotliCompressSync, constants, createGzip, deflateSync, gzipSync } from 'node:zlib'
import { defaultFetch, fetchOverHttp } from '../../src/transport/http.ts'

test('the same status, headers and body arrive as with fetch', async (t) => {
  const url = await serving(t, (request, response) => {
    request
      .resume()
      .on('end', () => response.writeHead(418, { 'x-one': '1', 'set-cookie': ['a=1', 'b=2'] }).end('tea ☕'))
  })
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
  const [ours, theirs] = [await fetchOverHttp(url, init), await fetch(url, init)]
  assert.equal(ours.status, theirs.status)
  assert.equal(ours.headers.get('X-One'), theirs.headers.get('X-One'))
  assert.equal(ours.headers.get('set-cookie'), theirs.headers.get('set-cookie'))
  assert.equal(ours.headers.get('absent') ?? null, null)
  assert.equal(Object.fromEntries(ours.headers)['x-one'], '1')
  assert.equal(await ours.text(), await theirs.text())
})

for (const [encoding, compress] of [
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
  ['deflate', deflateSync],
] as const) {
  test(`a body that is compressed with ${encoding} is read, and a cut one fails`, async (t) => {
    const url = await serving(t, (request, response) => {
      const whole = compress('words '.repeat(10_000))
      response.writeHead(200, { 'content-encoding': encoding, 'content-length': whole.length })
      if (request.url === '/cut') response.write(whole.subarray(0, 20), () => response.destroy())
      else response.end(whole)
    })
    assert.equal(await (await fetchOverHttp(url, get)).text(), 'words '.repeat(10_000))
    await assert.rejects(async () => (await fetchOverHttp(`${url}/cut`, get)).text(), { code: 'ECONNRESET' })
  })
}

test('each piece of a compressed stream is returned when it arrives', async (t) => {
  const { promise: read, resolve } = Promise.withResolvers<void>()
  const url = await serving(t, (_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' })
    const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH })
    gzip.pipe(response)
    gzip.write('first')
    void read.then(() => gzip.end('second'))
  })
  const reader = (await fetchOverHttp(url, get)).body?.getReader()
  assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), 'first')
  resolve()
  assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), 'second')
})

test('a connection is used again, and a redirect is not followed', async (t) => {
  const ports = new Set<number | undefined>()
  const url = await serving(t, (request, response) => {
    ports.add(request.socket.remotePort)
    response.writeHead(302, { location: '/elsewhere' }).end()
  })
  for (let i = 0; i < 5; i++) {
    const reply = await fetchOverHttp(url, get)
    assert.equal(reply.status, 302)
    await reply.text()
  }
  assert.equal(ports.size, 1)
})

test('an abort ends a request that waits, and a body that is read', async (t) => {
  const url = await serving(t, (request, response) => {
    if (request.url === '/body') response.writeHead(200).write('first')
  })
  const waiting = new AbortController()
  const request = fetchOverHttp(url, { ...get, signal: waiting.signal })
  waiting.abort(new Error('enough'))
  await assert.rejects(request, /enough/)

  const reading = new AbortController()
  const reader = (await fetchOverHttp(`${url}/body`, { ...get, signal: reading.signal })).body?.getReader()
  await reader?.read()
  reading.abort(new Error('enough'))
  await assert.rejects(async () => reader?.read())
})

test('a custom fetch, proxy or dispatcher gets the requests', async (t) => {
  const url = await serving(t, (_, response) => response.end('straight'))
  assert.equal(await (await defaultFetch(url, get)).text(), 'straight')
  const own = globalThis.fetch
  t.after(() => {
    globalThis.fetch = own
    delete process.env['NODE_USE_ENV_PROXY']
  })
  globalThis.fetch = async () => new Response('theirs')
  assert.equal(await (await defaultFetch(url, get)).text(), 'theirs')
  globalThis.fetch = own
  assert.equal(await (await defaultFetch(url, get)).text(), 'straight')

  const name = Symbol.for('undici.globalDispatcher.1')
  await fetch(url)
  const dispatcher: unknown = Reflect.get(globalThis, name)
  t.after(() => Reflect.set(globalThis, name, dispatcher))
  // Not every agent is Node's: that of the package undici has the same name.
  class Agent {
    dispatch(): never {
      throw new Error('asked the dispatcher')
    }
  }
  Reflect.set(globalThis, name, new Agent())
  await assert.rejects(
    async () => defaultFetch(url, get),
    (error: Error) => /asked the dispatcher/.test(String(error.cause)),
  )
})

const get = { method: 'GET', headers: {} }

async function serving(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a plain request goes over node:http, which sends fewer headers than fetch', async (t) => {
  const sent: string[] = []
  const url = await serving(t, (request, response) => {
    sent.push('sec-fetch-mode' in request.headers ? 'fetch' : 'http')
    response.end()
  })
  t.after(() => delete process.env['NODE_USE_ENV_PROXY'])
  for (const proxy of [undefined, '0', '1']) {
    if (proxy !== undefined) process.env['NODE_USE_ENV_PROXY'] = proxy
    await (await defaultFetch(url, get)).text()
  }
  assert.deepEqual(sent, ['http', 'http', 'fetch'])
})
