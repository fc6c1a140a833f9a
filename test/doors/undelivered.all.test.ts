// A client that never reads its answer, on a real socket: slow, because buffers on the way have to be full.

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import test from 'node:test'
import type { Store } from '../../src/store/store.ts'
import { serving } from '../server/serving.ts'

const body = JSON.stringify({
  model: 'anthropic/claude-opus-5',
  stream: true,
  input: 'Please count to 12000.',
})
const headers = { 'content-type': 'application/json' }

async function finished(store: Store): Promise<void> {
  for (;;) {
    const [conversation] = (await store.conversations('local')).items
    const [exchange] = conversation ? (await store.exchanges('local', conversation.id)).items : []
    if (exchange?.outcome === 'done') return
    await setTimeout(20)
  }
}

test('the retry of a client that lost its connection gets the answer, and the request after that is new', async (t) => {
  const { url, store, emulator } = await serving(t, { emulation: { piece: 2 } })
  const { hostname, port } = new URL(url)
  // It asks and never reads, so the answer is complete here long before it is there.
  const socket = connect(Number(port), hostname)
  socket.pause()
  const lines = ['POST /v1/responses HTTP/1.1', `Host: ${hostname}`, 'Content-Type: application/json']
  socket.write([...lines, `Content-Length: ${body.length}`, '', body].join('\r\n'))
  await finished(store)
  socket.destroy()
  // The server hears a moment later that the first client is gone.
  await setTimeout(100)
  const ask = async () => {
    const answer = await fetch(`${url}/v1/responses`, { method: 'POST', headers, body })
    assert.equal(answer.status, 200)
    return answer.text()
  }
  let text = await ask()
  assert.match(text, /11999 12000/)
  assert.equal(emulator.requests.length, 1, 'the provider was asked once')
  assert.match(text, /"type":"response.completed"/)
  text = await ask()
  assert.match(text, /11999 12000/)
  assert.equal(emulator.requests.length, 2, 'a deliberate repeat is a new request')
})
