// The official client, unchanged, against the Responses wire and what OpenAI keeps for it.

import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import OpenAI from 'openai'
import { createEmulator, type ServeOptions } from '../../src/testing.ts'
import { clock, drained, served } from './emulating.ts'

const model = 'gpt-5.6'
const tools: OpenAI.Responses.FunctionTool[] = [
  {
    type: 'function',
    name: 'add',
    strict: false,
    parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  },
]

async function client(t: TestContext, options: ServeOptions = {}) {
  const emulator = await served(t, options)
  return { emulator, openai: new OpenAI({ apiKey: 'any', baseURL: `${emulator.url}/openai/v1`, maxRetries: 0 }) }
}

const callsIn = (response: OpenAI.Responses.Response) => response.output.filter((item) => item.type === 'function_call')

describe('responses', () => {
  test('a stateless tool loop, with encrypted reasoning sent back unchanged', async (t) => {
    const { openai } = await client(t)
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'What is 17 + 25?' }]
    const base = { model, tools, store: false, reasoning: { effort: 'low' as const } }
    const first = await openai.responses.create({ ...base, input })
    const [reasoning, call] = first.output
    assert.ok(reasoning?.type === 'reasoning' && call?.type === 'function_call')
    assert.ok((reasoning.encrypted_content ?? '').length > 64)
    assert.ok(reasoning.summary.length > 0)
    assert.deepEqual(JSON.parse(call.arguments), { a: 17, b: 25 })
    input.push(reasoning, call, { type: 'function_call_output', call_id: call.call_id, output: '42' })
    const second = await openai.responses.create({ ...base, input })
    assert.match(second.output_text, /add answered: 42/)
  })

  test('streaming: text and calls arrive in pieces and add up', async (t) => {
    const { openai } = await client(t)
    const stream = openai.responses.stream({ model, input: 'Hello' })
    let text = ''
    stream.on('response.output_text.delta', (event) => (text += event.delta))
    assert.equal((await stream.finalResponse()).output_text, text)
    assert.match(text, /not a model/)

    const calls = await openai.responses
      .stream({ model, tools, input: 'What is 1 + 2 and what is 3 + 4?' })
      .finalResponse()
    assert.deepEqual(
      callsIn(calls).map((call) => call.arguments),
      ['{"a":1,"b":2}', '{"a":3,"b":4}'],
    )
    assert.equal(calls.status, 'completed')
  })

  test('reasoning has a status at xAI and none at OpenAI', async (t) => {
    const { emulator } = await client(t)
    for (const provider of ['openai', 'xai']) {
      const openai = new OpenAI({ apiKey: 'any', baseURL: `${emulator.url}/${provider}/v1` })
      const { output } = await openai.responses.create({ model: 'a-model', input: 'Hi', reasoning: { effort: 'low' } })
      assert.ok(output[0]?.type === 'reasoning', provider)
      assert.equal(output[0].status, provider === 'xai' ? 'completed' : undefined)
    }
  })

  test('what a chain cannot contain is refused with the error message of the provider', async (t) => {
    const { openai } = await client(t)
    const orphan = { type: 'function_call_output', call_id: 'call_1', output: 'x' } as const
    await assert.rejects(
      openai.responses.create({ model, input: [orphan] }),
      (error) =>
        error instanceof OpenAI.BadRequestError &&
        error.message === '400 No tool call found for function call output with call_id call_1.',
    )
  })

  test('encrypted content that is made up, or of another account, is refused', async (t) => {
    const { emulator, openai } = await client(t)
    const first = await openai.responses.create({ model, input: 'Think!', store: false, reasoning: { effort: 'low' } })
    const [reasoning, message] = first.output
    assert.ok(reasoning?.type === 'reasoning' && message?.type === 'message')
    const send = (who: OpenAI, change: object) =>
      who.responses.create({
        model,
        store: false,
        input: [
          { role: 'user', content: 'Think!' },
          { ...reasoning, ...change },
          message,
          { role: 'user', content: 'Continue' },
        ],
      })
    await send(openai, {})
    await assert.rejects(send(openai, { encrypted_content: 'made up' }), /could not be decrypted or parsed/)
    const other = new OpenAI({ apiKey: 'other', baseURL: `${emulator.url}/openai/v1`, maxRetries: 0 })
    await assert.rejects(send(other, {}), /organization_id did not match/)
    await assert.rejects(
      send(openai, { encrypted_content: null }),
      /Items are not persisted when `store` is set to false/,
    )
  })
})

