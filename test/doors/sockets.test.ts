// WebSockets of clients: what they may send, and when.

import assert from 'node:assert/strict'
import { on, once } from 'node:events'
import { connect, type Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { gate, serving, type ServingOptions } from '../server/serving.ts'

/** A frame of a client, masked with zeros. */
function frame(first: number, payload: string): Buffer {
  const size = Buffer.byteLength(payload)
  const head = size < 126 ? [first, 0x80 | size] : [first, 0x80 | 126, size >> 8, size & 0xff]
  return Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), Buffer.from(payload)])
}

/** An open WebSocket whose frames are written by hand, and the first bytes of the frames that it gets. */
async function openByHand(
  t: TestContext,
  url: string,
): Promise<{ socket: Socket; received: (byte: number) => Promise<void> }> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  t.after(() => socket.destroy())
  const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
  socket.write(`GET /v1/responses HTTP/1.1\r\nHost: ${hostname}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}`)
  await once(socket, 'data')
  return {
    socket,
    async received(byte) {
      for (;;) {
        const [piece] = (await once(socket, 'data')) as [Buffer]
        if (piece[0] === byte) return
      }
    },
  }
}

const request = '{"type":"response.create","model":"mistral/mistral-large-latest","input":"Hi"}'
const [text, closing, ping, pong] = [0x81, 0x88, 0x89, 0x8a]

test('pings are answered while a reply is being written, and a client that closes ends it', async (t) => {
  const { between, held } = gate(1)
  const { url, store } = await serving(t, { between })
  const { socket, received } = await openByHand(t, url)
  socket.write(frame(text, request))
  await held
  socket.write(frame(ping, 'there?'))
  await received(pong)
  socket.write(frame(closing, ''))
  await once(socket, 'close')
  const [{ id } = { id: '' }] = (await store.conversations('local')).items
  const outcome = async () => (await store.exchanges('local', id)).items[0]?.outcome
  while ((await outcome()) === 'open') await new Promise((resolve) => setTimeout(resolve, 10))
  assert.equal(await outcome(), 'cancelled')
})

test('a control frame that is too long, or in fragments, closes the connection', async (t) => {
  const { url } = await serving(t)
  for (const wrong of [frame(ping, 'x'.repeat(126)), frame(ping & 0x7f, 'x')]) {
    const { socket, received } = await openByHand(t, url)
    socket.write(wrong)
    await received(closing)
  }
})

test('of many requests that only announce their input the last ones are remembered', async (t) => {
  const { url } = await serving(t)
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`)
  await once(socket, 'open')
  const answerTo = async (body: object) => {
    const events = on(socket, 'message')
    socket.send(JSON.stringify({ ...JSON.parse(request), ...body }))
    for await (const [{ data }] of events) {
      const event = JSON.parse(String(data))
      if (event.type === 'response.completed' || event.type === 'error') return event
    }
  }
  const ids: string[] = []
  for (let i = 0; i < 5; i++) ids.push((await answerTo({ generate: false })).response.id)
  assert.equal((await answerTo({ previous_response_id: ids.at(-1) })).type, 'response.completed')
  assert.equal((await answerTo({ previous_response_id: ids[0] })).type, 'error')
  socket.close()
})

const created = '{"type":"response.created","response":{"id":"resp_1","status":"in_progress","output":[]}}'
const added =
  '{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","content":[]}}'
const completed =
  '{"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello."}]}]}}'

for (const [name, written] of Object.entries({
  'no space after the colon': (data: string) => `data:${data}\n\n`,
  'lines that end with CR': (data: string) => `data: ${data}\r\r`,
  'data in several lines': (data: string) => `data: ${data.replace(',', ',\ndata: ')}\n\n`,
  'no empty line at the end': (data: string) => (data === completed ? `data: ${data}` : `data: ${data}\n\n`),
})) {
  test(`events of a provider with ${name} are messages like others`, async (t) => {
    const stream = [created, added, completed].map(written).join('')
    const between: ServingOptions['between'] = () => async () =>
      new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
    const { url } = await serving(t, { between })
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`)
    await once(socket, 'open')
    const messages = on(socket, 'message')
    socket.send(JSON.stringify({ type: 'response.create', model: 'gpt-5.6', input: 'Hi' }))
    for (const event of [created, added, completed]) {
      const [{ data }] = (await messages.next()).value as [MessageEvent]
      assert.deepEqual(JSON.parse(String(data)), JSON.parse(event))
    }
    socket.close()
  })
}
