// The handle of a run: text, answer, partial object, events that are merged, and responses.

import assert from 'node:assert/strict'
import test, { describe } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import {
  readUIMessageStream,
  uiMessageChunkSchema,
  parseJsonEventStream,
  type UIMessage,
  type UIMessageChunk,
} from 'ai'
import type { ReplyEvent, RunEvent } from '../../src/core/event.ts'
import type { Run } from '../../src/run/conversation.ts'
import type { RunEnd } from '../../src/run/loop.ts'
import { runHandle } from '../../src/run/events/run-handle.ts'
import { call, reply } from '../histories.ts'
import { collect, start } from './chatting.ts'

const thinking = { model: 'anthropic/claude-opus-5', options: { effort: 'high' as const } }

async function all(texts: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const each of texts) text += each
  return text
}

test('the text stream has only the text, separate from the events', async () => {
  const { chat } = await start(thinking)
  const run = chat.send('What time is it?')
  const [text, events] = await Promise.all([all(run.textStream), collect(run)])
  const replies = (await chat.history()).flatMap(({ message }) => (message.role === 'assistant' ? message.parts : []))
  assert.ok(replies.some(({ type }) => type === 'reasoning'))
  assert.equal(text, replies.map((part) => (part.type === 'text' ? part.text : '')).join(''))
  assert.ok(text.includes(await run.text()))
  const types = new Set<string | undefined>()
  for (const event of events)
    if (event.type === 'reply-event' && event.event.type === 'part-delta') types.add(event.event.partType)
  assert.deepEqual(types, new Set(['reasoning', 'text']))
})

test('a failed run throws from its text and its stream, and is seen in its events', async () => {
  const { chat } = await start({ model: 'anthropic' }, { offline: false })
  const run = chat.send('Hello!')
  await assert.rejects(run.text(), /needs a key/)
  await assert.rejects(all(run.textStream), /needs a key/)
  await assert.rejects(run.object(), /needs a key/)
  const last = (await collect(run)).at(-1)
  assert.ok(last?.type === 'run-end')
  assert.equal(last.failure?.kind, 'bad-input')
})

test('a reader that stops leaves the rest to the next one', async () => {
  const { chat } = await start({ model: 'openai/gpt-5.6' })
  const run = chat.send('Count to 50')
  await run.ended
  const types: string[] = []
  for await (const { type } of run) {
    types.push(type)
    if (types.length === 3) break
  }
  for (const { type } of await collect(run)) types.push(type)
  assert.deepEqual([types.indexOf('run-start'), types.indexOf('run-end')], [0, types.length - 1])
  assert.ok(types.includes('message'))
})

test('a second reader takes over, and the first gets an error instead of waiting for ever', async () => {
  const { chat } = await start({ model: 'openai/gpt-5.6' })
  const run = chat.send('Count to 50')
  const [first, second] = await Promise.allSettled([run.toResponse().text(), run.toUIMessageStreamResponse().text()])
  assert.ok(first.status === 'rejected')
  assert.match(String(first.reason), /can be read once/)
  assert.ok(second.status === 'fulfilled')
  assert.match(second.value, /"type":"finish"/)
})

