// Which conversation a request continues, where nothing but its content says so.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import test from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { createKey } from '../../src/server/keys.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import type { Message } from '../../src/core/message.ts'
import { grouped, quotableHashes, quotedHashes } from '../../src/server/doors/canonical.ts'
import type { Store } from '../../src/store/store.ts'
import { kinds, newStore, reasonToSkip } from '../crash/stores.ts'
import { serving } from '../server/serving.ts'

const model = 'anthropic/claude-opus-5'
type Messages = OpenAI.ChatCompletionMessageParam[]

function chatAt(url: string, apiKey = 'placeholder') {
  const openai = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 })
  return {
    openai,
    /** Asks, and adds the answer to the messages. */
    async say(messages: Messages, content: string, headers: Record<string, string> = {}): Promise<string> {
      messages.push({ role: 'user', content })
      const { data, response } = await openai.chat.completions.create({ model, messages }, { headers }).withResponse()
      const message = data.choices[0]?.message
      assert.ok(message)
      messages.push({ role: 'assistant', content: message.content })
      return response.headers.get('x-synapse-conversation') ?? ''
    },
  }
}

async function rolesAt(store: Store, owner: string, id: string): Promise<string[]> {
  const conversation = await store.conversation(owner, id)
  const path = conversation?.head ? await store.history(owner, conversation.head) : []
  return path.map(({ message }) => message.role)
}

test('a client that sends its whole history continues one conversation', async (t) => {
  const { url, store } = await serving(t)
  const { say } = chatAt(url)
  const messages: Messages = [{ role: 'system', content: 'Be brief.' }]
  const first = await say(messages, 'Remember the word apple.')
  messages[0] = { role: 'system', content: 'Be brief. It is Tuesday.' }
  const second = await say(messages, 'Which word was it?')
  assert.equal(second, first)
  assert.deepEqual(await rolesAt(store, 'local', first), ['user', 'assistant', 'user', 'assistant'])
})

test('an edited history is a branch, and the same question from elsewhere another conversation', async (t) => {
  const { url, store } = await serving(t)
  const { say } = chatAt(url)
  const messages: Messages = []
  const first = await say(messages, 'Remember the word apple.')
  const before = [...messages]
  assert.equal(await say(messages, 'Which word was it?'), first)
  assert.equal(await say(before, 'Spell the word.'), first)
  assert.equal((await store.branches('local', first)).length, 2)
  assert.notEqual(await say([], 'Remember the word apple.'), first)
})

test('a history that was changed anywhere is stored again from there on, and not before', async (t) => {
  const { url, store } = await serving(t)
  const { say } = chatAt(url)
  const messages: Messages = []
  for (let i = 0; i < 11; i++) await say(messages, `Remember the number ${i}.`)
  const count = async () => (await store.conversations('local')).items.map(({ entries }) => entries)
  let [before = 0] = await count()
  for (let unchanged = 2; unchanged <= messages.length; unchanged += 2) {
    const changed = [...messages]
    if (unchanged < messages.length) changed[unchanged] = { role: 'user', content: `Never mind ${unchanged}.` }
    await say(changed, 'Which numbers are left?')
    assert.deepEqual(await count(), [before + changed.length - unchanged], `${unchanged} messages are unchanged`)
    before += changed.length - unchanged
  }
})

test('conversations with the same greeting or examples of the client are distinguished by replies of the server', async (t) => {
  const { url, store } = await serving(t)
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  const ask = async (messages: OpenAI.ChatCompletionMessageParam[]) => {
    const { choices } = await openai.chat.completions.create({ model, messages })
    return { role: 'assistant' as const, content: choices[0]?.message.content ?? '' }
  }
  const user = (content: string) => ({ role: 'user' as const, content })
  const counts = async () =>
    (await store.conversations('local')).items.map(({ entries }) => entries).sort((a, b) => a - b)
  const greeting = [{ role: 'assistant' as const, content: 'Hello! How can I help?' }, user('Hi')]
  const examples = [user('great!'), { role: 'assistant' as const, content: 'positive' }]
  await ask(greeting)
  const reply = await ask(greeting)
  for (const words of ['so so', 'awful']) await ask([...examples, user(words)])
  assert.deepEqual(await counts(), [3, 3, 4, 4])
  await ask([...greeting, reply, user('And now?')])
  assert.deepEqual(await counts(), [3, 4, 4, 5])
})

