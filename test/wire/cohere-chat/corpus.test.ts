// Recorded traffic of Cohere: every reply decodes and goes back verbatim, every request that was accepted passes the
// rules and is read as a conversation, and the one that was refused is classified.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fold, type Folded } from '../../../src/core/fold.ts'
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts'
import { callsOf, textOf } from '../../../src/core/message.ts'
import { readRecording } from '../../../src/transport/recording.ts'
import { cohereChat } from '../../../src/wires/cohere-chat/index.ts'
import { cohereChatService } from '../../../src/wires/cohere-chat/service.ts'
import { cohereChatFormat } from '../../../src/wires/cohere-chat/transcript.ts'
import { readRequestWith } from '../../../src/wires/read-request.ts'
import { readFailure } from '../../../src/wires/shared/failure.ts'
import { corpusFiles, noCorpus } from '../../corpus.ts'
import { result, user } from '../../histories.ts'
import { encoded } from './target.ts'

interface Recorded {
  name: string
  chunks: Json[]
  request?: JsonObject
  /** The assistant message, where it came whole. */
  message?: JsonObject
}

function recordings(): Recorded[] {
  return corpusFiles('streams/cohere/*').map((file) => {
    const text = readFileSync(file, 'utf8')
    const name = file.split('/').at(-1) ?? ''
    if (name.endsWith('.chunks.txt')) {
      return {
        name,
        chunks: text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [JSON.parse(line) as Json])),
      }
    }
    const json = JSON.parse(text) as JsonObject
    const body = isObject(json.response) ? (json.response.body ?? null) : json
    const request = isObject(json.request) ? { request: json.request.body as JsonObject } : {}
    if (!isObject(body)) {
      const { chunks, failure } = readRecording(cohereChat, String(body))
      assert.equal(failure, undefined, name)
      return { name, chunks, ...request }
    }
    return { name, chunks: cohereChat.split(body, 7), ...request, message: body.message as JsonObject }
  })
}

function read(chunks: readonly Json[]): Folded {
  const origin = { protocol: 'cohere-chat', provider: 'cohere', model: 'command-a-03-2025' }
  const decoder = cohereChat.decoder(origin)
  return fold([...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()], origin)
}

/** All texts under a key, by the shortest way there is. */
function allUnder(key: string, chunks: readonly Json[]): string {
  const found: string[] = []
  JSON.stringify(chunks, (name, value: Json) => {
    if (name === key && typeof value === 'string') found.push(value)
    // A citation repeats the words that it is about.
    return name === 'citations' ? undefined : value
  })
  return found.join('')
}

test('every recorded reply is decoded without loss and sent back verbatim', { skip: noCorpus }, (t) => {
  let verbatim = 0
  for (const { name, chunks, message } of recordings()) {
    const { reply, usage, failure } = read(chunks)
    assert.equal(failure, undefined, name)
    assert.match(reply.stop.reason, /^(done|tool-calls)$/, name)
    assert.ok(usage && usage.input > 0 && usage.output > 0, name)
    assert.equal(textOf(reply.parts), allUnder('text', chunks), name)
    const thoughts = reply.parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join('')
    assert.equal(thoughts, allUnder('tool_plan', chunks) + allUnder('thinking', chunks), name)

    const results = callsOf(reply).map(({ callId, name: tool }) => result(callId, 'ok', tool))
    const { body, notes } = encoded([user('hi'), reply, ...results, user('more')])
    assert.deepEqual((body.messages as JsonObject[])[1], message ?? reply.native[0], name)
    assert.deepEqual(notes, [], name)
    assert.deepEqual(cohereChat.refuse(body), [], name)
    if (message) verbatim++
  }
  assert.ok(verbatim >= 12)
  t.diagnostic(`${recordings().length} replies, ${verbatim} of them whole`)
})

test('every request that was accepted passes the rules, and is read and written the same', { skip: noCorpus }, (t) => {
  let requests = 0
  for (const { name, request } of recordings()) {
    if (!request) continue
    assert.deepEqual(cohereChat.refuse(request), [], name)
    const { messages } = cohereChatFormat.read(request)
    assert.deepEqual(cohereChatFormat.write(messages), request.messages, name)
    const asked = readRequestWith({ transcript: cohereChatFormat, service: cohereChatService }, request)
    assert.equal(asked.stream, request.stream === true, name)
    assert.equal(asked.tools.length, Array.isArray(request.tools) ? request.tools.length : 0, name)
    assert.deepEqual(asked.options.stop, request.stop_sequences, name)
    requests++
  }
  assert.ok(requests >= 16)
  t.diagnostic(`${requests} requests`)
})

test('the tokens of a window and those of a bill are two numbers', { skip: noCorpus }, () => {
  const cited = recordings().find(({ message }) => isObject(message) && Array.isArray(message.citations))
  const { usage, reply } = read(cited?.chunks ?? [])
  assert.deepEqual([usage?.input, usage?.cacheRead], [1533, 1440])
  assert.ok(isObject(usage?.raw))
  assert.deepEqual(usage.raw.billed_units, { input_tokens: 51, output_tokens: 13 })
  const [text] = reply.parts
  assert.equal(text?.type === 'text' && text.citations?.length, 2)
})

test('a recorded refusal is known for a full context', { skip: noCorpus }, () => {
  const kinds = corpusFiles('errors/cohere--*').map((file) => {
    const { response } = JSON.parse(readFileSync(file, 'utf8')) as { response: { status: number; body: Json } }
    return readFailure(response).kind
  })
  assert.deepEqual(kinds, ['context-overflow'])
})
