// Texts and schemas that others choose are read in linear time: the server answers nobody else meanwhile. Each text would
// take minutes with a pattern that begins again at every character, and each schema if its references are followed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findModel } from '../../src/providers/find-model.ts'
import { checkAnswer } from '../../src/run/answer.ts'
import { quotableHashes } from '../../src/server/doors/canonical.ts'
import { readRecording } from '../../src/transport/recording.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { loadWire } from '../../src/wires/list.ts'
import { readFailure } from '../../src/wires/shared/failure.ts'
import { answerDialects, toolDialects } from '../../src/wires/tool-schema/dialect.ts'
import { fitSchema } from '../../src/wires/tool-schema/fit.ts'
import { wantsWrapping } from '../../src/wires/tool-schema/root.ts'
import { serving } from '../server/serving.ts'

const size = 500_000
const many = (text: string) => text.repeat(size / text.length)

/** Each definition refers to the next one twice. */
function doubling(twice: (next: JsonObject) => JsonObject): JsonObject {
  const last = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
  const names = Array.from({ length: 26 }, (_, i) => `d${i}`)
  const next = (i: number) => ({ $ref: `#/$defs/d${i + 1}` })
  return {
    $ref: '#/$defs/d0',
    $defs: { ...Object.fromEntries(names.map((name, i) => [name, twice(next(i))])), d26: last },
  }
}

const choices = {
  anyOf: doubling((next) => ({ anyOf: [next, next] })),
  allOf: doubling((next) => ({ allOf: [next, next] })),
}
const inChoice = doubling((next) => ({ type: 'object', anyOf: [next, next] }))
const dialects = [...Object.values(toolDialects), ...Object.values(answerDialects)].slice(0, 3)

const texts: Record<string, () => unknown> = {
  'a reply of beginnings of a summary': () =>
    quotableHashes({
      role: 'assistant',
      parts: [{ type: 'text', text: many('<summary>') }],
      native: [],
      origin: { protocol: '', provider: '', model: '' },
      stop: { reason: 'done' },
    }),
  'an answer of empty lines after a code block began': () =>
    checkAnswer({ type: 'object' }, `\`\`\`json\n${many('\n')}x`),
  'a wait of many digits in an error': () =>
    readFailure({ status: 500, body: { error: { message: 'Busy.', retryDelay: many('1') } } }),
  'a reply of spaces that is not JSON': async () => readRecording(await loadWire('openai-chat'), `${many(' ')}!`),
  'a schema of choices of choices': () => dialects.map((dialect) => fitSchema(choices.anyOf, dialect)),
  'a schema of objects in choices': () => dialects.map((dialect) => fitSchema(inChoice, dialect)),
  'a schema whose type is in choices': () => Object.values(choices).map(wantsWrapping),
  'an answer to a schema of choices': () => checkAnswer(choices.anyOf, '{}'),
  'an answer to a slow pattern': () => checkAnswer({ pattern: '^(a+)+$' }, JSON.stringify(`${'a'.repeat(40)}!`)),
  'the name of a model': () => assert.rejects(findModel(`a${many('\0')}\nb`, {}), /at most 1000 characters/),
}

for (const [name, read] of Object.entries(texts)) {
  test(name, async () => {
    const began = performance.now()
    await read()
    assert.ok(performance.now() - began < 5000)
  })
}

test('the name of a model has a limit at every door, also where another model is used in its place', async (t) => {
  const { api } = await serving(t, { doorModel: { model: 'anthropic/claude-opus-5', always: true } })
  const model = `openai/${many('gemini-')}`
  const messages = [{ role: 'user', content: 'Hi' }]
  for (const [path, body] of [
    ['/v1/chat/completions', { messages }],
    ['/v1/messages', { messages, max_tokens: 100 }],
    ['/v1/responses', { input: 'Hi' }],
    ['/ollama/api/chat', { messages }],
    ['/ollama/api/show', {}],
    ['/mistral/v1/chat/completions', { messages }],
  ] as const) {
    for (const name of [model, model.slice(7)]) {
      const { status, text } = await api('POST', path, { model: name, ...body })
      assert.deepEqual([path, status], [path, 400])
      assert.match(text, /The name of a model has at most 1000 characters, not \d+\./)
    }
  }
  const { status } = await api('POST', '/api/conversations', { settings: { model } })
  assert.equal(status, 400)
})
