import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { call, key } from './calling.ts'
import { answers, event, scripted, sse } from './scripted-server.ts'

describe('the key', () => {
  const echo = `Incorrect API key provided: ${key}.`

  test('echoed in an error body appears nowhere', async (t) => {
    const server = await scripted(t, answers(401, { error: { message: echo, code: 'invalid_api_key', seen: [key] } }))
    const { failure, events } = await call(server.url, { keyVariable: 'TOYBOX_KEY' })
    assert.ok(!JSON.stringify(events).includes(key))
    assert.equal(
      failure?.message,
      'toybox answered 401: Incorrect API key provided: [hidden]. Check the API key in TOYBOX_KEY.',
    )
  })

  test('echoed in the middle of a stream appears nowhere', async (t) => {
    const server = await scripted(t, (reply) =>
      reply.writeHead(200, sse).end(event({ text: 'a' }) + event({ error: { message: echo } })),
    )
    const { events, failure } = await call(server.url)
    assert.equal(failure?.kind, 'auth')
    assert.ok(!JSON.stringify(events).includes(key))
  })

  test('echoed with 200 appears nowhere', async (t) => {
    const server = await scripted(t, answers(200, { error: { message: echo } }))
    assert.ok(!JSON.stringify((await call(server.url)).events).includes(key))
  })

  test('that cannot be sent is not shown either', async () => {
    const bad = call('http://127.0.0.1:1/', { headers: { authorization: `Bearer ${key}\nx` } })
    await assert.rejects(bad, (error: Error) => {
      assert.match(error.message, /"authorization" has a value that cannot be sent/)
      return !error.message.includes(key)
    })
  })
})
