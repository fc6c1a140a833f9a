// Recorded exchanges of the real servers. Skipped where the recordings are not there.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import test from 'node:test'
import type { Context } from '../../../src/core/context.ts'
import { fold, type Folded } from '../../../src/core/fold.ts'
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts'
import { callsOf, textOf, type Message, type Origin, type Reply } from '../../../src/core/message.ts'
import { openaiResponses } from '../../../src/wires/openai-responses/index.ts'
import type { Target } from '../../../src/wires/wire.ts'

const corpus = resolve(import.meta.dirname, '../../../../shared/corpus')
const absent = existsSync(corpus) ? false : 'the recordings are not on this machine'

const providers: Record<string, string> = {
  'openai-responses': 'openai',
  'azure-responses': 'azure-openai',
  'xai-responses': 'xai',
  'deepseek-responses': 'deepseek',
  'open-responses': 'lmstudio',
  'openrouter-responses': 'openrouter',
  'bedrock-mantle-responses': 'bedrock',
}

interface Recording {
  name: string
  provider: string
  path?: string
  request?: Json
  status: number
  chunks?: Json[]
  whole?: Json
}

function recordings(): Recording[] {
  return Object.entries(providers).flatMap(([folder, provider]) =>
    readdirSync(`${corpus}/streams/${folder}`).flatMap((file) =>
      replies(readRecording(`streams/${folder}/${file}`, provider)),
    ),
  )
}

/** Some files hold the replies of a whole tool loop, one after the other. */
function replies(recording: Recording): Recording[] {
  const { chunks } = recording
  if (!chunks) return [recording]
  const starts = chunks.flatMap((chunk, i) => (isObject(chunk) && chunk.type === 'response.created' ? [i] : []))
  return starts.map((start, i) => ({ ...recording, chunks: chunks.slice(start, starts[i + 1]) }))
}

function refusals(): Recording[] {
  return readdirSync(`${corpus}/errors`)
    .filter((file) => /^(openai|deepseek)-responses--/.test(file))
    .map((file) => readRecording(`errors/${file}`, file.startsWith('deepseek') ? 'deepseek' : 'openai'))
}

function readRecording(name: string, provider: string): Recording {
  const text = readFileSync(`${corpus}/${name}`, 'utf8')
  if (name.endsWith('.chunks.txt')) {
    const chunks = text.split('\n').filter((line) => line.trim() !== '')
    return { name, provider, status: 200, chunks: chunks.map((line) => JSON.parse(line) as Json) }
  }
  const json = JSON.parse(text) as JsonObject
  if (!isObject(json.request) || !isObject(json.response)) return { name, provider, status: 200, whole: json }
  const { request, response } = json
  const base = {
    name,
    provider,
    path: String(request.path),
    request: request.body ?? null,
    status: Number(response.status),
  }
  if (typeof response.body === 'string') return { ...base, chunks: eventsOf(response.body) }
  return { ...base, whole: response.body ?? null }
}

function eventsOf(text: string): Json[] {
  return text
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:') && !line.includes('[DONE]'))
    .map((line) => JSON.parse(line.slice('data:'.length)) as Json)
}

function decode(chunks: readonly Json[], origin: Origin): Folded {
  const decoder = openaiResponses.decoder(origin)
  const events = chunks.flatMap((chunk) => decoder.push(chunk))
  return fold([...events, ...decoder.end()], origin)
}

function replyOf(recording: Recording): Folded {
  const origin = { protocol: 'openai-responses', provider: recording.provider, model: '' }
  return decode(recording.chunks ?? openaiResponses.split(recording.whole ?? null), origin)
}

function isReply({ path, whole }: Recording): boolean {
  return path?.endsWith('/compact') !== true && !(isObject(whole) && whole.status === 'queued')
}

/** What the server itself says the output was, in the last event. */
function finalOutput(recording: Recording): Json[] {
  const last = recording.chunks?.findLast((chunk) => isObject(chunk) && isObject(chunk.response))
  const response = isObject(last) && isObject(last.response) ? last.response : recording.whole
  const output = isObject(response) && Array.isArray(response.output) ? response.output : []
  // One backend of OpenAI leaves the list empty there.
  return output.length > 0 ? output : finishedItems(recording.chunks ?? [])
}

function finishedItems(chunks: readonly Json[]): Json[] {
  return chunks.flatMap((chunk) =>
    isObject(chunk) && chunk.type === 'response.output_item.done' ? [chunk.item ?? null] : [],
  )
}

test('every recorded reply decodes to what its server reported', { skip: absent }, (t) => {
  const all = recordings().filter(isReply)
  for (const recording of all) {
    const { reply, failure, usage } = replyOf(recording)
    assert.equal(failure, undefined, recording.name)
    assert.ok(['done', 'tool-calls'].includes(reply.stop.reason), `${recording.name}: ${reply.stop.reason}`)
    assert.ok(usage, recording.name)
    const output = finalOutput(recording)
    assert.deepEqual(reply.native.map(typeOf), output.map(typeOf), recording.name)
    assert.equal(textOf(reply.parts), output.map(textIn).join(''), recording.name)
    for (const [index] of reply.native.entries()) {
      assert.ok(
        reply.parts.some((part) => 'from' in part && part.from === index),
        `${recording.name}: item ${index} became no part`,
      )
    }
  }
  t.diagnostic(`${all.length} replies decoded`)
})

