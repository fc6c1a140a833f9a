// The official client, unchanged, against the Messages wire.

import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { createEmulator, type ServeOptions } from '../../src/testing.ts'
import { clock, drained, served } from './emulating.ts'

const tools: Anthropic.Tool[] = [
  { name: 'clock', description: 'Tells the time.', input_schema: { type: 'object', properties: {} } },
  {
    name: 'add',
    input_schema: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
    },
  },
]
const model = 'claude-opus-5'
const bound = 'claude-opus-5-5'

async function client(t: TestContext, options: ServeOptions = {}) {
  const emulator = await served(t, options)
  return { emulator, anthropic: new Anthropic({ apiKey: 'any', baseURL: `${emulator.url}/anthropic`, maxRetries: 0 }) }
}

const textOf = (message: Pick<Anthropic.Beta.BetaMessage, 'content'> | Anthropic.Message) =>
  message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')

describe('messages', () => {
  test('a conversation with two tools at once, not streamed', async (t) => {
    const { anthropic } = await client(t)
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'What time is it, and what is 17 + 25?' }]
    const first = await anthropic.messages.create({ model, max_tokens: 1000, messages, tools })
    assert.equal(first.stop_reason, 'tool_use')
    const uses = first.content.filter((block) => block.type === 'tool_use')
    assert.deepEqual(
      uses.map((use) => [use.name, use.input]),
      [
        ['clock', {}],
        ['add', { a: 17, b: 25 }],
      ],
    )
    messages.push(
      { role: 'assistant', content: first.content },
      {
        role: 'user',
        content: uses.map((use) => ({
          type: 'tool_result',
          tool_use_id: use.id,
          content: use.name === 'add' ? '42' : '12:00',
        })),
      },
    )
    const second = await anthropic.messages.create({ model, max_tokens: 1000, messages, tools })
    assert.match(textOf(second), /clock answered: 12:00\nadd answered: 42/)
    assert.equal(second.stop_reason, 'end_turn')
  })

  test('a stream starts with the tokens of the prompt, and ends with those of the answer', async (t) => {
    const { anthropic } = await client(t)
    const body = { model, max_tokens: 2000, messages: [{ role: 'user' as const, content: 'Tell me a long story.' }] }
    const { usage } = await anthropic.messages.create(body)
    assert.ok(usage.output_tokens > 1)
    for await (const event of await anthropic.messages.create({ ...body, stream: true })) {
      if (event.type === 'message_start') {
        assert.equal(event.message.usage.output_tokens, 1)
        assert.equal(event.message.usage.input_tokens, usage.input_tokens)
      }
      if (event.type === 'message_delta') assert.equal(event.usage.output_tokens, usage.output_tokens)
    }
  })

  test('the streaming helper puts text, thinking and calls together', async (t) => {
    const { anthropic } = await client(t)
    const stream = anthropic.messages.stream({
      model,
      max_tokens: 4000,
      thinking: { type: 'adaptive' },
      tools,
      messages: [{ role: 'user', content: 'What is 1 + 2?' }],
    })
    let thinking = ''
    stream.on('thinking', (delta) => (thinking += delta))
    const message = await stream.finalMessage()
    const [thought, use] = message.content
    assert.ok(thought?.type === 'thinking' && use?.type === 'tool_use')
    assert.equal(thought.thinking, thinking)
    assert.ok(thought.signature.length > 64)
    assert.deepEqual(use.input, { a: 1, b: 2 })
    assert.ok(message.usage.input_tokens > 0 && message.usage.output_tokens > 0)
  })

  test('hidden thinking has only its signature, and is sent back with it', async (t) => {
    const { anthropic } = await client(t)
    const thinking = { type: 'adaptive', display: 'omitted' } as const
    const question: Anthropic.MessageParam = { role: 'user', content: 'Hello' }
    const first = await anthropic.messages.create({ model: bound, max_tokens: 4000, thinking, messages: [question] })
    const [thought] = first.content
    assert.ok(thought?.type === 'thinking' && thought.thinking === '' && thought.signature.length > 64)
    const messages = [question, { role: 'assistant' as const, content: first.content }, question]
    await anthropic.messages.create({ model: bound, max_tokens: 4000, thinking, messages })
  })

  test('a refusal is an error of the official client, with the message of the provider', async (t) => {
    const { anthropic } = await client(t)
    const messages: Anthropic.MessageParam[] = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'clock', input: {} }] },
      { role: 'user', content: 'never mind' },
    ]
    await assert.rejects(anthropic.messages.create({ model, max_tokens: 100, messages, tools }), (error) => {
      assert.ok(error instanceof Anthropic.BadRequestError)
      assert.ok(
        error.message.includes(
          '`tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
        ),
        error.message,
      )
      return true
    })
  })

  test('tokens are counted as the reply will report them', async (t) => {
    const { anthropic } = await client(t)
    const body = {
      model,
      messages: [{ role: 'user' as const, content: 'How long is this?' }],
      system: 'Be brief.',
      tools,
    }
    const { input_tokens } = await anthropic.messages.countTokens(body)
    const reply = await anthropic.messages.create({ ...body, max_tokens: 100 })
    assert.equal(reply.usage.input_tokens, input_tokens)
  })

  test('models are listed', async (t) => {
    const { anthropic } = await client(t)
    const models = await anthropic.models.list()
    assert.ok(models.data.some(({ id }) => id === model))
  })
})

