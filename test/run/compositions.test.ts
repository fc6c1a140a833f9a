// The parts that applications put together: routes as functions, tools of the provider, the context of tools, presets.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import test from 'node:test'
import type { JsonObject } from '../../src/core/json.ts'
import { textOf, type Message } from '../../src/core/message.ts'
import type { ToolRun } from '../../src/core/tool.ts'
import {
  createProvider,
  openMemoryStore,
  openSqliteStore,
  openSynapse,
  prepare,
  refuse,
  type Route,
} from '../../src/index.ts'
import { createEmulator } from '../../src/testing.ts'
import { clock, collect, only, start } from './chatting.ts'

test('a function route is called for the final answer, and composes it by naming another model', async () => {
  const asked: string[] = []
  const { chat } = await start({ model: 'anthropic/claude-opus-5' })
  const run = chat.send('What time is it?', {
    route({ kind, step }) {
      asked.push(`${step}:${kind}`)
      return kind === 'answer' ? 'mistral/mistral-medium-latest' : undefined
    },
  })
  assert.equal((await run.ended).reply?.origin.provider, 'mistral')
  assert.ok(asked.includes('3:answer'), asked.join())
  const plain = await chat.send('What time is it?', { route: () => undefined }).ended
  assert.equal(plain.reply?.origin.provider, 'anthropic')
  const same = await chat.send('What time is it?', { route: () => 'anthropic/claude-opus-5' }).ended
  assert.equal(same.usage.input > 0, true)
  const roles = (await chat.history()).map(({ message }) => message.role).slice(-4)
  assert.deepEqual(roles, ['user', 'assistant', 'tool', 'assistant'])
})

test('a failing composing model is an event, and the existing reply is used', async () => {
  const { chat, emulator } = await start({ model: 'anthropic/claude-opus-5' })
  const failing = async (route: Route) => {
    const run = chat.send('What time is it?', { route })
    const [fallback] = only(await collect(run), 'fallback')
    const { outcome, reply } = await run.ended
    assert.deepEqual([outcome, reply?.origin.provider], ['done', 'anthropic'])
    assert.match(textOf(reply?.parts ?? []), /clock answered/)
    assert.equal(fallback?.to, 'anthropic/claude-opus-5')
    return [fallback.from, fallback.failure.kind]
  }
  assert.deepEqual(await failing({ answer: 'nowhere/x' }), ['nowhere/x', 'bad-input'])
  let ordered = false
  const refused: Route = ({ kind }) => {
    if (kind !== 'answer') return undefined
    if (!ordered) emulator.order({ status: 401 })
    ordered = true
    return 'mistral'
  }
  assert.deepEqual(await failing(refused), ['mistral', 'auth'])
  // Half an answer is none: the conversation continues from the whole one.
  ordered = false
  const cut: Route = ({ kind }) => {
    if (kind !== 'answer') return undefined
    if (!ordered) emulator.order({ cutAt: 8 })
    ordered = true
    return 'openai'
  }
  assert.deepEqual(await failing(cut), ['openai', 'malformed-reply'])
  const last = (await chat.history()).at(-1)?.message
  assert.ok(last?.role === 'assistant' && last.origin.provider === 'anthropic')
})

test('an answer is composed anew if it was finished or too long, not if it was refused', async () => {
  for (const [reason, provider] of [
    ['done', 'mistral'],
    ['length', 'mistral'],
    ['refusal', 'anthropic'],
  ] as const) {
    const { chat } = await start(
      { model: 'anthropic', route: { answer: 'mistral' } },
      {
        emulation: {
          reply: ({ messages }) =>
            messages.at(-1)?.role === 'tool' || textOf(messages.at(-1)?.parts ?? []) === 'Thanks.'
              ? { parts: [{ type: 'text', text: 'Noon.' }], stop: { reason } }
              : { parts: [{ type: 'tool-call', callId: '', name: 'clock', input: {} }] },
        },
      },
    )
    const { reply, usage } = await chat.send('What time is it?').ended
    assert.equal(reply?.origin.provider, provider, reason)
    const { input } = await chat.usage()
    assert.equal(usage.input, input, 'the run counts all of its requests')
    const before = (await chat.usage()).requests
    await chat.send('Thanks.', { tools: [] }).ended
    assert.equal((await chat.usage()).requests, before + 1, 'an answer without tools is final, whatever came before it')
  }
})

