// When `recall` is offered to the model.

import assert from 'node:assert/strict'
import test from 'node:test'
import { isObject, type JsonObject } from '../../src/core/json.ts'
import { defineTool } from '../../src/run/tools/define-tool.ts'
import { recallTool } from '../../src/run/tools/recall.ts'
import { openSynapse } from '../../src/runtime/open.ts'
import { createEmulator } from '../../src/testing.ts'

const read = defineTool({
  name: 'read',
  description: 'Reads a file.',
  input: { type: 'object', properties: { path: { type: 'string' } } },
  run: (input) => `content of ${JSON.stringify(input)}: secret_${JSON.stringify(input).length} ${'word '.repeat(400)}`,
})

const long = defineTool({
  name: 'long',
  input: { type: 'object' },
  run: () => `${'a'.repeat(100_000)} needle_77 ${'b'.repeat(100_000)}`,
})

const call = { callId: 'c', conversationId: 'c', owner: 'local', emit: () => {}, signal: new AbortController().signal }

async function chatWith(policy: object, system?: string) {
  const emulator = createEmulator()
  const synapse = await openSynapse({ offline: emulator, env: {} })
  const chat = await synapse.start({
    model: 'anthropic/claude-opus-5',
    tools: [read, long],
    policy,
    ...(system !== undefined && { system }),
  })
  const bodies = () => emulator.requests.map((request) => request.body as JsonObject)
  return { synapse, chat, bodies }
}

function toolNames(body: JsonObject | undefined): string[] {
  const tools = Array.isArray(body?.['tools']) ? body['tools'] : []
  return tools.filter(isObject).map((tool) => String(tool['name']))
}

async function useTools(chat: { send(text: string): { ended: Promise<unknown> } }, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await chat.send(`use the tool read with {"path":"/srv/app/src/part-${i}.ts"}`).ended
}

test('recall is offered as soon as something is folded, and every number that a fold names can be read', async () => {
  const { chat, bodies } = await chatWith({ maxToolTurns: 1, step: 1 })
  await useTools(chat, 1)
  assert.deepEqual(toolNames(bodies().at(-1)), ['read', 'long'])
  await useTools(chat, 3)
  const body = bodies().at(-1)
  assert.deepEqual(toolNames(body), ['read', 'long', 'recall'])
  const text = JSON.stringify(body?.['messages'])
  assert.equal(text.split('The tool `recall` reads').length - 1, 1, 'one sentence mentions it')
  const numbers = [...text.matchAll(/\[Tool use #([\d.]+)\]/g)].map(([, number]) => number)
  assert.ok(numbers.length >= 2)
  for (const number of numbers) {
    const run = chat.send(`use the tool recall with {"id":"${number}"}`)
    assert.match(await run.text(), /recall answered: .*read was called with.*secret_/s)
  }
})

test('recall is offered once a summary has replaced something', async () => {
  const { chat, bodies } = await chatWith({ preset: 'full', compaction: { keep: 1, native: false } })
  for (const text of ['My name is Ada.', 'I live in London.', 'I write programs.']) await chat.send(text).ended
  assert.deepEqual(toolNames(bodies().at(-1)), ['read', 'long'])
  assert.ok(await chat.compact())
  await chat.send('Who am I?').ended
  assert.deepEqual(toolNames(bodies().at(-1)), ['read', 'long', 'recall'])
})

test('a policy without recall never offers it', async () => {
  const { chat, bodies } = await chatWith({ maxToolTurns: 1, step: 1, recall: false })
  await useTools(chat, 4)
  assert.ok(bodies().every((body) => !toolNames(body).includes('recall')))
  assert.ok(!JSON.stringify(bodies().at(-1)).includes('recall'))
})

test('with tools and a long system prompt it is offered from the start, so that no cached prefix breaks later', async () => {
  const { chat, bodies } = await chatWith({ preset: 'economy' }, 'Mind every rule of the manual. '.repeat(400))
  await chat.send('Hello.').ended
  assert.deepEqual(toolNames(bodies()[0]), ['read', 'long', 'recall'])
})

test('without tools it is not offered, however long the system prompt is', async () => {
  const emulator = createEmulator()
  const synapse = await openSynapse({ offline: emulator, env: {} })
  const chat = await synapse.start({
    model: 'anthropic/claude-opus-5',
    policy: { preset: 'economy' },
    system: 'Mind every rule of the manual. '.repeat(400),
  })
  await chat.send('Hello.').ended
  assert.deepEqual(toolNames(emulator.requests[0]?.body as JsonObject), [])
})

test('a result that was shown in part is read whole, page by page', async () => {
  const { chat, synapse } = await chatWith({ preset: 'full' })
  await chat.send('use the tool long with {}').ended
  const run = chat.send('use the tool recall with {"id":"2","offset":100000}')
  assert.match(await run.text(), /needle_77/)
  await assert.rejects(
    async () => recallTool(synapse.store, 'local', chat.id).run({ id: '99' }, call),
    /no tool use #99/,
  )
  await synapse.close()
})