describe('prompt cache', () => {
  test('marks are accounted for in the provider’s own fields', async (t) => {
    const time = clock()
    const { anthropic } = await client(t, { now: time.now })
    const system: Anthropic.TextBlockParam[] = [
      { type: 'text', text: 'long '.repeat(2000), cache_control: { type: 'ephemeral', ttl: '1h' } },
    ]
    const ask = (content: string) =>
      anthropic.messages.create({
        model,
        max_tokens: 100,
        system,
        messages: [{ role: 'user', content: [{ type: 'text', text: content, cache_control: { type: 'ephemeral' } }] }],
      })
    const first = (await ask('one')).usage
    assert.equal(first.cache_read_input_tokens, 0)
    assert.equal(first.input_tokens, 0)
    const long = first.cache_creation?.ephemeral_1h_input_tokens ?? 0
    assert.ok(long > 2400)
    assert.equal(first.cache_creation_input_tokens, long + (first.cache_creation?.ephemeral_5m_input_tokens ?? 0))

    time.pass(30 * 60_000)
    const second = (await ask('two')).usage
    assert.equal(second.cache_read_input_tokens, long)
    time.pass(61 * 60_000)
    assert.equal((await ask('three')).usage.cache_read_input_tokens, 0)
  })
})

describe('thinking that is bound to its prefix', () => {
  const thinking = { type: 'adaptive' } as const
  async function turn(anthropic: Anthropic, messages: Anthropic.Beta.BetaMessageParam[], rest: object = {}) {
    return anthropic.beta.messages.create({ model: bound, max_tokens: 4000, thinking, messages, tools, ...rest })
  }

  async function conversation(t: TestContext) {
    const { anthropic } = await client(t)
    const messages: Anthropic.Beta.BetaMessageParam[] = [{ role: 'user', content: 'What is 1 + 2?' }]
    for (const result of ['3', undefined]) {
      const reply = await turn(anthropic, messages)
      messages.push({ role: 'assistant', content: reply.content })
      const use = reply.content.find((block) => block.type === 'tool_use')
      if (use && result)
        messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: result }] })
    }
    messages.push({ role: 'user', content: 'And 3 + 4?' })
    return { anthropic, messages }
  }

  const changes: [what: string, change: (messages: Anthropic.Beta.BetaMessageParam[]) => object][] = [
    ['the first message', (messages) => ((messages[0] = { role: 'user', content: 'What is 1 + 3?' }), {})],
    [
      'a tool result',
      (messages) => {
        const content = messages[2]?.content
        const block = Array.isArray(content) ? content[0] : undefined
        if (block?.type === 'tool_result') messages[2] = { role: 'user', content: [{ ...block, content: '4' }] }
        return {}
      },
    ],
    ['the system prompt', () => ({ system: 'New.' })],
    ['the tools', () => ({ tools: tools.slice(1) })],
  ]

  test('an unchanged body is accepted, even with other cache marks and settings', async (t) => {
    const { anthropic, messages } = await conversation(t)
    messages[messages.length - 1] = {
      role: 'user',
      content: [{ type: 'text', text: 'And 3 + 4?', cache_control: { type: 'ephemeral' } }],
    }
    const reply = await turn(anthropic, messages, { max_tokens: 3000, output_config: { effort: 'low' } })
    assert.equal(reply.stop_reason, 'tool_use')
  })

  for (const [what, change] of changes) {
    test(`another prefix is refused: ${what}`, async (t) => {
      const { anthropic, messages } = await conversation(t)
      const rest = change(messages)
      await assert.rejects(turn(anthropic, messages, rest), (error) => {
        assert.ok(error instanceof Anthropic.BadRequestError)
        assert.match(
          error.message,
          /messages\.\d\.content\.0: Invalid `signature` in `thinking` block\. The block is bound to a different conversation\. Remove the block, or set `thinking\.block_binding\.prefix_mismatch_behavior` to \\"drop_block\\"\./,
        )
        return true
      })
    })

    test(`another prefix is no error where broken blocks are to be dropped: ${what}`, async (t) => {
      const { anthropic, messages } = await conversation(t)
      const rest = change(messages)
      const reply = await turn(anthropic, messages, {
        ...rest,
        thinking: { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } },
        betas: ['thinking-binding-controls-2026-08-01'],
      })
      const dropped = reply.input_transformations ?? []
      assert.ok(dropped.length > 0)
      assert.ok(dropped.every((one) => one.type === 'thinking_dropped' && one.reason === 'prefix_binding_mismatch'))
    })
  }

  test('all thinking, or thinking from the start, may be left out; a gap may not', async (t) => {
    const { anthropic, messages } = await conversation(t)
    const without = (...indexes: number[]) =>
      messages.map((message, i): Anthropic.Beta.BetaMessageParam =>
        indexes.includes(i) && Array.isArray(message.content)
          ? { role: 'assistant', content: message.content.filter((block) => block.type !== 'thinking') }
          : message,
      )
    await turn(anthropic, without(1, 3))
    await turn(anthropic, without(1))
    const reply = await turn(anthropic, messages)
    const use = reply.content.find((block) => block.type === 'tool_use')
    assert.ok(use)
    const later: Anthropic.Beta.BetaMessageParam[] = [
      { role: 'assistant', content: reply.content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: '7' }] },
    ]
    await turn(anthropic, [...messages, ...later])
    await assert.rejects(turn(anthropic, [...without(3), ...later]), Anthropic.BadRequestError)
  })

  test('changed text is detected on every model, and so is an invented signature', async (t) => {
    const { anthropic } = await client(t)
    const first = await anthropic.messages.create({
      model: 'claude-opus-5',
      max_tokens: 4000,
      thinking,
      messages: [{ role: 'user', content: 'Hello' }],
    })
    const send = (change: object) =>
      anthropic.messages.create({
        model: 'claude-opus-5',
        max_tokens: 4000,
        thinking,
        messages: [
          { role: 'user', content: 'Hello' },
          {
            role: 'assistant',
            content: first.content.map((block) => (block.type === 'thinking' ? { ...block, ...change } : block)),
          },
          { role: 'user', content: 'Continue' },
        ],
      })
    await send({})
    await assert.rejects(
      send({ thinking: 'Something else.' }),
      /blocks in the latest assistant message cannot be modified/,
    )
    await assert.rejects(send({ signature: 'made-up' }), /Invalid `signature` in `thinking` block/)
  })
})

