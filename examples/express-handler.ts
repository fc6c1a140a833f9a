// A chat endpoint with Express: the events of a run as server-sent events.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import express from 'express'
import { openSynapse } from 'synapse'

const synapse = await openSynapse({ store: 'express.db', offline: true })
const app = express()
app.use(express.json())

app.post('/chats', async (_, response) => {
  const chat = await synapse.start({ model: 'openai/gpt-5.6' })
  response.json({ id: chat.id })
})

app.post('/chats/:id', async (request, response) => {
  const chat = await synapse.open(request.params['id'] ?? '')
  // The run continues, and is stored, if the client disconnects.
  const { headers, body } = chat.send(String(request.body.text)).toResponse()
  response.setHeaders(headers)
  Readable.fromWeb(body as ReadableStream).pipe(response)
})

const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/chats`
const post = (url: string, body: object) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
const { id } = (await (await post(base, {})).json()) as { id: string }
const events = await post(`${base}/${id}`, { text: 'Hello' })
console.log(events.headers.get('content-type'), (await events.text()).includes('event: run-end'))
server.close()
await synapse.close()