test('a response carries every event as a server-sent event', async () => {
  const { chat } = await start({ model: 'openai/gpt-5.6' })
  const response = chat.send('What time is it?').toResponse({ status: 201, headers: { 'x-mine': 'yes' } })
  assert.equal(response.status, 201)
  assert.equal(response.headers.get('content-type'), 'text/event-stream')
  assert.equal(response.headers.get('x-mine'), 'yes')
  const blocks = (await response.text()).trim().split('\n\n')
  assert.match(blocks[0] ?? '', /^event: run-start\ndata: \{"type":"run-start"/)
  assert.match(blocks.at(-1) ?? '', /^event: run-end\ndata: \{"type":"run-end","outcome":"done"/)
})

test('a run continues when the client of its response disconnects', async () => {
  const { chat } = await start({ model: 'openai/gpt-5.6' })
  const run = chat.send('What time is it?')
  await run.toResponse().body?.cancel()
  assert.equal((await run.ended).outcome, 'done')
})

/** The message as `useChat` reads it, each chunk checked by the AI SDK's own schema. */
async function uiMessage(run: Run): Promise<{ message?: UIMessage; errors: unknown[] }> {
  const { body, headers } = run.toUIMessageStreamResponse()
  assert.equal(headers.get('x-vercel-ai-ui-message-stream'), 'v1')
  assert.ok(body)
  const stream = parseJsonEventStream({ stream: body, schema: uiMessageChunkSchema }).pipeThrough(
    new TransformStream<{ success: boolean; value?: UIMessageChunk; error?: Error }, UIMessageChunk>({
      transform(chunk, controller) {
        if (chunk.success && chunk.value) controller.enqueue(chunk.value)
        else throw chunk.error ?? new Error('not a chunk')
      },
    }),
  )
  const errors: unknown[] = []
  let message: UIMessage | undefined
  for await (const each of readUIMessageStream({ stream, onError: (error) => errors.push(error) })) message = each
  return { ...(message && { message }), errors }
}

test('useChat reads reasoning, calls, results and text of a run', async () => {
  for (const model of ['anthropic/claude-opus-5', 'openai/gpt-5.6', 'google/gemini-3.8-flash', 'mistral']) {
    const { chat } = await start({ ...thinking, model })
    const { message, errors } = await uiMessage(chat.send('What time is it?'))
    assert.deepEqual(errors, [], model)
    const parts = message?.parts ?? []
    const call = parts.find((part) => part.type === 'dynamic-tool')
    assert.equal(call?.toolName, 'clock', model)
    assert.deepEqual([call?.state, call?.output], ['output-available', { time: '12:00', zone: 'UTC' }])
    assert.equal(parts.filter(({ type }) => type === 'step-start').length, 2)
    const last = parts.findLast((part) => part.type === 'text')
    assert.match(last?.text ?? '', /clock answered/)
    assert.equal(last?.state, 'done')
  }
})

test('useChat gets a failed tool, an approval and a failed run', async () => {
  const tool = { name: 'clock', input: { type: 'object', properties: {} } }
  const failing = await start({
    model: 'anthropic',
    tools: [{ ...tool, run: () => Promise.reject(new Error('no battery')) }],
  })
  const { message } = await uiMessage(failing.chat.send('What time is it?'))
  const call = message?.parts.find((part) => part.type === 'dynamic-tool')
  assert.equal(call?.state, 'output-error')
  assert.match(call?.errorText ?? '', /no battery/)

  const asking = await start({ model: 'anthropic', tools: [{ ...tool, ask: true, run: () => 'noon' }] })
  const asked = await uiMessage(asking.chat.send('What time is it?'))
  assert.equal(asked.message?.parts.find((part) => part.type === 'dynamic-tool')?.state, 'approval-requested')

  const { chat } = await start({ model: 'anthropic' }, { offline: false })
  const { errors } = await uiMessage(chat.send('Hello!'))
  assert.match(String(errors[0]), /needs a key/)
})

describe('a run as its caller sees it', () => {
  const controls = { abort: () => {}, steer: () => {}, update: () => {} }
  const inner = (event: ReplyEvent, exchangeId = 'x') => ({ type: 'reply-event', exchangeId, event }) as RunEvent
  const delta = (text: string, partType: string, index = 0) =>
    inner({ type: 'part-delta', index, text, partType } as ReplyEvent)
  const handle = (events: RunEvent[], end: Partial<RunEnd> = {}) =>
    runHandle(
      controls,
      () => undefined,
      async (emit) => {
        await setImmediate()
        for (const event of events) emit(event)
        return { outcome: 'done', ...end } as RunEnd
      },
    )
  const failure = { kind: 'overloaded', message: 'later' } as const

  test('has the text of its replies, and nothing of thoughts and calls', async () => {
    const events = [
      inner({ type: 'part-start', index: 0, part: { type: 'text', text: 'a' } }),
      delta('b', 'text'),
      delta('h', 'reasoning'),
      delta('{}', 'tool-call'),
      inner({ type: 'part-start', index: 1, part: { type: 'reasoning', text: 'hm' } }),
      inner({ type: 'part-end', index: 0, part: { type: 'text', text: 'ab' } }),
      { type: 'run-start', conversationId: 'c' } as RunEvent,
    ]
    const texts: string[] = []
    for await (const text of handle(events).textStream) texts.push(text)
    assert.deepEqual(texts, ['a', 'b'])
    const seen: RunEvent[] = []
    for await (const event of handle(events)) seen.push(event)
    assert.deepEqual(seen, events)
    await assert.rejects(async () => {
      for await (const text of handle(events, { failure }).textStream) texts.push(text)
    }, /later/)
    assert.equal(texts.length, 4, 'the text comes first')
  })

  test('gives its text and answer, or says why there is none', async () => {
    assert.equal(await handle([], { reply: reply('x', 'y') }).text(), 'xy')
    await assert.rejects(async () => handle([], { failure }).text(), /later/)
    await assert.rejects(async () => handle([]).text(), /ended before the model answered/)
    assert.deepEqual(await handle([], { answer: { value: { a: 1 } } }).object(), { a: 1 })
    await assert.rejects(async () => handle([], { answer: { problem: 'bad' } }).object(), /bad/)
    await assert.rejects(async () => handle([]).object(), /no answer schema/)
    await assert.rejects(
      async () => handle([], { outcome: 'cancelled' }).object(),
      /ended as cancelled, without an answer/,
    )
    await assert.rejects(async () => handle([], { failure }).object(), /later/)
  })

  test('shows as much of an object as can be read, each time that is more', async () => {
    const partials = async (...pieces: string[]) => {
      const all: unknown[] = []
      for await (const one of handle(pieces.map((piece) => delta(piece, 'text'))).partialObjectStream) all.push(one)
      return all
    }
    assert.deepEqual(await partials('{"a"', ': 1', '2, "b', '": "x\\', 'n', '"}'), [
      {},
      { a: 1 },
      { a: 12 },
      { a: 12, b: 'x' },
      { a: 12, b: 'x\n' },
    ])
    assert.deepEqual(await partials('[{"a":[1', ',2', ']}', ',{'), [[{ a: [1] }], [{ a: [1, 2] }], [{ a: [1, 2] }, {}]])
    assert.deepEqual(await partials('```json\n{"a":1}', '\n```'), [{ a: 1 }])
    assert.deepEqual(await partials('tr', 'ue'), [true])
    assert.deepEqual(await partials('{"a":"\\u00', 'e9"}'), [{ a: '' }, { a: 'é' }])
    assert.deepEqual(await partials('{"a":tr'), [{}])
    assert.deepEqual(await partials('{"a":"}]"', ',"b":{"c":nul'), [{ a: '}]' }, { a: '}]', b: {} }])
    assert.deepEqual(await partials('no'), [])
  })

  test('merges what nobody has read yet: deltas of one part, and of a call only its end', async () => {
    const many = Array.from({ length: 1001 }, () => ({ type: 'step', n: 1 }) as unknown as RunEvent)
    const merged = async (...events: RunEvent[]) => {
      const run = handle([...many, ...events])
      await run.ended
      const seen: RunEvent[] = []
      for await (const event of run) seen.push(event)
      return seen.slice(1001)
    }
    const asked = inner({ type: 'part-start', index: 1, part: { ...call('a', 'look'), input: {} } })
    const texts = await merged(
      delta('a', 'text'),
      delta('b', 'text'),
      asked,
      delta('{', 'tool-call', 1),
      delta('c', 'text'),
    )
    assert.deepEqual(texts, [delta('abc', 'text')])
    const other = inner({ type: 'part-delta', index: 0, text: 'z', partType: 'text' }, 'other')
    assert.equal((await merged(delta('a', 'text'), other)).length, 2, 'another reply')
    assert.equal((await merged(delta('a', 'text'), delta('b', 'text', 1))).length, 2, 'another part')
    assert.equal((await merged(delta('a', 'text'), { type: 'run-start', conversationId: 'c' } as RunEvent)).length, 2)
    const retry: RunEvent = { type: 'retry', exchangeId: 'x', attempt: 1, waitMs: 1, failure }
    const around = [delta('a', 'text'), retry, delta('b', 'text')]
    assert.deepEqual(await merged(...around), around, 'something else of the same request')
  })

  test('has the whole text for a reader that comes late, however many pieces it had', async () => {
    const events = Array.from({ length: 1500 }, (_, i) => delta(`${i} `, 'text'))
    const run = handle(events)
    await run.ended
    const texts: string[] = []
    for await (const text of run.textStream) texts.push(text)
    assert.equal(texts.join(''), events.map((_, i) => `${i} `).join(''))
    assert.ok(texts.length < 1500, 'the last ones are one')
  })
})