describe('threads', () => {
  test('the client’s own thread sends only what is new, and the server answers from all of it', async (t) => {
    const { anthropic, emulator } = await client(t)
    const thread = anthropic.beta.messages.thread({ model, max_tokens: 500, system: 'Be brief.' })
    await thread.send({ role: 'user', content: 'I like tea.' })
    const second = await thread.send({ role: 'user', content: 'What did I say first?' })
    assert.match(textOf(second), /"I like tea\."/)
    const [, continued] = emulator.requests
    assert.ok(continued && typeof continued.body === 'object' && continued.body && 'messages' in continued.body)
    assert.deepEqual(continued.body.messages, [{ role: 'user', content: 'What did I say first?' }])
    assert.ok(!('system' in continued.body))
  })

  test('a lost thread is replayed in full by the client, and continues', async (t) => {
    const time = clock()
    const { anthropic, emulator } = await client(t, { now: time.now })
    const thread = anthropic.beta.messages.thread({ model, max_tokens: 500 })
    await thread.send({ role: 'user', content: 'I like tea.' })
    time.pass(5 * 60_000)
    assert.match(textOf(await thread.send({ role: 'user', content: 'What did I say first?' })), /"I like tea\."/)
    assert.deepEqual(
      emulator.requests.map(({ status }) => status),
      [200, 404, 200],
    )
  })

  test('each way to continue wrongly has its code', async (t) => {
    const { anthropic, emulator } = await client(t)
    const betas: ['message-threads-2026-08-12'] = ['message-threads-2026-08-12']
    const messages = [{ role: 'user' as const, content: 'Hi' }]
    const base = { model, max_tokens: 500, messages, betas }
    const first = await anthropic.beta.messages.create({ ...base, system: 'S', thread: { type: 'create' } })
    const go = (rest: object, previous = first.id) =>
      anthropic.beta.messages.create({ ...base, thread: { type: 'continue', previous_message_id: previous }, ...rest })
    const code = (expected: string) => (error: unknown) =>
      error instanceof Anthropic.APIError && JSON.stringify(error.error).includes(`"error_code":"${expected}"`)

    await assert.rejects(go({}, 'msg_unknown'), code('thread_not_found'))
    await assert.rejects(go({ model: 'claude-sonnet-5' }), code('thread_fingerprint_mismatch'))
    await assert.rejects(go({ system: 'S' }), code('thread_fingerprint_mismatch'))
    await assert.rejects(
      go({ context_management: { edits: [] }, betas: [...betas, 'context-management-2025-06-27'] }),
      code('thread_unsupported_request'),
    )
    const second = await go({})
    await assert.rejects(go({}), code('thread_already_continued'))
    emulator.expire(second.id)
    await assert.rejects(go({}, second.id), code('thread_not_found'))
    await assert.rejects(
      anthropic.beta.messages.create({ ...base, betas: [], thread: { type: 'create' } }),
      /thread: Extra inputs are not permitted/,
    )
  })

  test('a second request is refused while the first is still being answered', async () => {
    const { fetch } = createEmulator()
    const anthropic = new Anthropic({ apiKey: 'any', fetch, maxRetries: 0 })
    const base = { model, max_tokens: 500, betas: ['message-threads-2026-08-12' as const] }
    const first = await anthropic.beta.messages.create({
      ...base,
      messages: [{ role: 'user', content: 'Hi' }],
      thread: { type: 'create' },
    })
    const next = {
      ...base,
      messages: [{ role: 'user' as const, content: 'Hello' }],
      thread: { type: 'continue' as const, previous_message_id: first.id },
    }
    const slow = await anthropic.beta.messages.create({ ...next, stream: true })
    await assert.rejects(anthropic.beta.messages.create(next), /thread_continue_in_flight/)
    await drained(slow)
    await assert.rejects(anthropic.beta.messages.create(next), /thread_already_continued/)
  })
})

