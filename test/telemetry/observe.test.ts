// Spans and metrics of a run, seen by a tracer and a meter that only remember.

import assert from 'node:assert/strict'
import test from 'node:test'
import {
  context,
  createNoopMeter,
  trace,
  type Attributes,
  type Context,
  type Meter,
  type Span,
  type SpanOptions,
  type Tracer,
} from '@opentelemetry/api'
import type { TelemetryOptions } from '../../src/runtime/telemetry.ts'
import { clock, start } from '../run/chatting.ts'

interface Seen {
  name: string
  attributes: Attributes
  events: string[]
  parent?: Span | undefined
  ended: boolean
  failed: boolean
}

function remembering() {
  const spans: Seen[] = []
  const made = new Map<Span, Seen>()
  const records: { metric: string; value: number; attributes: Attributes }[] = []

  function startSpan(name: string, options: SpanOptions = {}, parent: Context = context.active()): Span {
    const seen: Seen = {
      name,
      attributes: { ...options.attributes },
      events: [],
      parent: trace.getSpan(parent),
      ended: false,
      failed: false,
    }
    const span: Span = {
      spanContext: () => ({ traceId: '', spanId: '', traceFlags: 0 }),
      setAttribute(key, value) {
        seen.attributes[key] = value
        return span
      },
      setAttributes(attributes) {
        Object.assign(seen.attributes, attributes)
        return span
      },
      addEvent(event) {
        seen.events.push(event)
        return span
      },
      addLink: () => span,
      addLinks: () => span,
      setStatus() {
        seen.failed = true
        return span
      },
      updateName: () => span,
      end: () => void (seen.ended = true),
      isRecording: () => true,
      recordException: () => {},
    }
    spans.push(seen)
    made.set(span, seen)
    return span
  }

  const tracer: Tracer = {
    startSpan,
    startActiveSpan() {
      throw new Error('not used')
    },
  }
  const meter: Meter = Object.assign(createNoopMeter(), {
    createHistogram: (metric: string) => ({
      record: (value: number, attributes: Attributes = {}) => void records.push({ metric, value, attributes }),
    }),
  })
  return {
    spans,
    records,
    telemetry: { tracer, meter },
    parentOf: (seen: Seen) => seen.parent && made.get(seen.parent),
  }
}

async function run(question: string, more: Partial<TelemetryOptions> = {}, faults = 0) {
  const seen = remembering()
  const { chat, emulator } = await start(
    { model: 'google/gemini-3.8-flash', tools: [clock] },
    { telemetry: { ...seen.telemetry, ...more } },
  )
  if (faults > 0) emulator.order({ status: 503 }, faults)
  await chat.send(question).ended
  return { ...seen, chat }
}

test('a run is a span, with one under it for each request and each tool', async () => {
  const { spans, records, parentOf, chat } = await run('What time is it?')
  assert.deepEqual(
    spans.map(({ name }) => name),
    ['invoke_agent', 'chat gemini-3.8-flash', 'execute_tool clock', 'chat gemini-3.8-flash'],
  )
  const [whole, request, tool] = spans
  assert.ok(whole && request && tool)
  assert.ok(spans.every(({ ended }) => ended))
  assert.ok(spans.slice(1).every((span) => parentOf(span) === whole))
  assert.equal(whole.attributes['gen_ai.conversation.id'], chat.id)
  assert.equal(whole.attributes['synapse.run.outcome'], 'done')
  assert.equal(request.attributes['gen_ai.provider.name'], 'gcp.gemini')
  assert.equal(request.attributes['gen_ai.request.model'], 'gemini-3.8-flash')
  assert.deepEqual(request.attributes['gen_ai.response.finish_reasons'], ['tool-calls'])
  assert.ok(Number(request.attributes['gen_ai.usage.input_tokens']) > 0)
  assert.equal(tool.attributes['gen_ai.tool.name'], 'clock')
  const tokens = records.filter(({ metric }) => metric === 'gen_ai.client.token.usage')
  assert.deepEqual(
    tokens.map(({ attributes }) => attributes['gen_ai.token.type']),
    ['input', 'output', 'input', 'output'],
  )
  assert.equal(records.filter(({ metric }) => metric === 'gen_ai.client.operation.duration').length, 3)
})

test('message content is in no span and no metric unless requested', async () => {
  const secret = 'My name is Xanthippe. What time is it?'
  const silent = await run(secret)
  assert.doesNotMatch(
    JSON.stringify([silent.spans.map(({ name, attributes, events }) => [name, attributes, events]), silent.records]),
    /Xanthippe|12:00/,
  )
  const told = await run(secret, { content: true })
  assert.match(JSON.stringify(told.spans.map(({ attributes }) => attributes)), /12:00/)
})

test('retries and failures are reported by their kind', async () => {
  const { spans } = await run('Hello', {}, 3)
  const [whole, request] = spans
  assert.deepEqual(request?.events, ['retry', 'retry'])
  assert.equal(request?.attributes['error.type'], 'overloaded')
  assert.ok(request?.failed && whole?.failed)
  assert.equal(whole?.attributes['synapse.run.outcome'], 'failed')
})

test('telemetry without a registered provider warns once, and changes nothing else', async () => {
  const warnings: string[] = []
  const listen = (warning: Error) => void warnings.push(warning.message)
  process.on('warning', listen)
  const { chat } = await start({ model: 'anthropic' }, { telemetry: true })
  assert.equal((await chat.send('Hello!').ended).outcome, 'done')
  assert.equal((await chat.send('Hello again!').ended).outcome, 'done')
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', listen)
  assert.deepEqual(
    warnings.map((one) => /no OpenTelemetry provider is registered/.test(one)),
    [true],
  )
})
