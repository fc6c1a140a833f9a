import assert from 'node:assert/strict'
import test from 'node:test'
import { fold } from '../../../src/core/fold.ts'
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts'
import type { Reply } from '../../../src/core/message.ts'
import { readFailure } from '../../../src/wires/shared/failure.ts'
import { geminiGenerate } from '../../../src/wires/gemini-generate/index.ts'
import { valuesIn as listOf } from '../../../src/wires/shared/json-fields.ts'
import { geminiGenerateFormat } from '../../../src/wires/gemini-generate/transcript.ts'
import { pair } from '../../../src/context/pair.ts'
import { user } from '../../histories.ts'
import { exchanges, missing, refusals, type Exchange } from './corpus.ts'
import { contentsOf, sent } from './target.ts'

const folders = ['gemini', 'vertex-gemini', 'gemini-cli']
const recorded = folders.flatMap(exchanges)

test('every recorded answer is read without loss', { skip: missing }, (t) => {
  const reasons: Record<string, number> = {}
  for (const exchange of recorded) {
    const { reply, failure } = read(exchange)
    const parts = chunksOf(exchange).flatMap(partsIn)
    assert.deepEqual(summary(reply.native), summary(parts), exchange.file)
    assert.equal(
      reply.parts
        .filter((part) => part.type === 'text')
        .map((part) => part.text)
        .join(''),
      textIn(parts, false),
      exchange.file,
    )
    assert.equal(
      reply.parts
        .filter((part) => part.type === 'reasoning')
        .map((part) => part.text)
        .join(''),
      textIn(parts, true),
      exchange.file,
    )
    assert.equal(
      reply.parts.some((part) => part.type === 'opaque' && part.from !== undefined),
      false,
      exchange.file,
    )
    assert.equal(failure !== undefined, reply.stop.reason === 'failed', exchange.file)
    reasons[reply.stop.reason] = (reasons[reply.stop.reason] ?? 0) + 1
  }
  t.diagnostic(`${recorded.length} answers: ${JSON.stringify(reasons)}`)
})

test('a complete answer is the same, whatever pieces it is read in', { skip: missing }, (t) => {
  const wholes = recorded.flatMap(({ file, whole }) => (whole === undefined ? [] : [{ file, whole }]))
  for (const { file, whole } of wholes) {
    const parts = partsIn(whole).filter((part) => !isObject(part) || part.text !== '' || part.thoughtSignature)
    for (const piece of [1, 7, 1000]) {
      assert.deepEqual(readChunks(geminiGenerate.split(whole, piece), 'google').reply.native, parts, file)
    }
  }
  t.diagnostic(`${wholes.length} whole answers`)
})

test('every recorded answer is sent back verbatim', { skip: missing }, (t) => {
  let count = 0
  for (const exchange of recorded) {
    const { reply } = read(exchange)
    if (reply.native.length === 0) continue
    const asking = { provider: exchange.provider, capabilities: { signedCalls: false } }
    assert.deepEqual(contentsOf(sent([user('hi'), reply], asking))[1]?.parts, reply.native, exchange.file)
    count++
  }
  t.diagnostic(`${count} replies`)
})

test('usage adds up to the provider’s own total', { skip: missing }, (t) => {
  let count = 0
  for (const exchange of recorded) {
    const { usage } = read(exchange)
    if (!isObject(usage?.raw) || typeof usage.raw.totalTokenCount !== 'number') continue
    assert.equal(usage.input + usage.output, usage.raw.totalTokenCount, exchange.file)
    count++
  }
  t.diagnostic(`${count} counts`)
})

test('a body that Google accepted is not refused', { skip: missing }, (t) => {
  const bodies = [...recorded, ...exchanges('count-tokens')].filter(
    ({ body, status, model }) => status === 200 && model.startsWith('gemini') && isObject(body),
  )
  for (const { file, body, provider, model } of bodies) {
    const request = isObject(body) && isObject(body.generateContentRequest) ? body.generateContentRequest : body
    assert.deepEqual(geminiGenerate.refuse(request ?? null, { provider, model }), [], file)
  }
  t.diagnostic(`${bodies.length} accepted requests`)
})

