// Recorded traffic of Converse: every reply decodes and goes back verbatim, every request that was accepted passes the
// rules and is read as a conversation, and every one that was refused is classified.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fold } from '../../../src/core/fold.ts'
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts'
import { callsOf } from '../../../src/core/message.ts'
import { readRecording } from '../../../src/transport/recording.ts'
import { bedrockConverse } from '../../../src/wires/bedrock-converse/index.ts'
import { bedrockConverseFormat } from '../../../src/wires/bedrock-converse/transcript.ts'
import { isSignedReasoning, kindOf } from '../../../src/wires/bedrock-converse/types.ts'
import { readFailure } from '../../../src/wires/shared/failure.ts'
import { corpusFiles, noCorpus } from '../../corpus.ts'
import { result, user } from '../../histories.ts'
import { encoded } from './target.ts'

interface Recorded {
  name: string
  model: string
  chunks: Json[]
  request?: JsonObject
}

function recordings(): Recorded[] {
  return corpusFiles('streams/bedrock-converse/*').map((file) => {
    const text = readFileSync(file, 'utf8')
    const name = file.split('/').at(-1) ?? ''
    if (name.endsWith('.chunks.txt')) return { name, model: '', chunks: linesOf(text) }
    const json = JSON.parse(text) as JsonObject
    if (!isObject(json.response)) return { name, model: '', chunks: bedrockConverse.split(json) }
    const { body } = json.response
    const { path, body: request } = json.request as { path: string; body: JsonObject }
    const { chunks, failure } = readRecording(bedrockConverse, typeof body === 'string' ? body : JSON.stringify(body))
    assert.equal(failure, undefined, name)
    return { name, model: decodeURIComponent(path.split('/')[2] ?? ''), chunks, request }
  })
}

function linesOf(text: string): Json[] {
  return text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [JSON.parse(line) as Json]))
}

test('every recorded reply is decoded completely and sent back verbatim', { skip: noCorpus }, (t) => {
  let replies = 0
  let calls = 0
  for (const { name, model, chunks } of recordings()) {
    const origin = { protocol: 'bedrock-converse', provider: 'bedrock', model }
    const decoder = bedrockConverse.decoder(origin)
    const { reply, failure, usage } = fold(
      [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()],
      origin,
    )
    // One stream was cancelled by its reader, and some were shortened for tests of others.
    if (chunks.some((chunk) => isObject(chunk) && chunk.messageStop !== undefined)) {
      assert.equal(failure, undefined, name)
      assert.match(reply.stop.reason, /^(done|tool-calls|length|refusal)$/, name)
      assert.ok(usage || name.endsWith('.chunks.txt'), name)
    }
    const results = callsOf(reply).map(({ callId, name: tool }) => result(callId, 'ok', tool))
    const { body } = encoded([user('hi'), reply, ...results, user('more')], { model })
    const sent = (body.messages as JsonObject[])[1]
    const expected = reply.native
      .filter(isObject)
      .filter((block) => !(typeof block.text === 'string' && block.text.trim() === ''))
      .filter((block) => kindOf(block) !== 'reasoningContent' || isSignedReasoning(block))
    if (expected.length > 0) assert.deepEqual(sent, { role: 'assistant', content: expected }, name)
    assert.deepEqual(bedrockConverse.refuse(body, { model }), [], name)
    replies++
    calls += results.length
  }
  assert.ok(replies >= 60)
  t.diagnostic(`${replies} replies with ${calls} calls`)
})

test('every request that was accepted passes the rules, and is read and written the same', { skip: noCorpus }, (t) => {
  let requests = 0
  for (const { name, model, request } of recordings()) {
    if (!request || !Array.isArray(request.messages)) continue
    assert.deepEqual(bedrockConverse.refuse(request, { model }), [], name)
    assert.ok(bedrockConverseFormat.recognise(request), name)
    const { messages } = bedrockConverseFormat.read(request)
    assert.deepEqual(bedrockConverseFormat.write(messages), request.messages, name)
    requests++
  }
  assert.ok(requests >= 50)
  t.diagnostic(`${requests} requests`)
})

test('recorded refusals are classified', { skip: noCorpus }, () => {
  const kinds = corpusFiles('errors/bedrock-converse--*').map((file) => {
    const { response } = JSON.parse(readFileSync(file, 'utf8')) as { response: { status: number; body: Json } }
    return readFailure(response).kind
  })
  assert.deepEqual(new Set(kinds), new Set(['invalid-request', 'auth']))
})
