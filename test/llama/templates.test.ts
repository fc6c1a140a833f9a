// Chat templates of local models: what a history must look like so that the model sees all of it. A sample with the real
// server; all of them in templates.all.test.ts.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import type { Message } from '../../src/core/message.ts'
import { openSynapse, prepare } from '../../src/index.ts'
import { rows } from '../../src/providers/rows.ts'
import { formFor, templateData } from '../../src/providers/templates.ts'
import { call, reply, result, user } from '../histories.ts'
import { tools } from '../targets.ts'
import { startLlama } from './server.ts'
import { faultOf, noTemplates, probes, templateFiles, templateName } from './templates.ts'

const parallel: Message[] = [
  user('go'),
  reply('Let me see.', call('a', 'clock', { zone: 'UTC' }), call('b', 'clock', { zone: 'CET' })),
  result('a', '12:00', 'clock'),
  result('b', '13:00', 'clock'),
]

test('an unknown local model gets text and calls separately, one call at a time, with notes', () => {
  const { body, notes } = prepare({ provider: 'vllm', model: 'any', messages: parallel, tools: tools.slice(0, 1) })
  const roles = (body.messages as { role: string }[]).map(({ role }) => role)
  assert.deepEqual(roles, ['user', 'assistant', 'assistant', 'tool', 'assistant', 'tool'])
  assert.deepEqual(
    notes.map(({ what }) => what),
    ['text next to calls to a separate message', '2 calls at once to consecutive turns'],
  )
})

test('the rows of local servers have the careful form of the generated table', () => {
  const careful = templateData.careful
  for (const id of ['ollama', 'lmstudio', 'vllm', 'llama.cpp']) {
    const quirks = rows.find((row) => row.id === id)?.wires[0].quirks ?? {}
    const { separateCalls, oneCallPerTurn } = quirks
    assert.deepEqual({ separateCalls, oneCallPerTurn }, careful, id)
  }
})

test('a template is found by its content, even after small changes', { skip: noTemplates }, () => {
  for (const file of templateFiles) {
    const text = readFileSync(file, 'utf8')
    const known = templateData.templates[templateName(file)]
    assert.deepEqual(formFor(text).form, known?.form, file)
    const changed = text.replace(/\n/, '\n{# a comment of the publisher #}\n')
    assert.deepEqual(formFor(changed).form, known?.form, `${file}, changed`)
  }
  assert.deepEqual(formFor('{{ .System }} {{ .Prompt }}'), { form: templateData.careful })
})

const sample = ['meta-llama-Llama-3.1-8B-Instruct', 'google-gemma-2-2b-it', 'Qwen3-Coder', 'openbmb-MiniCPM5-1B']

for (const name of sample) {
  test(`everything that a history says is in the prompt of ${name}`, { skip: noTemplates }, async () => {
    const file = templateFiles.find((one) => templateName(one) === name)
    assert.ok(file)
    await using server = await startLlama({ template: file })
    const { form } = formFor(readFileSync(file, 'utf8'))
    for (const probe of Object.keys(probes)) {
      for (const withTools of [true, false]) {
        assert.equal(await faultOf(server, probe, form, withTools), undefined, `${probe}, tools: ${withTools}`)
      }
    }
  })
}

test('a run asks the server for its template and its window, once', { skip: noTemplates }, async () => {
  const file = templateFiles.find((one) => one.includes('Llama-3.1'))
  await using server = await startLlama({ ...(file && { template: file }) })
  const asked: string[] = []
  const synapse = await openSynapse({
    store: ':memory:',
    baseUrls: { 'llama.cpp': `${server.url}/v1` },
    transport: {
      fetch: (url, init) => {
        asked.push(new URL(url).pathname)
        return fetch(url, init)
      },
    },
  })
  const conversation = await synapse.start({ model: 'llama.cpp/tiny', options: { maxOutput: 4 } })
  for (const words of ['one', 'two']) await conversation.send(words).ended
  assert.equal(asked.filter((path) => path === '/props').length, 1)
  const { explained } = await conversation.inspect()
  assert.ok(explained.tokens > 0)
  await synapse.close()
})