describe('context editing and compaction', () => {
  const betas = ['context-management-2025-06-27' as const, 'compact-2026-01-12' as const]
  const history = (turns: number): Anthropic.Beta.BetaMessageParam[] => [
    { role: 'user', content: 'Go.' },
    ...Array.from({ length: turns }, (_, i): Anthropic.Beta.BetaMessageParam[] => [
      { role: 'assistant', content: [{ type: 'tool_use', id: `toolu_${i}`, name: 'clock', input: { n: i } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: `toolu_${i}`, content: 'x'.repeat(4000) }] },
    ]).flat(),
  ]

  test('old tool results are cleared, the newest stay, and the reply reports it', async (t) => {
    const { anthropic } = await client(t)
    const edit = {
      type: 'clear_tool_uses_20250919' as const,
      trigger: { type: 'tool_uses' as const, value: 5 },
      keep: { type: 'tool_uses' as const, value: 2 },
    }
    const ask = (turns: number, stream = false) => {
      const body = {
        model,
        max_tokens: 500,
        tools,
        betas,
        messages: history(turns),
        context_management: { edits: [edit] },
      }
      return stream ? anthropic.beta.messages.stream(body).finalMessage() : anthropic.beta.messages.create(body)
    }
    assert.deepEqual((await ask(4)).context_management, { applied_edits: [] })
    for (const stream of [false, true]) {
      const reply = await ask(8, stream)
      const [applied] = reply.context_management?.applied_edits ?? []
      assert.ok(applied?.type === 'clear_tool_uses_20250919')
      assert.equal(applied.cleared_tool_uses, 6)
      assert.ok(applied.cleared_input_tokens > 5500)
      assert.ok(reply.usage.input_tokens < 3000)
    }
  })

  test('counting returns the size before and after', async (t) => {
    const { anthropic } = await client(t)
    const edits = [{ type: 'clear_tool_uses_20250919' as const, trigger: { type: 'tool_uses' as const, value: 5 } }]
    const count = await anthropic.beta.messages.countTokens({
      model,
      tools,
      betas,
      messages: history(8),
      context_management: { edits },
    })
    assert.ok((count.context_management?.original_input_tokens ?? 0) > count.input_tokens + 4000)
  })

  test('threshold compaction puts a summary first, and what came before it is not read again', async (t) => {
    const { anthropic } = await client(t)
    const edits = [{ type: 'compact_20260112' as const, trigger: { type: 'input_tokens' as const, value: 50_000 } }]
    const base = { model, max_tokens: 2000, tools, betas, context_management: { edits } }
    const messages = history(60)
    const first = await anthropic.beta.messages.create({ ...base, messages })
    assert.deepEqual(
      first.content.map((block) => block.type),
      ['compaction', 'text'],
    )
    const [own] = first.usage.iterations ?? []
    assert.ok(own?.type === 'compaction' && own.input_tokens > 50_000)
    assert.ok(first.usage.input_tokens < own.input_tokens)

    const next = [
      ...messages,
      { role: 'assistant' as const, content: first.content },
      { role: 'user' as const, content: 'How many messages?' },
    ]
    const second = await anthropic.beta.messages.create({ ...base, messages: next })
    assert.match(textOf(second), /This request has 2 messages/)
  })

  test('a compaction that pauses is the whole answer', async (t) => {
    const { anthropic } = await client(t)
    const edits = [
      {
        type: 'compact_20260112' as const,
        trigger: { type: 'input_tokens' as const, value: 50_000 },
        pause_after_compaction: true,
      },
    ]
    const reply = await anthropic.beta.messages
      .stream({ model, max_tokens: 2000, tools, betas, context_management: { edits }, messages: history(60) })
      .finalMessage()
    assert.equal(reply.stop_reason, 'compaction')
    assert.deepEqual(
      reply.content.map((block) => block.type),
      ['compaction'],
    )
  })

  test('compaction on demand gives one signed block that must come back first and untouched', async (t) => {
    const { anthropic } = await client(t)
    const demand = { model, max_tokens: 2000, tools, betas: ['compact-2026-09-04' as const] }
    const made = await anthropic.beta.messages.create({
      ...demand,
      messages: history(2),
      compaction: { type: 'summarize' },
    })
    assert.equal(made.stop_reason, 'compaction')
    assert.equal(made.usage.input_tokens, 0)
    const [block] = made.content
    assert.ok(block?.type === 'compaction' && typeof block.signature === 'string')
    const param = block as Anthropic.Beta.BetaCompactionBlockParam
    const ask = { role: 'user' as const, content: 'Continue.' }
    const send = (messages: Anthropic.Beta.BetaMessageParam[], rest: object = {}) =>
      anthropic.beta.messages.create({ ...demand, messages, ...rest })

    await send([{ role: 'user', content: [param, { type: 'text', text: 'Continue.' }] }])
    await assert.rejects(
      send([{ role: 'user', content: [{ ...param, content: 'Else' }] }, ask]),
      /compaction_content_mismatch/,
    )
    await assert.rejects(
      send([{ role: 'user', content: [{ ...param, signature: 'no' }] }, ask]),
      /compaction_signature_invalid/,
    )
    await assert.rejects(send([ask, { role: 'user', content: [param] }]), /compaction_block_misplaced/)
    await assert.rejects(send([{ role: 'user', content: [param, param] }]), /compaction_block_ambiguous/)
    await assert.rejects(
      send([{ role: 'user', content: [param] }, ask], { betas: [] }),
      /'compaction' is not one of the expected content block types/,
    )
    const open: Anthropic.Beta.BetaMessageParam[] = [
      ...history(1),
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_x', name: 'clock', input: {} }] },
    ]
    await assert.rejects(send(open, { compaction: { type: 'summarize' } }), Anthropic.BadRequestError)
  })
})

test('a prompt that does not fit is refused with the error that clients expect', async (t) => {
  const { anthropic } = await client(t, { contextWindow: 1000 })
  await assert.rejects(
    anthropic.messages.create({ model, max_tokens: 100, messages: [{ role: 'user', content: 'x'.repeat(8000) }] }),
    /prompt is too long: 20\d\d tokens > 1000 maximum/,
  )
})
