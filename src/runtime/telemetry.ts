// Spans and metrics of runs, made from their events alone: one span for the run, with a child span for each request to
// a model and for each tool. Message content is recorded only on request.

import type { ReplyEvent, RunEvent } from '../core/event.ts'
import type {
  OpenTelemetry,
  TelemetryAttributes,
  TelemetryMeter,
  TelemetrySpan,
  TelemetryTracer,
} from './load-opentelemetry.ts'

/** The targets of spans and metrics. */
export interface TelemetryOptions {
  /** The global one if absent. */
  tracer?: TelemetryTracer
  /** The global one if absent. */
  meter?: TelemetryMeter
  /** Records answers, arguments and results in the spans. Off by default: they are private. */
  content?: boolean
}

interface Exchanging {
  span: TelemetrySpan
  about: TelemetryAttributes
  began: number
}

/** The values of `SpanKind` and `SpanStatusCode` of the API, which are the same in all its versions. */
const spanKind = { internal: 0, client: 2 } as const
const failedStatus = 2

/** One run: its span, and those of its requests and tools that have not ended. */
interface Observed {
  readonly options: TelemetryOptions
  readonly api: OpenTelemetry
  readonly tracer: TelemetryTracer
  readonly duration: Histogram
  readonly tokens: Histogram
  readonly exchanges: Map<string, Exchanging>
  readonly calls: Map<string, Exchanging>
  parent: ReturnType<OpenTelemetry['context']['active']>
  run: TelemetrySpan | undefined
}

type Histogram = ReturnType<TelemetryMeter['createHistogram']>

/** Returns an observer for each run. */
export function createObservers(
  options: TelemetryOptions,
  api: OpenTelemetry,
): () => { onEvent(event: RunEvent): void } {
  const tracer = options.tracer ?? api.trace.getTracer('synapse')
  const meter = options.meter ?? api.metrics.getMeter('synapse')
  const duration = meter.createHistogram(metric.duration, { unit: 's', description: 'Duration of requests and tools.' })
  const tokens = meter.createHistogram(metric.tokens, { unit: '{token}', description: 'Tokens of requests.' })
  return () => {
    const observed: Observed = {
      options,
      api,
      tracer,
      duration,
      tokens,
      exchanges: new Map(),
      calls: new Map(),
      parent: api.context.active(),
      run: undefined,
    }
    return { onEvent: (event) => observe(observed, event) }
  }
}

function observe(observed: Observed, event: RunEvent): void {
  const { run, exchanges } = observed
  switch (event.type) {
    case 'run-start':
      return startRun(observed, event)
    case 'request':
      return startExchange(observed, event)
    case 'retry':
      exchanges
        .get(event.exchangeId)
        ?.span.addEvent('retry', { [attribute.attempt]: event.attempt, [attribute.errorType]: event.failure.kind })
      return
    case 'no-retry':
      exchanges.get(event.exchangeId)?.span.addEvent('no-retry', { [attribute.errorType]: event.failure.kind })
      return
    case 'reply-event':
      if (event.event.type === 'reply-end') endExchange(observed, event.exchangeId, event.event)
      return
    case 'tool-start':
      return startTool(observed, event)
    case 'tool-end':
      return endTool(observed, event)
    case 'guard':
      run?.addEvent('guard', { guard: event.guard, action: event.action, why: event.why })
      return
    case 'store-waiting':
      run?.addEvent('store-waiting', { [attribute.errorType]: event.failure.kind })
      return
    case 'store-back':
      run?.addEvent('store-back', { waitedMs: event.waitedMs })
      return
    case 'fallback':
      run?.addEvent('fallback', { from: event.from, to: event.to, [attribute.errorType]: event.failure.kind })
      return
    case 'run-end':
      return endRun(observed, event)
  }
}

type Event<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>

function startRun(observed: Observed, { conversationId }: Event<'run-start'>): void {
  const about = { [attribute.operation]: operation.run, [attribute.conversation]: conversationId }
  const run = observed.tracer.startSpan(operation.run, { kind: spanKind.internal, attributes: about }, observed.parent)
  if (!observed.options.tracer) warnOfNone(run)
  observed.run = run
  observed.parent = observed.api.trace.setSpan(observed.parent, run)
}

function startExchange(observed: Observed, { provider, model, exchangeId }: Event<'request'>): void {
  const about = {
    [attribute.operation]: operation.chat,
    [attribute.provider]: providerName(provider),
    [attribute.requestModel]: model,
  }
  observed.exchanges.set(exchangeId, start(observed, `${operation.chat} ${model}`, spanKind.client, about))
}

function startTool(observed: Observed, { call }: Event<'tool-start'>): void {
  const { name, callId, input, malformed } = call
  const about = { [attribute.operation]: operation.tool, [attribute.toolName]: name }
  const started = start(observed, `${operation.tool} ${name}`, spanKind.internal, about)
  started.span.setAttribute(attribute.toolCallId, callId)
  if (observed.options.content) started.span.setAttribute(attribute.toolArguments, malformed ?? JSON.stringify(input))
  observed.calls.set(callId, started)
}

