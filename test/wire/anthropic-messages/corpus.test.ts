// Recorded replies and requests of the real API: every reply decodes and goes back verbatim, every request that was
// accepted passes the rules, and every one that was refused is refused for the same reason.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fold, type Folded } from '../../../src/core/fold.ts'
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts'
import { callsOf, type Message } from '../../../src/core/message.ts'
import { pair } from '../../../src/context/pair.ts'
import { anthropicMessages } from '../../../src/wires/anthropic-messages/index.ts'
import type { Target } from '../../../src/wires/wire.ts'
import { anthropicMessagesFormat } from '../../../src/wires/anthropic-messages/transcript.ts'
import { thorough } from '../../thorough.ts'

const corpus = join(import.meta.dirname, '../../../../shared/corpus')
const skip = existsSync(corpus) ? false : 'the corpus is not here'
const folders = ['streams/anthropic-messages', 'streams/vertex-anthropic']
const origin = { protocol: 'anthropic-messages', provider: 'anthropic', model: 'claude-opus-4-5' }
const target: Target = {
  provider: 'anthropic',
  model: 'claude-opus-4-5',
  options: {},
  quirks: {},
  capabilities: anthropicMessages.capabilities,
}

interface Recorded {
  name: string
  chunks: Json[]
  /** The whole body, where the reply was not streamed. */
  whole?: JsonObject
  request?: JsonObject
}

function recordings(): Recorded[] {
  return folders.flatMap((folder) =>
    readdirSync(join(corpus, folder)).flatMap((file) => read(join(corpus, folder, file), file)),
  )
}

function read(path: string, name: string): Recorded[] {
  const text = readFileSync(path, 'utf8')
  if (name.endsWith('.chunks.txt')) {
    const chunks = text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [JSON.parse(line) as Json]))
    return replies(chunks).map((one, i) => ({ name: `${name}#${i}`, chunks: one }))
  }
  const json = JSON.parse(text) as JsonObject
  if (!isObject(json.response)) return [{ name, chunks: anthropicMessages.split(json), whole: json }]
  const request = json.request as { path: string; body: JsonObject }
  if (request.path.includes('/batches')) return []
  const { body } = json.response
  if (typeof body === 'string') return [{ name, chunks: eventsIn(body), request: request.body }]
  return [{ name, chunks: anthropicMessages.split(body ?? null), whole: body as JsonObject, request: request.body }]
}

/** Some files hold the replies of a whole conversation one after the other. */
function replies(chunks: readonly Json[]): Json[][] {
  const all: Json[][] = []
  for (const chunk of chunks) {
    if (isObject(chunk) && chunk.type === 'message_start') all.push([])
    all.at(-1)?.push(chunk)
  }
  return all
}

function eventsIn(stream: string): Json[] {
  return stream.split(/\r?\n/).flatMap((line) => (line.startsWith('data:') ? [JSON.parse(line.slice(5)) as Json] : []))
}

function decode(chunks: readonly Json[]): Folded {
  const decoder = anthropicMessages.decoder(origin)
  return fold([...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()], origin)
}

/** The result of a server tool whose call is in an earlier reply. */
function isLone(block: JsonObject, native: readonly Json[]): boolean {
  if (!String(block.type).endsWith('_tool_result')) return false
  return !native.some((other) => isObject(other) && other.id === block.tool_use_id)
}

/** What a request may carry of a reply's block. */
function lessReplyOnly(block: Json): Json {
  if (!isObject(block)) return block
  const { citations, ...rest } = block
  const kept = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null))
  if (!Array.isArray(citations)) return kept
  return {
    ...kept,
    citations: citations.map((citation) => {
      const { file_id: _, ...more } = citation as JsonObject
      return more
    }),
  }
}

test('every recorded reply decodes without loss and without failure', { skip }, (t) => {
  let count = 0
  for (const { name, chunks, whole } of recordings()) {
    const { reply, usage, failure } = decode(chunks)
    assert.equal(failure, undefined, name)
    assert.ok(!['interrupted', 'failed', 'cancelled'].includes(reply.stop.reason), `${name}: ${reply.stop.reason}`)
    assert.ok(usage && usage.input >= usage.cacheRead + usage.cacheWrite, name)
    assert.ok(!reply.parts.some((part) => part.type === 'opaque'), `${name}: ${JSON.stringify(reply.parts)}`)
    if (whole) assert.deepEqual(reply.native, whole.content, name)
    const started = chunks.filter((chunk) => isObject(chunk) && chunk.type === 'content_block_start').length
    assert.equal(reply.native.length, started, name)
    count++
  }
  t.diagnostic(`${count} replies`)
  assert.ok(count > 100)
})

