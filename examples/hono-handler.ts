// A chat endpoint with Hono, for `useChat` of the AI SDK. It runs in every runtime with a web Response.

import { Hono } from 'hono'
import { openSynapse } from 'synapse'

const synapse = await openSynapse({ store: 'hono.db', offline: true })
const app = new Hono()

app.post('/chats', async (context) => {
  const chat = await synapse.start({ model: 'anthropic/claude-opus-5' })
  return context.json({ id: chat.id })
})

app.post('/chats/:id', async (context) => {
  const { text } = await context.req.json<{ text: string }>()
  const chat = await synapse.open(context.req.param('id'))
  return chat.send(text).toUIMessageStreamResponse()
})

// export default app, or serve({ fetch: app.fetch }) of @hono/node-server
const { id } = (await (await app.request('/chats', { method: 'POST' })).json()) as { id: string }
const answer = await app.request(`/chats/${id}`, { method: 'POST', body: JSON.stringify({ text: 'Hello' }) })
console.log(answer.status, (await answer.text()).includes('"type":"text-delta"'))
await synapse.close()
