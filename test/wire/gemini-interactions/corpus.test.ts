import assert from 'node:assert/strict'
import test from 'node:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts'
import { geminiInteractions } from '../../../src/wires/gemini-interactions/index.ts'
import { user } from '../../histories.ts'
import { decoded, sent, stepsOf } from './target.ts'

const folder = join(import.meta.dirname, '..', '..', '..', '..', 'shared', 'corpus', 'streams', 'gemini-interactions')
const skip = existsSync(folder) ? false : 'the recorded exchanges are not here'
const files = skip ? [] : readdirSync(folder).map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }))

const streams = files
  .filter(({ file }) => file.endsWith('.chunks.txt'))
  .map(({ file, text }) => ({
    file,
    chunks: text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as JsonObject),
  }))
const wholes = files
  .filter(({ file }) => file.endsWith('.json'))
  .map(({ file, text }) => ({ file, whole: JSON.parse(text) as JsonObject }))

test('every recorded stream is decoded without loss and sent back verbatim', { skip }, (t) => {
  for (const { file, chunks } of streams) {
    const { reply, usage, failure } = decoded(chunks)
    const last = chunks.at(-1)?.interaction as JsonObject
    const steps = chunks.filter((chunk) => chunk.event_type === 'step.start')
    assert.equal(failure, undefined, file)
    assert.equal(reply.native.length, steps.length, file)
    assert.equal(reply.stop.raw, last.status, file)
    assert.equal(textOf(reply.native), deltas(chunks, 'text'), file)
    assert.deepEqual(signaturesIn(reply.native), signaturesIn(chunks.map((chunk) => chunk.delta ?? null)), file)
    assert.equal((usage?.input ?? 0) + (usage?.output ?? 0), (last.usage as JsonObject).total_tokens, file)
    assert.deepEqual(stepsOf(sent([user('hi'), reply])).slice(1, 1 + steps.length), reply.native, file)
    assert.deepEqual(
      reply.parts.filter((part) => part.type === 'opaque'),
      [],
      file,
    )
  }
  t.diagnostic(`${streams.length} streams`)
})

test('every recorded interaction is the same, whatever pieces it is read in', { skip }, (t) => {
  for (const { file, whole } of wholes) {
    for (const piece of [1, 7, 1000]) {
      const { reply } = decoded(geminiInteractions.split(whole, piece))
      assert.deepEqual(reply.native, whole.steps, file)
      assert.equal(reply.origin.replyId, whole.id === '' ? undefined : whole.id, file)
    }
    const { reply } = decoded(geminiInteractions.split(whole))
    assert.deepEqual(stepsOf(sent([user('hi'), reply])).slice(1, 1 + reply.native.length), whole.steps, file)
  }
  t.diagnostic(`${wholes.length} interactions`)
})

test('a recorded call, answered, makes a body that is accepted', { skip }, (t) => {
  let count = 0
  for (const { file, whole } of wholes) {
    const { reply } = decoded(geminiInteractions.split(whole))
    const asked = reply.parts.filter((part) => part.type === 'tool-call')
    const results = asked.map((part) => ({
      type: 'tool-result' as const,
      callId: part.callId,
      name: part.name,
      output: [{ type: 'text' as const, text: 'sunny' }],
    }))
    const history = [user('hi'), reply, ...(results.length > 0 ? [{ role: 'tool' as const, parts: results }] : [])]
    assert.deepEqual(geminiInteractions.refuse(sent(history).body), [], file)
    count += results.length
  }
  t.diagnostic(`${count} calls answered`)
})

function deltas(chunks: JsonObject[], type: string): string {
  return chunks
    .map(({ delta }) => (isObject(delta) && delta.type === type && typeof delta.text === 'string' ? delta.text : ''))
    .join('')
}

function textOf(steps: Json[]): string {
  return steps
    .flatMap((step) => (isObject(step) && step.type === 'model_output' ? (step.content as JsonObject[]) : []))
    .map((item) => (typeof item.text === 'string' ? item.text : ''))
    .join('')
}

function signaturesIn(items: Json[]): Json[] {
  return items.flatMap((item): Json[] => (isObject(item) && item.signature ? [item.signature] : []))
}
