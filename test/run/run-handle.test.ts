import assert from 'node:assert/strict'
import test from 'node:test'
import {
  readUIMessageStream,
  uiMessageChunkSchema,
  parseJsonEventStream,
  type UIMessage,
  type UIMessageChunk,
} from 'ai'
import type { Run } from '../../src/run/conversation.ts'
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
