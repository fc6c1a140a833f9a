// The key of a request, and credentials of clouds.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Authorizer } from '../../src/auth/authorizer.ts'
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

describe('an authoriser', () => {
  test('is asked once more after a refusal that new headers may cure, and only then', async (t) => {
    for (const [again, requests, outcome] of [
      [true, 2, 'done'],
      [false, 1, 'failed'],
    ] as const) {
      const server = await scripted(t, answers(401, {}), answers(200, { text: 'Hi' }))
      const tokens: boolean[] = []
      const authorize: Authorizer = {
        async headers(_request, tokenFetch) {
          tokens.push(typeof tokenFetch === 'function')
          return { authorization: `Token ${tokens.length}` }
        },
        refresh: () => again,
      }
      const { reply } = await call(server.url, { authorize, headers: {} })
      assert.equal(reply.stop.reason, outcome)
      assert.deepEqual(
        tokens,
        Array.from({ length: requests }, () => true),
      )
      assert.equal(server.requests.at(-1)?.headers.authorization, `Token ${requests}`)
    }
  })

  test('is not asked again after a reply that was accepted', async (t) => {
    const server = await scripted(t, answers(200, { text: 'Hi' }))
    const authorize: Authorizer = { headers: async () => ({}), refresh: () => assert.fail('it was asked') }
    assert.equal((await call(server.url, { authorize })).text, 'Hi')
  })
})