test('every recorded reply is sent back verbatim, without reply-only fields', { skip }, (t) => {
  let count = 0
  for (const { name, chunks } of recordings()) {
    const { reply } = decode(chunks)
    const results: Message[] = callsOf(reply).map((call) => ({
      role: 'tool',
      parts: [{ type: 'tool-result', callId: call.callId, name: call.name, output: [{ type: 'text', text: 'ok' }] }],
    }))
    const messages: Message[] = [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }, reply, ...results]
    if (results.length === 0) messages.push({ role: 'user', parts: [{ type: 'text', text: 'continue' }] })
    const { body } = anthropicMessages.encode({ system: [], messages, tools: [], cacheAfter: [] }, target)
    const sent = body.messages as { content: Json[] }[]
    const expected = reply.native.filter(
      (block) => isObject(block) && block.text !== '' && !isLone(block, reply.native),
    )
    if (expected.length > 0) {
      assert.deepEqual(sent[1]?.content, expected.map(lessReplyOnly), name)
      assert.deepEqual(anthropicMessages.refuse(body), [], name)
    }
    count++
  }
  t.diagnostic(`${count} replies`)
})

test('every recorded reply reads the same however it is cut into pieces', { skip }, () => {
  for (const { name, chunks, whole } of recordings()) {
    if (!whole) continue
    for (const piece of [1, 7, 1000]) {
      assert.deepEqual(decode(anthropicMessages.split(whole, piece)), decode(chunks), name)
    }
  }
})

test('every recorded request that was accepted passes the rules', { skip }, (t) => {
  let count = 0
  for (const { name, request } of recordings()) {
    if (!request) continue
    assert.deepEqual(anthropicMessages.refuse(request), [], name)
    count++
  }
  t.diagnostic(`${count} accepted requests`)
  assert.ok(count > 80)
})

test('every recorded refusal is refused with the same status and message', { skip }, (t) => {
  let count = 0
  for (const file of readdirSync(join(corpus, 'errors'))) {
    if (!file.startsWith('anthropic-messages')) continue
    const { request, response } = JSON.parse(readFileSync(join(corpus, 'errors', file), 'utf8')) as {
      request: { body: Json }
      response: { status: number; body: { error: JsonObject } }
    }
    const [issue] = anthropicMessages.refuse(request.body)
    assert.ok(issue, file)
    assert.equal(issue.status, response.status, file)
    const body = anthropicMessages.errorBody(issue) as JsonObject
    assert.deepEqual(body.error, response.body.error, file)
    assert.deepEqual(Object.keys(body).toSorted(), Object.keys(response.body).toSorted(), file)
    count++
  }
  t.diagnostic(`${count} refusals`)
  assert.ok(count >= 2)
})

test('every recorded conversation is valid here, wherever it is cut', { skip }, (t) => {
  let count = 0
  const folder = join(corpus, 'trajectories/claude-code')
  for (const file of readdirSync(folder)) {
    const { messages } = anthropicMessagesFormat.read(JSON.parse(readFileSync(join(folder, file), 'utf8')) as Json)
    const step = Math.max(1, Math.floor(messages.length / (thorough ? 15 : 5)))
    for (let cut = 1; cut <= messages.length; cut += step) {
      for (const some of [messages.slice(0, cut), messages.slice(cut - 1, cut + 40)]) {
        const paired = pair(some)
        const { body } = anthropicMessages.encode(
          { system: [], messages: paired.messages, tools: [], cacheAfter: [], places: paired.places },
          target,
        )
        assert.deepEqual(anthropicMessages.refuse(body), [], `${file} at ${cut}`)
        count++
      }
    }
  }
  t.diagnostic(`${count} cuts`)
})

test('a body of this wire that Bedrock accepted passes the rules too', { skip }, (t) => {
  let count = 0
  const folder = join(corpus, 'streams/bedrock-invoke')
  for (const file of readdirSync(folder)) {
    const { request } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { request: { body: Json } }
    assert.deepEqual(anthropicMessages.refuse(request.body), [], file)
    count++
  }
  t.diagnostic(`${count} accepted requests`)
})
