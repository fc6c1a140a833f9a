// Requests over node:http do what the platform's fetch does, as far as it is used.

import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, Socket, type AddressInfo } from 'node:net'
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
  ['X-Gzip', gzipSync],
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

test('an answer that changes the protocol is a closed connection', { timeout: 10_000 }, async (t) => {
  const url = await serving(t, (_, response) => {
    response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n')
  })
  await assert.rejects(fetchOverHttp(url, get), { code: 'ECONNRESET' })
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

test('a signal that is already aborted sends nothing, and a finished request leaves nothing on its signal', async (t) => {
  let requests = 0
  const url = await serving(t, (_, response) => {
    requests++
    response.end('whole')
  })
  await assert.rejects(fetchOverHttp(url, { ...get, signal: AbortSignal.abort(new Error('too late')) }), /too late/)
  const { signal } = new AbortController()
  for (let i = 0; i < 3; i++) await (await fetchOverHttp(url, { ...get, signal })).text()
  // The connection serves the next request only after the last one has left it.
  await (await fetchOverHttp(url, get)).text()
  assert.equal(requests, 4)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('an abort closes the connection of an open reply, and leaves that of a complete one to the next request', async (t) => {
  const ports: (number | undefined)[] = []
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const url = await serving(t, (request, response) => {
    ports.push(request.socket.remotePort)
    if (request.url !== '/open') return void response.end('whole')
    response.on('close', resolve)
    return void response.writeHead(200).write('first')
  })
  for (const path of ['/', '/', '/open', '/']) {
    const stop = new AbortController()
    const reply = await fetchOverHttp(url + path, { ...get, signal: stop.signal })
    if (path === '/') await reply.text()
    stop.abort()
  }
  await closed
  const [first, second, open, last] = ports
  assert.deepEqual([second, open], [first, first])
  assert.notEqual(last, first)
})

for (const encoding of ['identity', 'gzip']) {
  test(`a reader that cancels a body (${encoding}) closes its connection, and reads nothing more`, async (t) => {
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    const url = await serving(t, (_, response) => {
      response.on('close', resolve)
      response.writeHead(200, { 'content-encoding': encoding })
      response.write(encoding === 'gzip' ? gzipSync('first').subarray(0, -8) : 'first')
    })
    const { body } = await fetchOverHttp(url, get)
    const reader = body?.getReader()
    assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), 'first')
    await reader?.cancel()
    await closed
    assert.deepEqual(await reader?.read(), { done: true })
  })
}

test('a body that is not read is not taken from the connection without limit, and is complete once it is', async (t) => {
  const [piece, pieces] = [Buffer.alloc(1024 * 1024, 'x'), 32]
  let written = 0
  const write = (response: ServerResponse): void => {
    if (written++ < pieces) response.write(piece, () => write(response))
    else response.end()
  }
  const url = await serving(t, (request, response) => {
    if (request.url === '/long') write(response)
    else response.end()
  })
  const { body } = await fetchOverHttp(`${url}/long`, get)
  // Until the server cannot write more, or has written everything.
  for (let before = -1, same = 0; same < 50; before = written) {
    await (await fetchOverHttp(url, get)).text()
    same = written === before ? same + 1 : 0
  }
  assert.ok(written < pieces, `${written} pieces were written`)
  const reader = body?.getReader()
  let size = 0
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {}
    if (done) break
    size += value?.length ?? 0
  }
  assert.equal(size, pieces * piece.length)
})

test('a character that arrives in two pieces is one, and a body has its length in bytes', async (t) => {
  const sent: (string | undefined)[] = []
  const text = `a${'☕'.repeat(100_000)}`
  const url = await serving(t, (request, response) => {
    sent.push(request.headers['content-length'])
    request.resume().on('end', () => response.end(text))
  })
  const reply = await fetchOverHttp(url, { method: 'POST', headers: {}, body: '☕' })
  assert.equal(await reply.text(), text)
  await (await fetchOverHttp(url, get)).text()
  assert.deepEqual(sent, ['3', undefined])
})

test('only http and https are asked, without a user name, and https never in plain text', async (t) => {
  for (const url of ['ftp://127.0.0.1/', 'http://ada@127.0.0.1/', 'http://:secret@127.0.0.1/', 'file:///etc/hosts']) {
    await assert.rejects(
      fetchOverHttp(url, get),
      /^TypeError: A request goes to an http or https address without a user/,
    )
  }
  const server = createTcpServer()
  t.after(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const request = fetchOverHttp(`https://127.0.0.1:${(server.address() as AddressInfo).port}`, get)
  const [socket] = (await once(server, 'connection')) as [Socket]
  const [first] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  assert.equal(first[0], 0x16, 'the first byte of a TLS handshake')
  await assert.rejects(request, { code: 'ECONNRESET' })
})

test('a connection that is not made in ten seconds is a failure, and a reply may take longer', async (t) => {
  let answer = (): void => {}
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  const url = await serving(t, (_, response) => {
    answer = () => response.end('late')
    resolve()
  })
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const slow = fetchOverHttp(url, get)
  await asked
  t.mock.timers.tick(60_000)
  answer()
  assert.equal(await (await slow).text(), 'late')

  const connecting = Promise.withResolvers<void>()
  t.mock.method(Socket.prototype, 'connect', function connect(this: Socket) {
    Object.assign(this, { connecting: true })
    setImmediate(connecting.resolve)
    return this
  })
  const request = fetchOverHttp('http://127.0.0.1:9', get)
  const ended = assert.rejects(request, { code: 'ETIMEDOUT', message: 'The connection took too long.' })
  await connecting.promise
  t.mock.timers.tick(9_999)
  assert.equal(await Promise.race([request, new Promise((done) => setImmediate(done, 'waits'))]), 'waits')
  t.mock.timers.tick(1)
  await ended
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