describe('the chain of previous_response_id', () => {
  test('only new items are sent, and all of them are known and billed', async (t) => {
    const { openai } = await client(t)
    const first = await openai.responses.create({ model, input: 'I like tea.' })
    const second = await openai.responses.create({
      model,
      previous_response_id: first.id,
      input: 'What did I say first?',
    })
    assert.match(second.output_text, /"I like tea\."/)
    assert.equal(second.previous_response_id, first.id)
    assert.ok((second.usage?.input_tokens ?? 0) > (first.usage?.input_tokens ?? 0))
  })

  test('a call is answered across the chain, and must be', async (t) => {
    const { openai } = await client(t)
    const first = await openai.responses.create({ model, tools, input: 'What is 17 + 25?' })
    const [call] = callsIn(first)
    assert.ok(call)
    const output = { type: 'function_call_output', call_id: call.call_id, output: '42' } as const
    const chain = { model, tools, previous_response_id: first.id }
    await assert.rejects(
      openai.responses.create({ ...chain, input: 'Never mind.' }),
      /No tool output found for function call/,
    )
    assert.match((await openai.responses.create({ ...chain, input: [output] })).output_text, /add answered: 42/)
  })

  test('instructions are not carried over', async (t) => {
    const { openai } = await client(t)
    const first = await openai.responses.create({ model, instructions: 'Be brief.', input: 'Hi' })
    const ask = { model, previous_response_id: first.id, input: 'What are your instructions?' }
    assert.match((await openai.responses.create(ask)).output_text, /has no instructions/)
  })

  test('one id can be continued twice: two branches that do not know each other', async (t) => {
    const { openai } = await client(t)
    const root = await openai.responses.create({ model, input: 'Root.' })
    const left = await openai.responses.create({ model, previous_response_id: root.id, input: 'Left.' })
    await openai.responses.create({ model, previous_response_id: root.id, input: 'Right.' })
    const after = await openai.responses.create({
      model,
      previous_response_id: left.id,
      input: 'What did I say before?',
    })
    assert.match(after.output_text, /"Left\."/)
  })

  test('unknown, expired, unstored and foreign ids are all not found', async (t) => {
    const time = clock()
    const { emulator, openai } = await client(t, { now: time.now })
    const go = (id: string, who = openai) => who.responses.create({ model, previous_response_id: id, input: 'Hi' })
    const lost = (id: string) => (error: unknown) => {
      assert.ok(error instanceof OpenAI.BadRequestError)
      assert.equal(error.code, 'previous_response_not_found')
      assert.equal(error.param, 'previous_response_id')
      assert.equal(error.message, `400 Previous response with id '${id}' not found.`)
      return true
    }
    await assert.rejects(go('resp_unknown'), lost('resp_unknown'))
    const unstored = await openai.responses.create({ model, input: 'Hi', store: false })
    await assert.rejects(go(unstored.id), lost(unstored.id))
    const kept = await openai.responses.create({ model, input: 'Hi' })
    const other = new OpenAI({ apiKey: 'other', baseURL: `${emulator.url}/openai/v1`, maxRetries: 0 })
    await assert.rejects(go(kept.id, other), lost(kept.id))
    await go(kept.id)
    assert.equal(emulator.expire(kept.id), true)
    await assert.rejects(go(kept.id), lost(kept.id))
    const old = await openai.responses.create({ model, input: 'Hi' })
    time.pass(31 * 24 * 3_600_000)
    await assert.rejects(go(old.id), lost(old.id))
  })

  test('a stored response can be read and deleted', async (t) => {
    const { openai } = await client(t)
    const first = await openai.responses.create({ model, input: 'Hi' })
    assert.deepEqual((await openai.responses.retrieve(first.id)).output, first.output)
    const items = await openai.responses.inputItems.list(first.id)
    assert.equal(items.data.length, 1)
    await openai.responses.delete(first.id)
    await assert.rejects(openai.responses.retrieve(first.id), OpenAI.NotFoundError)
  })

  test('hosts without state refuse it each differently, or ignore it', async (t) => {
    const { url } = await served(t)
    const go = (host: string) =>
      new OpenAI({ apiKey: 'any', baseURL: `${url}/${host}/v1`, maxRetries: 0 }).responses.create({
        model: 'a-model',
        previous_response_id: 'resp_1',
        input: 'How many messages?',
      })
    await assert.rejects(go('llama.cpp'), /400 llama\.cpp does not support 'previous_response_id'\./)
    await assert.rejects(go('vllm'), /404 Response with id 'resp_1' not found\./)
    await assert.rejects(go('openrouter'), OpenAI.BadRequestError)
    assert.match((await go('deepseek')).output_text, /has 1 messages/)
  })
})