test('a history whose beginning was rewritten is found by the newest reply', async (t) => {
  const { url, store } = await serving(t)
  const { say } = chatAt(url)
  const messages: Messages = []
  const first = await say(messages, 'Remember the word apple, which is a fruit that grows on trees.')
  messages[0] = { role: 'user', content: 'Skills: none. Remember the word apple.' }
  assert.equal(await say(messages, 'Which word was it?'), first)
  const path = await rolesAt(store, 'local', first)
  assert.deepEqual(path, ['user', 'assistant', 'user', 'assistant'])
  assert.equal((await store.children('local', first, null)).length, 2)
})

test('a history of which only a summary of ours is left is found by it, in the session of the client alone', async (t) => {
  const { url, store } = await serving(t)
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  const send = async (input: string[], session: string) => {
    const items = input.map((content) => ({ role: 'user' as const, content }))
    const body = { model: 'anthropic/claude-opus-5', input: items, prompt_cache_key: session }
    const { data, response } = await openai.responses.create(body).withResponse()
    return { id: response.headers.get('x-synapse-conversation') ?? '', text: data.output_text }
  }
  const first = await send(['Please count to 40.'], 'one')
  assert.ok(first.text.length > 40)
  const shortened = ['Where were we?', `Another model has written this summary:\n${first.text}`, 'Continue.']
  const again = await send(shortened, 'one')
  assert.equal(again.id, first.id)
  assert.deepEqual(await rolesAt(store, 'local', first.id), ['user', 'user', 'user', 'assistant'])
  assert.equal((await store.children('local', first.id, null)).length, 2)
  assert.notEqual((await send(shortened, 'two')).id, first.id, 'another session has copied it')
  assert.notEqual((await send(['Where were we?', 'Continue.'], 'one')).id, first.id, 'the session alone is not enough')
})

test('a long name of a session is not stored with each message, and still tells sessions apart', async (t) => {
  const { url, store } = await serving(t)
  const { openai } = chatAt(url)
  const messages: Messages = [{ role: 'user', content: 'Hello' }]
  const send = async (session: string) => {
    const { response } = await openai.chat.completions
      .create({ model, messages, prompt_cache_key: session })
      .withResponse()
    return response.headers.get('x-synapse-conversation') ?? ''
  }
  const [one, two] = ['one', 'two'].map((end) => 'long '.repeat(2000) + end)
  const first = await send(one ?? '')
  assert.equal(await send(one ?? ''), first)
  assert.notEqual(await send(two ?? ''), first)
  const { items } = await store.records('local', 'door-prefix')
  assert.ok(items.length > 0 && JSON.stringify(items).length < 5000)
})

test('Claude Code names its session in both forms of its user id', async (t) => {
  const { api } = await serving(t)
  const send = async (user_id: string, ...texts: string[]) => {
    const messages = texts.map((content) => ({ role: 'user', content }))
    const body = { model: 'openai/gpt-5.6', max_tokens: 1000, metadata: { user_id }, messages }
    const answer = await api('POST', '/v1/messages', body, { 'anthropic-version': '2023-06-01' })
    const [part] = answer.body['content'] as { text: string }[]
    return { id: answer.headers.get('x-synapse-conversation'), text: part?.text ?? '' }
  }
  const users = [
    (id: string) => `user_ab12_account__session_${id}`,
    (id: string) => JSON.stringify({ device_id: 'ab12', account_uuid: '', session_id: id }),
  ]
  for (const [i, user] of users.entries()) {
    const [one, two] = [
      user(`0f0e0d0c-0000-4000-8000-00000000000${i}`),
      user(`1f0e0d0c-0000-4000-8000-00000000000${i}`),
    ]
    const first = await send(one, `Please count to ${40 + i}.`)
    const shortened = ['Where were we?', `The conversation so far:\n${first.text}`, 'Continue.']
    assert.equal((await send(one, ...shortened)).id, first.id)
    // The form of its own summaries.
    const rest = ['If you need details, read the transcript.', 'Recent messages are kept.\nContinue.'].join('\n\n')
    for (const before of ['', 'Summary:\n', 'Analysis:\nIt counted.\n\nIt ended.\n\nSummary:\n']) {
      const summary = `This session is being continued.\n\n${before}${first.text}\n\n${rest}`
      assert.equal((await send(one, summary)).id, first.id)
      assert.notEqual((await send(two, summary)).id, first.id)
    }
    assert.notEqual((await send(two, ...shortened)).id, first.id)
  }
})

