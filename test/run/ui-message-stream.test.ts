// A run in the UI message stream of the AI SDK.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReplyEvent, RunEvent, RunOutcome } from '../../src/core/event.ts'
import type { Json, JsonObject } from '../../src/core/json.ts'
import type { Part, ToolCallPart, ToolResultPart } from '../../src/core/message.ts'
import { noUsage } from '../../src/core/usage.ts'
import { uiMessageResponse } from '../../src/run/events/ui-message-stream.ts'

const origin = { provider: 'openai', protocol: 'openai-chat', model: 'gpt' }
const call: ToolCallPart = { type: 'tool-call', callId: 'c1', name: 'clock', input: { zone: 'UTC' } }

async function written(events: readonly RunEvent[], messageId?: string): Promise<JsonObject[]> {
  async function* given() {
    yield* events
  }
  const lines = (await uiMessageResponse(given(), {}, messageId).text()).split('\n\n')
  assert.deepEqual(lines.splice(-2), ['data: [DONE]', ''])
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as JsonObject)
}

const request: RunEvent = { type: 'request', exchangeId: 'e', provider: 'openai', model: 'gpt', step: 1, notes: [] }
const reply = (event: ReplyEvent): RunEvent => ({ type: 'reply-event', exchangeId: 'e', event })
const ended = (outcome: RunOutcome, rest: object = {}): RunEvent =>
  ({ type: 'run-end', outcome, usage: noUsage, steps: 1, ...rest }) as RunEvent
const types = (chunks: readonly JsonObject[]) => chunks.map(({ type }) => type)
const ofReply = async (...events: ReplyEvent[]) => (await written([request, ...events.map(reply)])).slice(1)
const part = (index: number, one: Part): ReplyEvent[] => [
  { type: 'part-start', index, part: one },
  { type: 'part-end', index, part: one },
]

test('every outcome ends the stream once, with the reason that the client knows for it', async () => {
  for (const [outcome, reason] of [
    ['done', 'stop'],
    ['length', 'length'],
    ['refusal', 'content-filter'],
    ['waiting', 'tool-calls'],
    ['failed', 'error'],
    ['storage-full', 'error'],
    ['max-steps', 'other'],
    ['stopped', 'other'],
  ] as const) {
    assert.deepEqual(await written([ended(outcome)]), [{ type: 'finish', finishReason: reason }])
  }
  assert.deepEqual(types(await written([ended('cancelled')])), ['abort', 'finish'])
  const failure = { kind: 'network', message: 'It broke.' }
  assert.deepEqual((await written([ended('failed', { failure })]))[0], { type: 'error', errorText: 'It broke.' })
})

test('a message has the id that was given, and no other field for it', async () => {
  const start: RunEvent = { type: 'run-start', conversationId: 'k', entryId: 'x' }
  const messageMetadata = { conversationId: 'k' }
  assert.deepEqual(await written([start], 'm'), [{ type: 'start', messageId: 'm', messageMetadata }])
  assert.deepEqual(await written([start]), [{ type: 'start', messageMetadata }])
})

test('each request is one step, and what it left open is closed before the next', async () => {
  const begun = reply({ type: 'part-start', index: 0, part: { type: 'text', text: '' } })
  const more = reply({ type: 'part-delta', index: 0, text: 'Hi' })
  const chunks = await written([request, begun, more, { ...request, exchangeId: 'f' }, more, ended('done')])
  assert.deepEqual(chunks, [
    { type: 'start-step' },
    { type: 'text-start', id: 'e-0' },
    { type: 'text-delta', id: 'e-0', delta: 'Hi' },
    { type: 'text-end', id: 'e-0' },
    { type: 'finish-step' },
    { type: 'start-step' },
    { type: 'finish-step' },
    { type: 'finish', finishReason: 'stop' },
  ])
})