describe('lists of items', () => {
  test('are read newest first, or in the requested order, page by page', async (t) => {
    const { openai } = await client(t)
    const said = Array.from({ length: 25 }, (_, i) => `Message ${i}`)
    const items = said.map((content) => ({ role: 'user' as const, content }))
    const { id } = await openai.conversations.create({ items: items.slice(0, 20) })
    await openai.conversations.items.create(id, { items: items.slice(20) })
    const textOf = (item: unknown) => /Message \d+/.exec(JSON.stringify(item))?.[0]
    const first = await openai.conversations.items.list(id)
    assert.deepEqual(first.data.map(textOf), said.toReversed().slice(0, 20))
    assert.equal(first.has_more, true)
    const forth = await openai.conversations.items.list(id, { order: 'asc', limit: 3 })
    assert.deepEqual(forth.data.map(textOf), said.slice(0, 3))
    const all: unknown[] = []
    for await (const item of openai.conversations.items.list(id, { order: 'asc', limit: 10 })) all.push(textOf(item))
    assert.deepEqual(all, said)
    await assert.rejects(openai.conversations.items.list(id, { limit: 101 }), /Expected a value <= 100, but got 101/)
    await assert.rejects(openai.conversations.items.list(id, { after: 'msg_none' }), /not found/)
  })

  test('hold the input of a response', async (t) => {
    const { openai } = await client(t)
    const input = ['One', 'Two', 'Three'].map((content) => ({ role: 'user' as const, content }))
    const { id } = await openai.responses.create({ model, input })
    const texts = (page: { data: unknown[] }) =>
      page.data.map((item) => /One|Two|Three/.exec(JSON.stringify(item))?.[0])
    assert.deepEqual(texts(await openai.responses.inputItems.list(id)), ['Three', 'Two', 'One'])
    const page = await openai.responses.inputItems.list(id, { order: 'asc', limit: 2 })
    assert.deepEqual(texts(page), ['One', 'Two'])
    const after = page.data.at(-1)?.id ?? ''
    assert.deepEqual(texts(await openai.responses.inputItems.list(id, { order: 'asc', after })), ['Three'])
  })
})

describe('the response object', () => {
  test('repeats the request, streamed or not', async (t) => {
    const { openai } = await client(t)
    const asked = {
      model,
      input: 'Hello',
      instructions: 'Be brief.',
      max_output_tokens: 500,
      max_tool_calls: 3,
      metadata: { purpose: 'test' },
      parallel_tool_calls: false,
      prompt_cache_key: 'key',
      reasoning: { effort: 'low' as const },
      safety_identifier: 'someone',
      service_tier: 'flex' as const,
      store: false,
      text: { verbosity: 'low' as const },
      tool_choice: 'auto' as const,
      tools,
      truncation: 'auto' as const,
    }
    const { input: _, tools: __, ...echoed } = asked
    const whole = await openai.responses.create(asked)
    const streamed = await openai.responses.stream(asked).finalResponse()
    for (const response of [whole, streamed]) {
      assert.partialDeepStrictEqual(response, {
        ...echoed,
        reasoning: { effort: 'low', summary: null },
        text: { verbosity: 'low', format: { type: 'text' } },
        temperature: 1,
        background: false,
        previous_response_id: null,
        user: null,
      })
      assert.deepEqual(response.tools, [{ description: null, ...tools[0] }])
    }
    assert.equal(whole.completed_at, whole.created_at)
  })
})

