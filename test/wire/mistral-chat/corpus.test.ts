// Recorded exchanges with the real service; they live outside the repository.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fold, type Folded } from '../../../src/core/fold.ts'
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts'
import { callsOf, type Message } from '../../../src/core/message.ts'
import { mistralChat } from '../../../src/wires/mistral-chat/index.ts'
import { result, user } from '../../histories.ts'
import { encoded } from './target.ts'

const folder = join(import.meta.dirname, '../../../../shared/corpus/streams/mistral')
const skip = existsSync(folder) ? false : 'the recorded exchanges are not here'
const names = skip ? [] : readdirSync(folder).sort()
const origin = { protocol: 'mistral-chat', provider: 'mistral', model: '' }

interface Recorded {
  name: string
  request?: JsonObject
  chunks: Json[]
  /** The assistant message, where it came whole. */
  message?: JsonObject
}

function recorded(name: string): Recorded {
  const file = readFileSync(join(folder, name), 'utf8')
  if (name.endsWith('.chunks.txt'))
    return {
      name,
      chunks: file
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Json),
    }
  const exchange = JSON.parse(file) as { request?: { body: JsonObject }; response?: { body: Json } }
  const body = exchange.response ? exchange.response.body : (exchange as Json)
  const request = exchange.request && { request: exchange.request.body }
  if (typeof body === 'string') {
    const lines = body.split('\n').filter((line) => line.startsWith('data: {'))
    return { name, ...request, chunks: lines.map((line) => JSON.parse(line.slice(6)) as Json) }
  }
  const message = (body as { choices: { message: JsonObject }[] }).choices[0]?.message
  return { name, ...request, chunks: mistralChat.split(body, 7), ...(message && { message }) }
}

function read(chunks: Json[]): Folded {
  const decoder = mistralChat.decoder(origin)
  return fold([...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()], origin)
}

/** All text of a kind, by the shortest way there is. */
function textIn(value: Json | undefined, key: string): string {
  if (typeof value === 'string') return key === 'text' ? value : ''
  if (!Array.isArray(value)) return ''
  return value
    .filter(isObject)
    .filter((chunk) => chunk.type === key)
    .map((chunk) => (key === 'text' ? textIn(chunk.text, 'text') : textIn(chunk.thinking, 'text')))
    .join('')
}

test('every recorded request that was accepted passes the rules', { skip }, (t) => {
  const requests = names.map(recorded).flatMap(({ name, request }) => (request ? [{ name, request }] : []))
  for (const { name, request } of requests)
    assert.deepEqual(mistralChat.refuse(request, { provider: 'mistral' }), [], name)
  t.diagnostic(`${requests.length} accepted requests pass`)
  assert.ok(requests.length > 15)
})

test('every recorded reply is read without loss', { skip }, (t) => {
  for (const { name, chunks } of names.map(recorded)) {
    const { reply, usage, failure } = read(chunks)
    assert.equal(failure, undefined, name)
    assert.ok(['done', 'tool-calls', 'length'].includes(reply.stop.reason), name)
    assert.ok(usage && usage.input > 0 && usage.output > 0, name)
    const deltas = chunks.map((chunk) => (chunk as { choices: { delta: JsonObject }[] }).choices[0]?.delta ?? {})
    for (const kind of ['text', 'thinking']) {
      const expected = deltas.map(({ content }) => textIn(content, kind)).join('')
      const type = kind === 'text' ? 'text' : 'reasoning'
      const got = reply.parts.map((part) => (part.type === type ? part.text : '')).join('')
      assert.equal(got, expected, name)
    }
    const fragments = deltas.flatMap(({ tool_calls: made }) => (Array.isArray(made) ? made.filter(isObject) : []))
    const ids = new Set(fragments.flatMap(({ id }) => (id === undefined ? [] : [id])))
    assert.deepEqual(
      callsOf(reply).map(({ alias }) => alias),
      [...ids],
      name,
    )
  }
  t.diagnostic(`${names.length} replies read`)
})

test('every recorded reply is sent back unchanged', { skip }, (t) => {
  let verbatim = 0
  for (const { name, chunks, message } of names.map(recorded)) {
    const { reply } = read(chunks)
    const results: Message[] = callsOf(reply).map((call) => result(call.callId, 'ok', call.name))
    const { body } = encoded([user('x'), reply, ...results, ...(results.length > 0 ? [] : [user('y')])])
    assert.deepEqual(mistralChat.refuse(body), [], name)
    const sent = (body.messages as JsonObject[])[1]
    if (!message) continue
    const { tool_calls: calls, ...rest } = message
    assert.deepEqual(sent, { ...rest, ...(calls && { tool_calls: calls }) }, name)
    verbatim++
  }
  t.diagnostic(`${verbatim} whole replies come back word for word`)
  assert.ok(verbatim > 15)
})
