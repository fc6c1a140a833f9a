// One attempt that fails: what the error says, and what is tried again with a new authorisation.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SynapseError } from '../../src/core/error.ts'
import type { Json } from '../../src/core/json.ts'
import { send, SendError } from '../../src/transport/send.ts'
import { chunksOf, event, events, memory } from './from-memory.ts'
import { toy } from './toy-protocol.ts'

describe('a failure', () => {
  test('is described by its body, without the key, and with what the provider says about a retry', async () => {
    const refused = (headers: Record<string, string>, body = '{"error":{"message":"busy"}}', status = 503) =>
      chunksOf({ status, headers, pieces: [body] }, { provider: 'toybox' })
    const advised = async (value: string) => ((await refused({ 'x-should-retry': value })).error as SendError).advised
    assert.deepEqual([await advised('true'), await advised('false'), await advised('x')], [true, false, undefined])
    assert.equal((await refused({})).failure?.kind, 'overloaded')
    assert.match((await refused({}, 'plain words', 400)).failure?.message ?? '', /toybox answered 400: plain words/)
    const leaked = await refused({}, 'wrong key canary-0123456789-abcdef', 400)
    assert.doesNotMatch(leaked.failure?.message ?? '', /canary/)
    const whole = await refused({}, 'x'.repeat(64 * 1024 + 1), 400)
    assert.equal(String(whole.failure?.raw).length, 64 * 1024)
    assert.equal((await refused({}, '', 199)).failure?.status, undefined)
    assert.equal((await refused({}, '', 400)).failure?.status, 400)
  })

  test('is a redirect that was not followed, with its address if it has one', async () => {
    const redirected = async (location?: string, status = 302) =>
      (await chunksOf({ status, headers: location === undefined ? {} : { location } })).failure
    assert.match(
      (await redirected('/other?key=1'))?.message ?? '',
      /redirect to https:\/\/toy\.example\/other\. It was/,
    )
    assert.match((await redirected())?.message ?? '', /^The provider answered 302 with a redirect\. It was/)
    assert.match((await redirected('http://['))?.message ?? '', /with a redirect\. It was/)
    assert.equal((await redirected(undefined, 399))?.kind, 'invalid-request')
    assert.match((await redirected(undefined, 300))?.message ?? '', /redirect/)
  })

  test('of the callback, of a header and of a cancelled request is told apart', async () => {
    const { fetch } = memory({ headers: events, pieces: [event({ a: 1 })] })
    const attempt = { protocol: toy(), url: 'https://toy.example/', headers: {}, body: '', fetch }
    const own = new Error('mine')
    await assert.rejects(
      send(attempt, () => {
        throw own
      }),
      (error) => error === own,
    )
    const later = memory({ headers: events, pieces: [event({ a: 1 })] })
    await assert.rejects(
      send({ ...attempt, fetch: later.fetch }, () => Promise.reject(own)),
      (error) => error === own,
    )
    for (const headers of [{ 'a b': 'c' }, { a: 'b\nc' }, { a: 'b\u0100' }]) {
      await assert.rejects(
        send({ ...attempt, headers: headers }, () => undefined),
        /has a value that cannot be sent/,
      )
    }
    const sent = memory({ headers: events })
    await send({ ...attempt, fetch: sent.fetch, headers: { 'X-Name': ' v\u00e9 ' } }, () => undefined)
    assert.deepEqual(sent.asked[0]?.headers, { 'content-type': 'application/json', 'x-name': 'vé' })
    const cancelled = await chunksOf(
      { headers: events },
      { signal: AbortSignal.abort(), fetch: () => Promise.reject(new Error('x')) },
    )
    assert.equal(cancelled.failure?.kind, 'aborted')
  })

  test('that a new authorisation may fix is tried once more with it', async () => {
    const { fetch, asked, state } = memory({ status: 401 }, { headers: events, pieces: [event({ a: 1 })] })
    let key = 0
    const authorize = {
      headers: async () => ({ authorization: `key-${++key}` }),
      refresh: ({ status }: { status: number }) => status === 401,
    }
    const chunks: Json[] = []
    const attempt = { protocol: toy(), url: 'https://toy.example/', headers: {}, body: '', fetch, authorize }
    await send(attempt, (chunk) => void chunks.push(chunk))
    assert.deepEqual(
      asked.map(({ headers }) => headers['authorization']),
      ['key-1', 'key-2'],
    )
    assert.deepEqual([chunks, state.cancelled], [[{ a: 1 }], 1])
    const other = memory({ status: 403 }, {})
    await assert.rejects(send({ ...attempt, fetch: other.fetch }, () => undefined))
    assert.equal(other.asked.length, 1)
    const fine = memory({ headers: events })
    await send({ ...attempt, fetch: fine.fetch, authorize: { ...authorize, refresh: () => true } }, () => undefined)
    assert.equal(fine.asked.length, 1, 'a good reply is not asked for again')
  })
})

test('an error of the transport is an error of Synapse', () => {
  const error = new SendError({ kind: 'timeout', message: 'late' }, { cause: 1, advised: true })
  assert.ok(error instanceof SynapseError)
  assert.deepEqual([error.kind, error.advised, error.cause], ['timeout', true, 1])
})