describe('conversations', () => {
  test('messages are stored in the conversation, and items can be added and deleted', async (t) => {
    const { openai } = await client(t)
    const { id } = await openai.conversations.create({ items: [{ role: 'user', content: 'I like tea.' }] })
    const ask = { model, conversation: id, input: 'What did I say first?' }
    const reply = await openai.responses.create(ask)
    assert.match(reply.output_text, /"I like tea\."/)
    assert.equal(reply.conversation?.id, id)
    const items = (await openai.conversations.items.list(id)).data
    assert.deepEqual(
      items.map((item) => item.type === 'message' && item.role),
      ['assistant', 'user', 'user'],
    )
    const first = items.at(-1)?.id
    assert.ok(first)
    await openai.conversations.items.delete(first, { conversation_id: id })
    await openai.conversations.items.create(id, { items: [{ role: 'user', content: 'And jam.' }] })
    assert.match(
      (await openai.responses.create({ ...ask, input: 'What did I say before?' })).output_text,
      /"And jam\."/,
    )
    await openai.conversations.delete(id)
    await assert.rejects(openai.responses.create(ask), OpenAI.NotFoundError)
  })

  test('of two concurrent requests, the second is asked to retry', async () => {
    const { fetch } = createEmulator()
    const openai = new OpenAI({ apiKey: 'any', fetch, maxRetries: 0 })
    const { id } = await openai.conversations.create()
    const slow = await openai.responses.create({ model, conversation: id, input: 'Hello', stream: true })
    await assert.rejects(
      openai.responses.create({ model, conversation: id, input: 'Me too' }),
      (error) => error instanceof OpenAI.BadRequestError && error.code === 'conversation_locked',
    )
    await drained(slow)
    await openai.responses.create({ model, conversation: id, input: 'Now?' })
  })
})

describe('compaction and counting', () => {
  const long = 'tea and jam '.repeat(600)

  test('on demand: user messages stay, one sealed item represents the rest', async (t) => {
    const { openai } = await client(t)
    const first = await openai.responses.create({ model, input: 'I like tea.' })
    const compacted = await openai.responses.compact({ model, previous_response_id: first.id })
    assert.equal(compacted.object, 'response.compaction')
    assert.deepEqual(
      compacted.output.map((item) => item.type),
      ['message', 'compaction'],
    )
    const input = [
      ...compacted.output,
      { role: 'user', content: 'What did I say first?' },
    ] as OpenAI.Responses.ResponseInput
    assert.match((await openai.responses.create({ model, input })).output_text, /"I like tea\."/)
    const item = compacted.output.at(-1)
    assert.ok(item?.type === 'compaction')
    const forged = { ...item, encrypted_content: 'gone' }
    await assert.rejects(
      openai.responses.create({ model, input: [forged, { role: 'user', content: 'Hi' }] }),
      (error) => error instanceof OpenAI.BadRequestError && error.code === 'invalid_encrypted_content',
    )
  })

  test('by threshold: an item appears, and what came before it is neither read nor billed again', async (t) => {
    const { openai } = await client(t)
    const base = { model, context_management: [{ type: 'compaction' as const, compact_threshold: 1500 }] }
    const first = await openai.responses.create({ ...base, input: long })
    assert.ok(!first.output.some((item) => item.type === 'compaction'))
    const second = await openai.responses.create({ ...base, previous_response_id: first.id, input: 'Hello' })
    assert.deepEqual(
      second.output.map((item) => item.type),
      ['compaction', 'message'],
    )
    const third = await openai.responses.create({ ...base, previous_response_id: second.id, input: 'Hello again' })
    assert.ok((third.usage?.input_tokens ?? 0) < 1000)
  })

  test('by a trigger item: the compaction is the whole answer', async (t) => {
    const { openai } = await client(t)
    const input = [{ role: 'user', content: long }, { type: 'compaction_trigger' }] as OpenAI.Responses.ResponseInput
    const reply = await openai.responses.create({ model, input })
    assert.deepEqual(
      reply.output.map((item) => item.type),
      ['compaction'],
    )
  })

  test('tokens are counted as the reply will report them, chain and all', async (t) => {
    const { openai } = await client(t)
    const first = await openai.responses.create({ model, input: 'Hi' })
    const next = { model, previous_response_id: first.id, input: 'How long is this?', instructions: 'Be brief.' }
    const { input_tokens } = await openai.responses.inputTokens.count(next)
    assert.equal((await openai.responses.create(next)).usage?.input_tokens, input_tokens)
  })
})

test('the cache reports reads and writes in the fields of the wire', async (t) => {
  const { openai } = await client(t)
  const first = await openai.responses.create({ model, instructions: 'x'.repeat(8000), input: 'Hi' })
  const second = await openai.responses.create({
    model,
    instructions: 'x'.repeat(8000),
    previous_response_id: first.id,
    input: 'More',
  })
  const details = second.usage?.input_tokens_details
  assert.ok((first.usage?.input_tokens_details.cache_write_tokens ?? 0) > 2000)
  assert.equal(details?.cached_tokens, first.usage?.input_tokens)
  assert.equal((second.usage?.input_tokens ?? 0) - (details?.cached_tokens ?? 0), details?.cache_write_tokens)
})
