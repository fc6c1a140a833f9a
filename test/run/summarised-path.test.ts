// A long conversation whose beginning a summary replaces: a new process reads that beginning without its content, and its
// requests are the same.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Message } from '../../src/core/message.ts'
import { conversationOf, type Conversation } from '../../src/run/conversation.ts'
import { callableTools } from '../../src/run/tools/offer-recall.ts'
import { cachedPath, outlineEnd, readWhole } from '../../src/run/log/path-cache.ts'
import type { RunSettings } from '../../src/run/settings.ts'
import { endpointFinder } from '../../src/runtime/open.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { createEmulator } from '../../src/testing.ts'

const owner = 'local'
const length = 1200

async function summarised(t: TestContext) {
  const store = await openSqliteStore(':memory:')
  t.after(() => store.close())
  const emulator = createEmulator()
  const endpoint = await endpointFinder({ offline: emulator, env: {} })
  const { id } = await store.createConversation(owner)
  await store.appendAll(owner, id, messages())
  const open = (over: Store, settings: Partial<RunSettings> = {}): Conversation =>
    conversationOf({ store: over, owner, endpoint }, id, { model: 'mistral/mistral-large-latest', ...settings })
  const made = await open(store).compact()
  assert.ok(made?.decision.text)
  /** Reads everything, as a store without outlines does. */
  const eager: Store = { ...store, history: (who, entry, options) => store.history(who, entry, last(options)) }
  const place = async () => (await store.conversation(owner, id)) ?? assert.fail('no conversation')
  const path = async () => cachedPath(store, owner)(await place())
  return { store, eager, open, path, place, made, bodies: () => emulator.requests.map(({ body }) => body) }
}

function last(options: { last?: number } | undefined): { last?: number } {
  return options?.last === undefined ? {} : { last: options.last }
}

function messages(): { message: Message }[] {
  const origin = { provider: 'mistral', protocol: 'mistral-chat', model: 'mistral-large-latest' }
  return Array.from({ length: length / 4 }, (_, turn): Message[] => [
    { role: 'user', parts: [{ type: 'text', text: `question ${turn}` }] },
    {
      role: 'assistant',
      parts: [{ type: 'tool-call', callId: `call-${turn}`, name: 'look', input: { turn } }],
      native: [],
      origin,
      stop: { reason: 'tool-calls' },
    },
    {
      role: 'tool',
      parts: [
        { type: 'tool-result', callId: `call-${turn}`, name: 'look', output: [{ type: 'text', text: `${turn} seen` }] },
      ],
    },
    {
      role: 'assistant',
      parts: [{ type: 'text', text: `answer ${turn}` }],
      native: [],
      origin,
      stop: { reason: 'done' },
    },
  ])
    .flat()
    .map((message) => ({ message }))
}

test('the beginning that a summary replaces is read without its content', async (t) => {
  const { path, store, place } = await summarised(t)
  const entries = await path()
  const end = outlineEnd(entries)
  assert.ok(end > length / 2, `${end}`)
  const whole = await store.history(owner, (await place()).head ?? '')
  assert.deepEqual(entries.slice(end + 1), whole.slice(end + 1))
  assert.deepEqual(
    entries.map((entry, i) => ({ ...entry, message: whole[i]?.message })),
    whole,
  )
  assert.deepEqual(await readWhole({ store, owner }, entries), whole)
})

test('a request, and what is recorded about it, is that of a process that has read everything', async (t) => {
  const { store, eager, open, bodies } = await summarised(t)
  const { id } = open(store)
  const requests: unknown[] = []
  for (const over of [eager, store, eager, store]) {
    await open(over).send('What did I ask last?').ended
    const { items } = await store.exchanges(owner, id, { limit: 1 })
    requests.push(items[0]?.notes.filter((note) => note.rule !== 'origins').map(({ what, at }) => [what, at]))
    await open(store).fork((await open(store).history()).at(-3)?.id ?? '')
  }
  const [first, second, third, fourth] = bodies().slice(-4)
  assert.match(JSON.stringify(first), /What did I ask last/)
  assert.deepEqual(second, first)
  assert.deepEqual(fourth, third)
  // Both after a request that is in the cache of the provider.
  assert.deepEqual(requests[3], requests[2])
})

test('if the summary is undone, everything is sent', async (t) => {
  const { store, open, made, bodies } = await summarised(t)
  const here = open(store, { policy: 'full' })
  await here.send('one').ended
  assert.doesNotMatch(JSON.stringify(bodies().at(-1)), /question 7\b/)
  await open(store).undo(made.overlay.id)
  await here.send('two').ended
  assert.match(JSON.stringify(bodies().at(-1)), /question 7\b.*question 8\b.*two/)
})

test('from an entry before the summary the conversation continues with what was said there', async (t) => {
  const { store, open, bodies } = await summarised(t)
  const here = open(store, { policy: 'full' })
  await here.send('one').ended
  const early = (await here.history())[length / 4 - 1]
  await here.fork(early?.id ?? '')
  await here.send('and now?').ended
  assert.match(JSON.stringify(bodies().at(-1)), /question 7\b.*and now\?/)
})

test('a route sees every message', async (t) => {
  const { store, open } = await summarised(t)
  let seen: readonly Message[] = []
  const route = (step: { messages: readonly Message[] }) => {
    seen = step.messages
    return undefined
  }
  await open(store, { route: route as never }).send('one').ended
  assert.match(JSON.stringify(seen[28]), /question 7/)
})

test('recall reads what the summary replaced', async (t) => {
  const { store, path, place } = await summarised(t)
  const run = { store, owner, conversationId: (await place()).id, tools: [], policy: 'economy' }
  const recall = callableTools(run as never, await path()).find(({ name }) => name === 'recall')
  assert.match(JSON.stringify(await recall?.run({ id: '30' }, {} as never)), /7 seen/)
})

test('a store without outlines returns everything', async () => {
  const store = openMemoryStore()
  const { id } = await store.createConversation(owner)
  const entries = await store.appendAll(owner, id, messages())
  const path = await store.history(owner, entries.at(-1)?.id ?? '', { outlineThrough: entries[8]?.id ?? '' })
  assert.deepEqual(path, entries)
})
