// What goes wrong around a request: the client leaves, the storage fails.

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import test from 'node:test'
import { SynapseError } from '../../src/core/error.ts'
import type { LogLine } from '../../src/server/log.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { newConversation, serving } from './serving.ts'

test('a watcher whose storage fails leaves its place to others', async (t) => {
  const memory = openMemoryStore()
  let isAway = false
  const conversation: typeof memory.conversation = async (owner, id) => {
    if (isAway) throw new SynapseError({ kind: 'storage', message: 'The database is away.' })
    return memory.conversation(owner, id)
  }
  const { api, url } = await serving(t, { store: { ...memory, conversation }, limits: { streams: 1 } })
  const id = await newConversation(api)
  const watch = () => fetch(`${url}/api/conversations/${id}/watch`)
  const first = (await watch()).body?.getReader()
  await first?.read()
  assert.equal((await watch()).status, 503, 'there is one place')
  isAway = true
  assert.equal((await first?.read())?.done, true)
  isAway = false
  const second = await watch()
  assert.equal(second.status, 200)
  await second.body?.cancel()
})

test('a client that leaves in the middle of its body is no error of the server', async (t) => {
  const answered = Promise.withResolvers<LogLine>()
  const lines: LogLine[] = []
  const log = (line: LogLine) => {
    lines.push(line)
    if (line.event === 'request') answered.resolve(line)
  }
  const { url } = await serving(t, { log })
  const { hostname, port, host } = new URL(url)
  const socket = connect(Number(port), hostname)
  const head = `POST /api/conversations HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n`
  socket.write(`${head}content-length: 100\r\n\r\n{`, () => socket.destroy())
  assert.equal((await answered.promise)['status'], 400)
  assert.deepEqual(
    lines.map(({ event }) => event),
    ['request'],
  )
})

test(
  'a watcher that asks for a WebSocket gets the events, and leaves its place to others',
  { timeout: 20_000 },
  async (t) => {
    const { api, url } = await serving(t, { limits: { streams: 1 } })
    const { hostname, port, host } = new URL(url)
    const id = await newConversation(api)
    const head = `GET /api/conversations/${id}/watch HTTP/1.1\r\nhost: ${host}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`
    const open = () => {
      const socket = connect(Number(port), hostname).setEncoding('utf8')
      t.after(() => socket.destroy())
      socket.write(head)
      return socket
    }
    for (let i = 0; i < 3;) {
      const socket = open()
      const text = await new Promise<string>((resolve) => {
        let seen = ''
        socket.on('data', (piece: string) => {
          seen += piece
          if (/event: conversation|"error"/.test(seen)) resolve(seen)
        })
      })
      socket.destroy()
      // The server learns it a moment later.
      if (text.startsWith('HTTP/1.1 200')) i++
      else assert.match(text, /^HTTP\/1\.1 503/)
    }
  },
)