test('a part that arrives whole is written once, and its kind decides how', async () => {
  assert.deepEqual(await ofReply(...part(0, { type: 'text', text: 'Hi' })), [
    { type: 'text-start', id: 'e-0' },
    { type: 'text-delta', id: 'e-0', delta: 'Hi' },
    { type: 'text-end', id: 'e-0' },
  ])
  assert.deepEqual(types(await ofReply(...part(0, { type: 'refusal', text: 'No' }))), [
    'text-start',
    'text-delta',
    'text-end',
  ])
  assert.deepEqual(types(await ofReply(...part(0, { type: 'reasoning', text: '' }))), [
    'reasoning-start',
    'reasoning-end',
  ])
  const onlyEnd = await ofReply({ type: 'part-end', index: 0, part: { type: 'text', text: 'Hi' } })
  assert.deepEqual(types(onlyEnd), ['text-start', 'text-delta', 'text-end'])
})

test('a reply that starts over discards what came before, and closes nothing of it', async () => {
  const start: ReplyEvent = { type: 'reply-start', origin }
  const text: ReplyEvent = { type: 'part-start', index: 0, part: { type: 'text', text: '' } }
  const end: ReplyEvent = { type: 'reply-end', origin, stop: { reason: 'done' }, native: [] }
  assert.deepEqual(types(await ofReply(start, text, start, end)), ['text-start', 'reset-step'])
  assert.deepEqual(types(await ofReply(start, text, end)), ['text-start', 'text-end'])
  const whole = await written([request, reply(text), reply(end), ended('done')])
  assert.equal(types(whole).filter((type) => type === 'text-end').length, 1, 'a part ends once')
})

test('calls, their results and those of the provider are told apart', async () => {
  const own = { toolCallId: 'c1', toolName: 'clock', dynamic: true }
  assert.deepEqual(await ofReply(...part(0, call)), [
    { type: 'tool-input-start', ...own },
    { type: 'tool-input-available', ...own, input: { zone: 'UTC' } },
  ])
  const [, wrong] = await ofReply(...part(0, { ...call, malformed: '{"zo' }))
  assert.deepEqual([wrong?.['type'], wrong?.['input']], ['tool-input-error', '{"zo'])

  const result = (rest: Partial<ToolResultPart>): RunEvent => ({
    type: 'tool-end',
    call,
    result: { type: 'tool-result', callId: 'c1', name: 'clock', output: [{ type: 'text', text: 'noon' }], ...rest },
  })
  const output = { type: 'tool-output-available', toolCallId: 'c1', dynamic: true }
  assert.deepEqual(await written([result({ value: { at: 12 } })]), [{ ...output, output: { at: 12 } }])
  assert.deepEqual(await written([result({})]), [{ ...output, output: 'noon' }])
  assert.deepEqual(await written([result({ failed: true })]), [
    { type: 'tool-output-error', toolCallId: 'c1', errorText: 'noon', dynamic: true },
  ])
  const progress: RunEvent = { type: 'tool-progress', call, value: 'soon' }
  assert.deepEqual(await written([progress]), [{ ...output, output: 'soon', preliminary: true }])

  const searched = (value?: Json): Part => ({
    type: 'server-tool',
    name: 'search',
    ...(value !== undefined && { output: value }),
  })
  const ofProvider = { toolCallId: 'e-0', providerExecuted: true, dynamic: true }
  assert.deepEqual(await ofReply(...part(0, searched())), [
    { type: 'tool-input-available', ...ofProvider, toolName: 'search', input: {} },
  ])
  assert.deepEqual((await ofReply(...part(0, searched('found')))).at(-1), {
    type: 'tool-output-available',
    ...ofProvider,
    output: 'found',
  })
})

test('media are files if they have their bytes, and nothing if they are only named', async () => {
  const media = (data: Extract<Part, { type: 'media' }>['data']): Part => ({
    type: 'media',
    mediaType: 'image/png',
    data,
  })
  assert.deepEqual(await ofReply(...part(0, media({ kind: 'base64', base64: 'AAAA' }))), [
    { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AAAA' },
  ])
  assert.deepEqual(await ofReply(...part(0, media({ kind: 'url', url: 'https://a.example/x.png' }))), [])
})

test('a call that needs approval is asked for by its hash', async () => {
  const event: RunEvent = { type: 'approval-needed', call, argsHash: 'h', expiresAt: '2026-11-17T00:00:00Z' }
  assert.deepEqual(await written([event]), [{ type: 'tool-approval-request', approvalId: 'h', toolCallId: 'c1' }])
})
