// Texts that others choose are read in linear time: the server answers nobody else meanwhile. Each would take minutes
// with a pattern that begins again at every character.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findModel } from '../../src/providers/find-model.ts'
import { checkAnswer } from '../../src/run/answer.ts'
import { quotableHashes } from '../../src/server/doors/canonical.ts'
import { readRecording } from '../../src/transport/recording.ts'
import { loadWire } from '../../src/wires/list.ts'
import { readFailure } from '../../src/wires/shared/failure.ts'
import { serving } from '../server/serving.ts'

const size = 500_000
const many = (text: string) => text.repeat(size / text.length)

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