const search: [string, JsonObject][] = [
  ['openai', { type: 'web_search' }],
  ['anthropic', { type: 'web_search_20250305', name: 'web_search' }],
  ['google', { google_search: {} }],
  ['mistral', { type: 'web_search' }],
  ['groq', { type: 'browser_search' }],
  ['ollama', { type: 'web_search' }],
]

test("a provider's own tools are sent with those of the caller, with a note", () => {
  const messages: Message[] = [{ role: 'user', parts: [{ type: 'text', text: 'What time is it?' }] }]
  for (const [provider, tool] of search) {
    const target = { messages, provider, model: 'm' }
    const { tools: own = [] } = prepare({ ...target, tools: [clock] }).body as { tools?: JsonObject[] }
    const { body, notes } = prepare({ ...target, tools: [clock], options: { extra: { tools: [tool] } } })
    assert.deepEqual(body['tools'], [...own, tool], provider)
    assert.equal(notes.filter(({ at }) => at === 'options.extra.tools').length, 1, provider)
    const alone = prepare({ ...target, options: { extra: { tools: [tool] } } })
    assert.deepEqual(alone.body['tools'], [tool], provider)
    assert.equal(
      alone.notes.some(({ at }) => at === 'options.extra.tools'),
      false,
    )
  }
})

test('a prepared request names its protocol, so that it can be checked', () => {
  const { protocol, body } = prepare({ messages: [], provider: 'anthropic' })
  assert.equal(protocol, 'anthropic-messages')
  assert.ok(Array.isArray(refuse(protocol, body)))
})

test('a tool knows the conversation, its owner and the context of the application', async () => {
  const seen: ToolRun[] = []
  const tool = { ...clock, run: (_: unknown, run: ToolRun) => seen.push(run) }
  const { chat } = await start({ model: 'anthropic', tools: [tool] }, { owner: 'ada' })
  const user = { name: 'Ada', reads: () => true }
  await chat.send('What time is it?', { context: user }).ended
  await chat.send('What time is it?').ended
  assert.deepEqual([seen[0]?.conversationId, seen[0]?.owner], [chat.id, 'ada'])
  assert.equal(seen[0]?.context, user)
  assert.equal(seen[1]?.context, undefined)
  assert.equal('context' in (await chat.info()).settings, false)
})

test('another preset reverts what the last one set, and nothing else', () => {
  const provider = createProvider({ provider: 'mistral', offline: true })
  assert.deepEqual([provider.config().preset, provider.config().maxToolTurns], ['economy', 4])
  provider.updateConfig(() => ({ preset: 'classic' }))
  const classic = provider.config()
  assert.deepEqual([classic.maxMessages, classic.maxToolTurns, classic.rhythm], [20, 3, undefined])
  provider.updateConfig((config) => {
    config.maxToolTurns = 5
  })
  provider.updateConfig(() => ({ preset: 'full' }))
  const full = provider.config()
  assert.deepEqual([full.preset, full.maxMessages, full.maxToolTurns], ['full', undefined, 5])
})

test('a compaction by a provider keeps the user messages for every other provider', async () => {
  const emulator = createEmulator()
  const openai = createProvider({ provider: 'openai', model: 'gpt-5.6', offline: emulator })
  await openai.chat('My name is Ada.').ended
  for (let i = 0; i < 3; i++) await openai.chatLoop('What time is it?', [clock]).ended
  const history = await openai.getHistory()
  const shorter = await openai.compact(history)
  assert.ok(shorter.length < history.length)
  const said: Message = { role: 'user', parts: [{ type: 'text', text: 'What is my name?' }] }
  for (const provider of ['anthropic', 'google', 'mistral', 'openai']) {
    const { body } = prepare({ messages: [...shorter, said], provider })
    assert.equal(JSON.stringify(body).split('My name is Ada.').length, 2, provider)
    const other = createProvider({ provider, offline: emulator })
    assert.equal((await other.chatLoop([...shorter, said]).ended).outcome, 'done', provider)
  }
})

test('a store in a folder that does not exist is refused, and nothing is created', async () => {
  const path = '/nonexistent-folder/deep/chats.db'
  await assert.rejects(
    openSynapse({ store: path }),
    /The folder \/nonexistent-folder\/deep of the store does not exist/,
  )
  assert.equal(existsSync('/nonexistent-folder'), false)
})

test('each kind of store can be opened by name', async () => {
  for (const store of [await openMemoryStore(), await openSqliteStore(':memory:')]) {
    const synapse = await openSynapse({ store, offline: true })
    const chat = await synapse.start({ model: 'anthropic' })
    assert.equal((await collect(chat.send('Hello!'))).at(-1)?.type, 'run-end')
    await store.close()
  }
})
