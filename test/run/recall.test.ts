// What `recall` finds and reads.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isObject, type Json } from '../../src/core/json.ts'
import { openSynapse } from '../../src/runtime/open.ts'
import { recallTool } from '../../src/run/tools/recall.ts'
import { createEmulator } from '../../src/testing.ts'
import { reply, result, user } from '../store/messages.ts'

async function start() {
  const emulator = createEmulator()
  const synapse = await openSynapse({ offline: emulator, env: {} })
  const settings = { model: 'anthropic/claude-opus-5', policy: { maxMessages: 4 } }
  const chat = await synapse.start(settings)
  const tool = recallTool(synapse.store, 'local', chat.id)
  return { emulator, synapse, chat, tool }
}

const call = { callId: 'c', conversationId: 'k', owner: 'local', emit: () => {}, signal: new AbortController().signal }

test('what was cut from the request is found again by the model itself', async () => {
  const { emulator, chat, tool } = await start()
  await chat.send('Hello.').ended
  await chat.send('The code word is quetzalcoatl.').ended
  for (let i = 0; i < 4; i++) await chat.send(`Count to ${i + 1}.`).ended
  const run = chat.send('use the tool recall with {"query":"code word"}', { tools: [tool] })
  assert.match(await run.text(), /recall answered: .*The code word is quetzalcoatl\./)
  const asked = JSON.stringify(emulator.requests.at(-2)?.body)
  assert.ok(!asked.includes('quetzalcoatl'), 'it was not in the request')
})

test('a hit leads to its entry, which is read page by page', async () => {
  const { synapse, chat, tool } = await start()
  const long = `begin ${'words '.repeat(3000)}end`
  const { id } = await synapse.store.append('local', chat.id, { message: user(long) })
  const [hit] = foundIn(await tool.run({ query: '"begin words"' }, call))
  assert.equal(hit?.['entry'], id)
  const first = objectIn(await tool.run({ entry: id }, call))
  assert.match(JSON.stringify(first['text']), /^"begin words/)
  assert.match(JSON.stringify(first['more']), /offset 8000/)
  const last = objectIn(await tool.run({ entry: id, offset: 16_000 }, call))
  assert.match(JSON.stringify(last['text']), /end"$/)
  assert.equal(last['more'], undefined)
})

test('a page of exactly the rest is the last one, and one more character needs another', async () => {
  const { synapse, chat, tool } = await start()
  const pages = async (length: number) => {
    const { id } = await synapse.store.append('local', chat.id, { message: user('x'.repeat(length)) })
    return objectIn(await tool.run({ entry: id }, call))['more']
  }
  assert.equal(await pages(8000), undefined)
  assert.match(String(await pages(8001)), /^1 characters are left: continue with offset 8000\./)
})

test('tool results are found, half of the words are enough, and no match is reported', async () => {
  const { synapse, chat, tool } = await start()
  await synapse.store.append('local', chat.id, { message: user('Look it up.') })
  await synapse.store.append('local', chat.id, { message: reply('Looking.') })
  await synapse.store.append('local', chat.id, { message: result('c1', 'lookup', 'The platypus weighs two kilos.') })
  const [hit] = foundIn(await tool.run({ query: 'platypus' }, call))
  assert.deepEqual([hit?.['kind'], hit?.['tool']], ['output', 'lookup'])
  assert.equal(foundIn(await tool.run({ query: 'platypus elephants' }, call)).length, 1)
  assert.match(String(await tool.run({ query: 'elephants' }, call)), /Nothing in this conversation/)
})

test('another conversation is out of reach', async () => {
  const { synapse, tool } = await start()
  const other = await synapse.store.createConversation('local')
  const { id } = await synapse.store.append('local', other.id, { message: user('a secret') })
  assert.match(String(await tool.run({ query: 'secret' }, call)), /Nothing/)
  await assert.rejects(async () => tool.run({ entry: id }, call), /no entry/)
  await assert.rejects(async () => tool.run({}, call), /give a query/)
})

function foundIn(value: unknown): Record<string, Json | undefined>[] {
  const found = objectIn(value)['found']
  return Array.isArray(found) ? found.filter(isObject) : []
}

function objectIn(value: unknown): Record<string, Json | undefined> {
  return isObject(value) ? value : {}
}