for (const kind of ['memory', ...kinds] as const) {
  test(`requests at once never fail, and none is lost, ${kind}`, { skip: reasonToSkip(kind) }, async (t) => {
    const { url, store } = await serving(t, { store: await newStore(t, kind) })
    const { say } = chatAt(url)
    const messages: Messages = []
    const first = await say(messages, 'Remember the word apple.')
    const questions = ['Which word?', 'Spell the word.', 'Is it a fruit?', 'How long is it?']
    const all = await Promise.all(questions.map((question) => say([...messages], question)))
    assert.ok(all.includes(first))
    const ends = await Promise.all([...new Set(all)].map((id) => store.branches('local', id)))
    assert.equal(ends.flat().length, questions.length, 'each answer ends a branch of its own')
    for (const id of all)
      assert.deepEqual(await rolesAt(store, 'local', id), ['user', 'assistant', 'user', 'assistant'])
  })
}

test('two owners with the same messages never share a conversation', async (t) => {
  const store = openMemoryStore()
  const [ann, ben] = [await createKey(store, { owner: 'ann' }), await createKey(store, { owner: 'ben' })]
  const { url } = await serving(t, { store, requireKeys: true })
  const messages: Messages = []
  const hers = await chatAt(url, ann.key).say(messages, 'Remember the word apple.')
  const his = await chatAt(url, ben.key).say([...messages], 'Which word was it?')
  assert.notEqual(his, hers)
  assert.equal(await store.conversation('ben', hers), undefined)
  assert.deepEqual(await rolesAt(store, 'ben', his), ['user', 'assistant', 'user', 'assistant'])
  assert.deepEqual(await rolesAt(store, 'ann', hers), ['user', 'assistant'])
})

test('previous_response_id continues over any provider, even after a restart', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'synapse-doors-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'chats.db')
  const store = await openSqliteStore(file)
  const before = await serving(t, { store })
  const ask = (url: string, body: OpenAI.Responses.ResponseCreateParamsNonStreaming) =>
    chatAt(url).openai.responses.create(body)
  const first = await ask(before.url, { model, input: 'Remember the word apple.', metadata: { a: 'b' } })
  await before.server.stop(0)
  await store.close()

  const after = await serving(t, { file })
  const { openai } = chatAt(after.url)
  const second = await ask(after.url, {
    model: 'mistral/mistral-large-latest',
    input: 'What is 2 + 3?',
    previous_response_id: first.id,
  })
  assert.equal(second.previous_response_id, first.id)
  const { items } = await after.store.conversations('local')
  assert.equal(items.length, 1)
  assert.deepEqual(await rolesAt(after.store, 'local', items[0]?.id ?? ''), ['user', 'assistant', 'user', 'assistant'])

  const kept = await openai.responses.retrieve(first.id)
  assert.equal(kept.output_text, first.output_text)
  assert.deepEqual(kept.metadata, { a: 'b' })
  assert.ok((kept.usage?.input_tokens ?? 0) > 0)
  const asked = await openai.responses.inputItems.list(second.id, { order: 'asc' })
  assert.deepEqual(
    asked.data.map((item) => ('role' in item ? item.role : item.type)),
    ['user', 'assistant', 'user'],
  )
  await openai.responses.delete(first.id)
  await assert.rejects(openai.responses.retrieve(first.id), { status: 404 })
  await assert.rejects(ask(after.url, { model, input: 'x', previous_response_id: first.id }), {
    status: 400,
    code: 'previous_response_not_found',
  })
})

test('a reply is sent back to its provider unchanged, although the client never had its native form', async (t) => {
  const { url, emulator } = await serving(t)
  const { openai } = chatAt(url)
  const tools: OpenAI.ChatCompletionTool[] = [
    {
      type: 'function',
      function: { name: 'clock', description: 'Tells the time.', parameters: { type: 'object', properties: {} } },
    },
  ]
  const messages: Messages = [{ role: 'user', content: 'What time is it? Please think first.' }]
  const ask = () => openai.chat.completions.create({ model, messages, tools, reasoning_effort: 'high' })
  const message = (await ask()).choices[0]?.message
  const call = message?.tool_calls?.[0]
  assert.ok(message && call)
  messages.push(
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: call.id, content: '12:00' },
  )
  await ask()
  const sent = JSON.stringify(emulator.requests.at(-1)?.body)
  assert.match(sent, /"type":"thinking",.*"signature":"[^"]{40}/)
})

