// A reply without content is an answer: the model has spent its limit before the first word, or has nothing to say. The
// client gets it in the format of its API; as an error it would be requested, and paid for, again.

import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import type { Stop } from '../../src/core/message.ts'
import { prepare } from '../../src/index.ts'
import { loadWire } from '../../src/wires/list.ts'
import { serving, type Serving } from '../server/serving.ts'
import { doors, providers } from './any-history.ts'

const stops: Stop[] = [{ reason: 'length' }, { reason: 'done' }]

async function empty(t: TestContext, stop: Stop): Promise<Serving> {
  return serving(t, { emulation: { reply: () => ({ parts: [], native: [], stop }) } })
}

describe('a reply without content', () => {
  for (const door of doors) {
    for (const stop of stops) {
      test(`is an answer at the door of ${door.protocol}: ${stop.reason}`, async (t) => {
        const { api, url } = await empty(t, stop)
        const { path, ...target } = door
        const messages = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'Hello' }] }]
        const { body } = prepare({ ...target, messages, policy: 'full' })
        for (const model of providers) {
          const asked: JsonObject = 'model' in body ? { ...body, model } : body
          const whole = door.protocol === 'gemini-generate' ? asked : { ...asked, stream: false }
          const answer = await api('POST', path(model), whole)
          assert.equal(answer.status, 200, `${model}: ${answer.text}`)
          assert.equal(await stopIn(door, [answer.body], true), stop.reason, `${model}: ${answer.text}`)
          const streamed = await fetch(
            url + path(model).replace(':generateContent', ':streamGenerateContent?alt=sse'),
            {
              method: 'POST',
              headers: { 'content-type': 'application/json' },
              body: JSON.stringify(door.protocol === 'gemini-generate' ? asked : { ...asked, stream: true }),
            },
          )
          const text = await streamed.text()
          assert.equal(streamed.status, 200, `${model}: ${text}`)
          assert.equal(await stopIn(door, chunksOf(text), false), stop.reason, `${model}: ${text}`)
        }
      })
    }
  }

  test('can be retrieved and continued by its id', async (t) => {
    const { api, store } = await empty(t, { reason: 'length' })
    for (const model of providers) {
      const first = await api('POST', '/v1/responses', { model, input: 'Hello' })
      const { id, status, incomplete_details, output, usage } = first.body
      const exchange = await store.exchange('local', first.headers.get('x-synapse-exchange') ?? '')
      assert.equal(
        isObject(usage) && usage['total_tokens'],
        exchange?.usage && exchange.usage.input + exchange.usage.output,
      )
      assert.deepEqual(
        { status, incomplete_details, output },
        { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output: [] },
        model,
      )
      const found = await api('GET', `/v1/responses/${String(id)}`)
      assert.deepEqual([found.status, found.body['status'], found.body['output']], [200, 'incomplete', []], found.text)
      const next = await api('POST', '/v1/responses', { model, input: 'Go on', previous_response_id: id ?? null })
      assert.equal(next.status, 200, next.text)
      assert.equal(next.headers.get('x-synapse-conversation'), first.headers.get('x-synapse-conversation'))
      const items = await api('GET', `/v1/responses/${String(next.body['id'])}/input_items?order=asc`)
      assert.equal((items.body['data'] as JsonObject[]).length, 2, items.text)
    }
  })
})

/** Why the reply ended, as a client of the wire reads it. */
async function stopIn(door: (typeof doors)[number], chunks: readonly JsonObject[], isWhole: boolean): Promise<string> {
  const { split, decoder } = await loadWire(door.protocol)
  const reading = decoder(door)
  const events = (isWhole ? chunks.flatMap((chunk) => split(chunk)) : chunks).flatMap((chunk) => reading.push(chunk))
  const end = [...events, ...reading.end()].find((event) => event.type === 'reply-end')
  return end?.type === 'reply-end' ? end.stop.reason : 'none'
}

/** The chunks of a stream, in events or in lines. */
function chunksOf(text: string): JsonObject[] {
  return text.split('\n').flatMap((line) => {
    const [data] = /\{.*/.exec(line) ?? []
    const value = data === undefined ? undefined : (JSON.parse(data) as Json)
    return isObject(value) ? [value] : []
  })
}