test('a recorded whole reply reads the same in pieces of any size', { skip: absent }, (t) => {
  const all = recordings().filter((recording) => recording.whole && isReply(recording))
  for (const { whole, provider, name } of all) {
    const origin = { protocol: 'openai-responses', provider, model: '' }
    const expected = decode(openaiResponses.split(whole ?? null, 1_000_000), origin)
    assert.deepEqual(expected.reply.native, isObject(whole) ? whole.output : [], name)
    for (const piece of [1, 7, 40]) {
      assert.deepEqual(decode(openaiResponses.split(whole ?? null, piece), origin), expected, `${name} by ${piece}`)
    }
  }
  t.diagnostic(`${all.length} whole replies`)
})

test('a body that a server accepted is not refused', { skip: absent }, (t) => {
  const all = recordings().filter((recording) => recording.request && recording.path?.endsWith('/responses'))
  for (const { name, request, provider, status } of all) {
    assert.equal(status, 200)
    assert.deepEqual(openaiResponses.refuse(request ?? null, { provider }), [], name)
  }
  t.diagnostic(`${all.length} accepted requests`)
})

test('a body that a server refused is refused with its error message', { skip: absent }, (t) => {
  let seen = 0
  const all = refusals()
  for (const { name, request, provider, status, whole } of all) {
    // The giant prompt was cut out of this recording, so its body shows nothing wrong.
    if (name.includes('context_length_exceeded')) continue
    const [first] = openaiResponses.refuse(request ?? null, { provider })
    assert.ok(first, name)
    assert.equal(first.status, status, name)
    assert.deepEqual(openaiResponses.errorBody(first), whole, name)
    seen++
  }
  t.diagnostic(`${seen} of ${all.length} recorded refusals`)
})

test('a recorded reply is sent back unchanged', { skip: absent }, (t) => {
  const count = { items: 0, whole: 0, loose: 0, left: 0 }
  for (const recording of recordings().filter(isReply)) {
    const { reply } = replyOf(recording)
    const { body, notes } = openaiResponses.encode(contextWith(reply), targetOf(reply))
    assert.deepEqual(openaiResponses.refuse(body, { provider: recording.provider }), [], recording.name)
    const input = Array.isArray(body.input) ? body.input : []
    for (const item of reply.native) {
      count.items++
      if (input.some((sent) => isSame(sent, item, inputOnly))) count.whole++
      else if (input.some((sent) => isSame(sent, item, [...inputOnly, 'id', 'status']))) count.loose++
      else {
        count.left++
        assert.ok(notes.length > 0, `${recording.name}: ${JSON.stringify(item).slice(0, 200)}`)
      }
    }
  }
  t.diagnostic(`${count.items} items: ${count.whole} whole, ${count.loose} without id, ${count.left} left with a note`)
})

const inputOnly = ['content', 'status']

function isSame(sent: Json, item: Json, less: readonly string[]): boolean {
  if (!isObject(sent) || !isObject(item) || typeOf(sent) !== typeOf(item)) return false
  const skip = typeOf(item) === 'reasoning' ? less : less.filter((key) => key !== 'content' && key !== 'status')
  const strip = (value: JsonObject) =>
    Object.fromEntries(Object.entries(value).filter(([key, field]) => !skip.includes(key) && field !== null))
  const drop = less.includes('id') ? ['id', 'status', 'item_id', 'output_index'] : []
  const rest = (value: JsonObject) =>
    Object.fromEntries(Object.entries(strip(value)).filter(([key]) => !drop.includes(key)))
  try {
    assert.deepEqual(rest(sent), rest(item))
    return true
  } catch {
    return false
  }
}

function contextWith(reply: Reply): Context {
  const results: Message[] = callsOf(reply).map(({ callId, name }) => ({
    role: 'tool',
    parts: [{ type: 'tool-result', callId, name, output: [{ type: 'text', text: 'done' }] }],
  }))
  const asked: Message = { role: 'user', parts: [{ type: 'text', text: 'Continue.' }] }
  return { system: [], messages: [asked, reply, ...results, asked], tools: [], cacheAfter: [] }
}

function targetOf({ origin }: Reply): Target {
  const { capabilities } = openaiResponses
  const isPlain = origin.provider === 'deepseek' || origin.provider === 'lmstudio'
  return {
    provider: origin.provider,
    model: origin.model,
    options: {},
    quirks: isPlain ? { echoReasoning: 'always' } : {},
    capabilities,
  }
}

function typeOf(item: Json): Json {
  return isObject(item) ? (item.type ?? null) : null
}

function textIn(item: Json): string {
  if (!isObject(item) || item.type !== 'message' || !Array.isArray(item.content)) return ''
  return item.content.map((part) => (isObject(part) && part.type === 'output_text' ? String(part.text) : '')).join('')
}