test('a reply is recognised if its client has split it, written its calls again and given them other ids', async (t) => {
  const { url, store } = await serving(t)
  const { openai } = chatAt(url)
  const tools = ['move', 'turn'].map((name) => ({ type: 'function' as const, function: { name } }))
  const messages: Messages = [
    {
      role: 'user',
      content: 'Use the tool move with {"to":[{"x":1,"y":2}],"by":3} and use the tool turn with {"by":90}.',
    },
  ]
  const { data, response } = await openai.chat.completions.create({ model, messages, tools }).withResponse()
  const rewritten = { move: '{"by": 3, "to": [{"y": 2, "x": 1}]}', turn: '{ "by": 90 }' }
  for (const call of data.choices[0]?.message.tool_calls ?? []) {
    assert.ok(call.type === 'function')
    const { name } = call.function as { name: 'move' | 'turn' }
    const tool_calls = [{ type: 'function' as const, id: name, function: { name, arguments: rewritten[name] } }]
    messages.push({ role: 'assistant', content: null, tool_calls })
  }
  for (const id of ['move', 'turn']) messages.push({ role: 'tool', tool_call_id: id, content: `did ${id}` })
  await openai.chat.completions.create({ model, messages, tools })
  const id = response.headers.get('x-synapse-conversation') ?? ''
  assert.deepEqual(await rolesAt(store, 'local', id), ['user', 'assistant', 'tool', 'tool', 'assistant'])
})

for (const [by, target] of [
  ['translated', 'openai/gpt-5.6'],
  ['passed through', 'anthropic/claude-opus-5'],
] as const) {
  test(`runs of the same agent with the same first steps are distinguished by their calls, ${by}`, async (t) => {
    const { url, store } = await serving(t)
    const anthropic = new Anthropic({ apiKey: 'any', baseURL: url, maxRetries: 0 })
    const tools = [{ name: 'add', description: 'Adds.', input_schema: { type: 'object' as const } }]
    const agent = () => {
      const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Use the tool add with {"a":1,"b":2}' }]
      return async () => {
        const stream = anthropic.messages.stream({ model: target, max_tokens: 100, messages, tools })
        const { content } = await stream.finalMessage()
        const results = content.flatMap((part) =>
          part.type === 'tool_use' ? [{ type: 'tool_result' as const, tool_use_id: part.id, content: '3' }] : [],
        )
        messages.push({ role: 'assistant', content }, { role: 'user', content: results })
        return stream.response?.headers.get('x-synapse-conversation')
      }
    }
    const [one, two, three] = [agent(), agent(), agent()]
    const first = [await one(), await two()]
    assert.deepEqual([await one(), await two()], first)
    first.push(await three())
    assert.equal(await three(), first[2])
    const { items } = await store.conversations('local')
    assert.deepEqual(
      items.map(({ entries }) => entries),
      [4, 4, 4],
    )
  })
}

test('a history has the same digests whatever others with the same beginning were read before it', () => {
  const message = (role: string, text: string) => ({ role, parts: [{ type: 'text', text }] }) as unknown as Message
  const first = message('user', 'Hello')
  const ends = [message('user', 'Go on.'), message('assistant', 'One.'), message('assistant', 'Two.')]
  let histories: Message[][] = [[first]]
  for (let length = 1; length <= 4; length++) {
    histories = histories.flatMap((history) => ends.map((end) => [...history, end]))
    for (const history of [...histories, ...histories.toReversed()]) {
      const read = structuredClone(history)
      assert.deepEqual(grouped(history), grouped(read))
    }
  }
})

test('the part of a reply that is marked as its summary identifies it too', () => {
  const summary = '1. The user wants a parser.\n\n2. It has no tests yet, and they come next.'
  const text = `<analysis>\nLong.\n</analysis>\n\n<summary>\n${summary.replace('\n\n', '\n\n\n')}\n</summary>`
  const reply = { role: 'assistant' as const, parts: [{ type: 'text' as const, text }] } as unknown as Message
  const quoting = { role: 'user' as const, parts: [{ type: 'text' as const, text: `Before.\n\nSummary:\n${summary}` }] }
  const found = new Set(quotedHashes(quoting))
  assert.deepEqual(
    quotableHashes(reply).map((hash) => found.has(hash)),
    [false, true],
  )
})