test('a body that Google accepted is read, and written so that it would be accepted again', { skip: missing }, (t) => {
  let count = 0
  for (const { file, body, provider, model } of recorded) {
    if (!isObject(body)) continue
    const { messages, system = [], tools = [] } = geminiGenerateFormat.read(body)
    assert.deepEqual(geminiGenerateFormat.write(messages), listOf(body.contents), file)
    const encoded = sent(pair(messages).messages, { provider, model, context: { system, tools } })
    assert.deepEqual(geminiGenerate.refuse(encoded.body, { provider, model }), [], file)
    count++
  }
  t.diagnostic(`${count} requests read and written again`)
})

/** None of these could be foretold from the body as it was recorded. */
const beyondTheBody: Record<string, { why: string; kind: string }> = {
  404: { why: 'which models there are, only the server knows', kind: 'not-found' },
  'Cannot fetch content': { why: 'the address is refused by its host', kind: 'invalid-request' },
  'The input token count': { why: 'the giant text was cut short by who recorded it', kind: 'context-overflow' },
}

test('recorded refusals are carried alike and classified', { skip: missing }, (t) => {
  const all = [...refusals('gemini-'), ...refusals('vertex-gemini-')]
  for (const { file, status, answer, body, model } of all) {
    const error = isObject(answer) && isObject(answer.error) ? answer.error : {}
    const message = typeof error.message === 'string' ? error.message : ''
    const known = Object.entries(beyondTheBody).find(([key]) => key === String(status) || message.startsWith(key))
    const issues = geminiGenerate.refuse(body, { model })
    if (issues.length === 0) assert.ok(known, `${file} should be refused: ${message}`)
    assert.equal(readFailure({ status, body: answer }).kind, known?.[1].kind, file)
    assert.deepEqual(geminiGenerate.errorBody({ rule: '', status, message }), answer, file)
    t.diagnostic(`${status} ${message.slice(0, 40)}…: ${known?.[1].why ?? issues[0]?.rule}`)
  }
})

function read(exchange: Exchange) {
  return readChunks(chunksOf(exchange), exchange.provider)
}

function readChunks(chunks: Json[], provider: string) {
  const origin = { protocol: geminiGenerate.id, provider, model: '' }
  const decoder = geminiGenerate.decoder(origin)
  return fold([...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()], origin)
}

function chunksOf({ chunks, whole }: Exchange): Json[] {
  return chunks ?? geminiGenerate.split(whole ?? null)
}

function partsIn(chunk: Json): Json[] {
  const candidate = isObject(chunk) ? listOf(chunk.candidates)[0] : undefined
  return isObject(candidate) && isObject(candidate.content) ? listOf(candidate.content.parts) : []
}

function textIn(parts: Json[], thought: boolean): string {
  return parts
    .filter(isObject)
    .filter((part) => (part.thought === true) === thought && typeof part.text === 'string')
    .map((part) => part.text as string)
    .join('')
}

/** What must not change, whatever is joined: words, signatures in order, calls, and everything else whole. */
function summary(parts: Reply['native']): JsonObject {
  const objects = parts.filter(isObject)
  const calls = objects.flatMap((part): JsonObject[] => (isObject(part.functionCall) ? [part.functionCall] : []))
  return {
    text: textIn(objects, false),
    thoughts: textIn(objects, true),
    signatures: objects.flatMap((part): Json[] => (part.thoughtSignature === undefined ? [] : [part.thoughtSignature])),
    names: calls.flatMap((call): Json[] => (typeof call.name === 'string' ? [call.name] : [])),
    ids: calls.flatMap((call): Json[] => (typeof call.id === 'string' ? [call.id] : [])),
    values: calls.flatMap(valuesIn),
    others: objects.filter((part) => part.text === undefined && part.functionCall === undefined),
  }
}

/** The values of the arguments, which stay the same when arguments that came in pieces are put together. */
function valuesIn({ args, partialArgs }: JsonObject): Json[] {
  const pieces = listOf(partialArgs).flatMap((piece): Json[] => (isObject(piece) ? [piece.stringValue ?? null] : []))
  const values = isObject(args) ? Object.values(args) : []
  return [...values, ...pieces].flatMap((value): Json[] => (value === undefined || value === '' ? [] : [value]))
}