function endTool(observed: Observed, { call, result }: Event<'tool-end'>): void {
  const started = observed.calls.get(call.callId)
  if (!started) return
  observed.calls.delete(call.callId)
  if (observed.options.content) started.span.setAttribute(attribute.toolResult, JSON.stringify(result.output))
  finish(observed, started, result.failed ? 'tool_failed' : undefined)
}

function start({ tracer, parent }: Observed, name: string, kind: number, about: TelemetryAttributes): Exchanging {
  const span = tracer.startSpan(name, { kind, attributes: about }, parent)
  return { span, about, began: performance.now() }
}

function finish({ duration }: Observed, { span, about, began }: Exchanging, error: string | undefined): void {
  const failed = error === undefined ? {} : { [attribute.errorType]: error }
  if (error !== undefined) {
    span.setAttribute(attribute.errorType, error)
    span.setStatus({ code: failedStatus })
  }
  duration.record((performance.now() - began) / 1000, { ...about, ...failed })
  span.end()
}

function endExchange(observed: Observed, id: string, end: Extract<ReplyEvent, { type: 'reply-end' }>): void {
  const { exchanges, tokens, options } = observed
  const started = exchanges.get(id)
  if (!started) return
  exchanges.delete(id)
  const { usage, origin, stop, failure } = end
  started.span.setAttributes({
    [attribute.responseModel]: origin.model,
    [attribute.finishReasons]: [stop.reason],
    ...(origin.replyId !== undefined && { [attribute.responseId]: origin.replyId }),
    ...(usage && {
      [attribute.inputTokens]: usage.input,
      [attribute.outputTokens]: usage.output,
      [attribute.cacheRead]: usage.cacheRead,
      [attribute.cacheWrite]: usage.cacheWrite,
      [attribute.reasoning]: usage.reasoning,
    }),
    ...(options.content && { [attribute.outputMessages]: JSON.stringify(end.native) }),
  })
  if (usage) {
    tokens.record(usage.input, { ...started.about, [attribute.tokenType]: 'input' })
    tokens.record(usage.output, { ...started.about, [attribute.tokenType]: 'output' })
  }
  finish(observed, started, failure?.kind)
}

function endRun(observed: Observed, { outcome, failure }: Event<'run-end'>): void {
  const { exchanges, calls, run } = observed
  for (const open of [...exchanges.values(), ...calls.values()]) finish(observed, open, failure?.kind ?? outcome)
  exchanges.clear()
  calls.clear()
  run?.setAttribute(attribute.outcome, outcome)
  if (failure) {
    run?.setAttribute(attribute.errorType, failure.kind)
    run?.setStatus({ code: failedStatus })
  }
  run?.end()
  observed.run = undefined
}

let warned = false

/** Spans of a tracer without a registered provider have no trace. Reported once: it is easily overlooked. */
function warnOfNone(span: TelemetrySpan): void {
  if (warned || !/^0*$/.test(span.spanContext().traceId)) return
  warned = true
  process.emitWarning(
    'telemetry is on, but no OpenTelemetry provider is registered, so spans are lost. Register one before the first run, or pass { tracer, meter }.',
    { code: 'SYNAPSE_TELEMETRY' },
  )
}

// The names of the GenAI conventions of OpenTelemetry (semantic conventions 1.45, checked 2026-11). They are still
// experimental, and have been renamed before: this is the only place that uses them.

const attribute = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  conversation: 'gen_ai.conversation.id',
  requestModel: 'gen_ai.request.model',
  responseModel: 'gen_ai.response.model',
  responseId: 'gen_ai.response.id',
  finishReasons: 'gen_ai.response.finish_reasons',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheRead: 'gen_ai.usage.cache_read.input_tokens',
  cacheWrite: 'gen_ai.usage.cache_creation.input_tokens',
  reasoning: 'gen_ai.usage.reasoning.output_tokens',
  outputMessages: 'gen_ai.output.messages',
  toolName: 'gen_ai.tool.name',
  toolCallId: 'gen_ai.tool.call.id',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  tokenType: 'gen_ai.token.type',
  errorType: 'error.type',
  outcome: 'synapse.run.outcome',
  attempt: 'synapse.attempt',
} as const

const operation = { chat: 'chat', tool: 'execute_tool', run: 'invoke_agent' } as const

const metric = { duration: 'gen_ai.client.operation.duration', tokens: 'gen_ai.client.token.usage' } as const

/** Where the conventions have another name for a provider. */
const providers: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
  xai: 'x_ai',
  'azure-openai': 'azure.ai.openai',
}

function providerName(id: string): string {
  return providers[id] ?? id
}
