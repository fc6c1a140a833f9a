// Clients that never read their answer, on a real socket. It is long, because buffers on the way have to be full.

import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import test from 'node:test'
import type { Store } from '../../src/store/store.ts'
import { serving } from '../server/serving.ts'

const text = `${'All of it. '.repeat(800_000)}Done.`
const headers = { 'content-type': 'application/json' }

async function finished(store: Store): Promise<void> {
  for (;;) {
    const [conversation] = (await store.conversations('local')).items
    const [exchange] = conversation ? (await store.exchanges('local', conversation.id)).items : []
    if (exchange?.outcome === 'done') return
    assert.ok(exchange?.failure === undefined, exchange?.failure?.message)
    await setTimeout(20)
  }
}

/** Sends the request and never reads, so that an answer is complete at the server long before it is here. */
function askWithoutReading(url: string, body: string): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.pause()
  const lines = ['POST /v1/responses HTTP/1.1', `Host: ${hostname}`, 'Content-Type: application/json']
  socket.write([...lines, `Content-Length: ${body.length}`, '', body].join('\r\n'))
  return socket
}

export function testRetriesOfLost(stream: boolean): void {
  const kind = stream ? 'a stream' : 'a complete answer'
  test(`retries of a client that lost ${kind} get it, and the request after that is new`, async (t) => {
    const emulation = { piece: 100_000, reply: () => ({ parts: [{ type: 'text' as const, text }] }) }
    const { url, store, emulator } = await serving(t, { emulation })
    const body = JSON.stringify({ model: 'mistral/mistral-large-latest', stream, input: 'Tell me all of it.' })
    const first = askWithoutReading(url, body)
    await finished(store)
    // The server notices a moment later that a client has left.
    await setTimeout(100)
    first.destroy()
    await setTimeout(100)
    const second = askWithoutReading(url, body)
    await setTimeout(300)
    second.destroy()
    await setTimeout(100)
    const ask = async () => {
      const answer = await fetch(`${url}/v1/responses`, { method: 'POST', headers, body })
      assert.equal(answer.status, 200)
      assert.ok((await answer.text()).includes(text), 'the whole answer')
    }
    await ask()
    assert.equal(emulator.requests.length, 1, 'the provider was asked once')
    await ask()
    assert.equal(emulator.requests.length, 2, 'a deliberate repeat is a new request')
  })
}
