// Spans and metrics of runs, made from their events alone: one span for the run, under it one for each request to a
// model and one for each tool. What was said is not in them unless asked for.

import type { ReplyEvent, RunEvent } from '../core/event.ts'
import type {
  OpenTelemetry,
  TelemetryAttributes,
  TelemetryMeter,
  TelemetrySpan,
  TelemetryTracer,
} from './load-opentelemetry.ts'
import { attribute, metric, operation, providerName } from './telemetry-names.ts'

/** Where spans and metrics go. */
export interface TelemetryOptions {
  /** Without it, the global one. */
  tracer?: TelemetryTracer
  /** Without it, the global one. */
  meter?: TelemetryMeter
  /** Puts answers, arguments and results into the spans. Off unless asked for: they hold what people said. */
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

/** Gives an observer for each run. */
export function observing(
  options: TelemetryOptions,
  { context, metrics, trace }: OpenTelemetry,
): () => { onEvent(event: RunEvent): void } {
  const tracer = options.tracer ?? trace.getTracer('synapse')
  const meter = options.meter ?? metrics.getMeter('synapse')
  const duration = meter.createHistogram(metric.duration, { unit: 's', description: 'Duration of requests and tools.' })
  const tokens = meter.createHistogram(metric.tokens, { unit: '{token}', description: 'Tokens of requests.' })

  return () => {
    let run: TelemetrySpan | undefined
    let parent = context.active()
    const exchanges = new Map<string, Exchanging>()
    const calls = new Map<string, Exchanging>()
    return { onEvent }

    function onEvent(event: RunEvent): void {
      switch (event.type) {
        case 'run-start': {
          const about = { [attribute.operation]: operation.run, [attribute.conversation]: event.conversationId }
          run = tracer.startSpan(operation.run, { kind: spanKind.internal, attributes: about }, parent)
          if (!options.tracer) warnOfNone(run)
          parent = trace.setSpan(parent, run)
          return
        }
        case 'request': {
          const about = {
            [attribute.operation]: operation.chat,
            [attribute.provider]: providerName(event.provider),
            [attribute.requestModel]: event.model,
          }
          exchanges.set(event.exchangeId, start(`${operation.chat} ${event.model}`, spanKind.client, about))
          return
        }
        case 'retry':
          exchanges
            .get(event.exchangeId)
            ?.span.addEvent('retry', { [attribute.attempt]: event.attempt, [attribute.errorType]: event.failure.kind })
          return
        case 'no-retry':
          exchanges.get(event.exchangeId)?.span.addEvent('no-retry', { [attribute.errorType]: event.failure.kind })
          return
        case 'reply-event':
          if (event.event.type === 'reply-end') endExchange(event.exchangeId, event.event)
          return
        case 'message':
          return
        case 'tool-start': {
          const { name, callId, input, malformed } = event.call
          const about = {
            [attribute.operation]: operation.tool,
            [attribute.toolName]: name,
          }
          const made = start(`${operation.tool} ${name}`, spanKind.internal, about)
          made.span.setAttribute(attribute.toolCallId, callId)
          if (options.content) made.span.setAttribute(attribute.toolArguments, malformed ?? JSON.stringify(input))
          calls.set(callId, made)
          return
        }
        case 'tool-end': {
          const made = calls.get(event.call.callId)
          if (!made) return
          calls.delete(event.call.callId)
          if (options.content) made.span.setAttribute(attribute.toolResult, JSON.stringify(event.result.output))
          finish(made, event.result.failed ? 'tool_failed' : undefined)
          return
        }
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
          endRun(event)
      }
    }

    function start(name: string, kind: number, about: TelemetryAttributes): Exchanging {
      const span = tracer.startSpan(name, { kind, attributes: about }, parent)
      return { span, about, began: performance.now() }
    }

    function finish({ span, about, began }: Exchanging, error: string | undefined): void {
      const failed = error === undefined ? {} : { [attribute.errorType]: error }
      if (error !== undefined) {
        span.setAttribute(attribute.errorType, error)
        span.setStatus({ code: failedStatus })
      }
      duration.record((performance.now() - began) / 1000, { ...about, ...failed })
      span.end()
    }

    function endExchange(id: string, end: Extract<ReplyEvent, { type: 'reply-end' }>): void {
      const made = exchanges.get(id)
      if (!made) return
      exchanges.delete(id)
      const { usage, origin, stop, failure } = end
      made.span.setAttributes({
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
        tokens.record(usage.input, { ...made.about, [attribute.tokenType]: 'input' })
        tokens.record(usage.output, { ...made.about, [attribute.tokenType]: 'output' })
      }
      finish(made, failure?.kind)
    }

    function endRun({ outcome, failure }: Extract<RunEvent, { type: 'run-end' }>): void {
      for (const open of [...exchanges.values(), ...calls.values()]) finish(open, failure?.kind ?? outcome)
      exchanges.clear()
      calls.clear()
      run?.setAttribute(attribute.outcome, outcome)
      if (failure) {
        run?.setAttribute(attribute.errorType, failure.kind)
        run?.setStatus({ code: failedStatus })
      }
      run?.end()
      run = undefined
    }
  }
}

let warned = false

/** Spans of a tracer that no provider was registered for have no trace. Said once: it is easily overlooked. */
function warnOfNone(span: TelemetrySpan): void {
  if (warned || !/^0*$/.test(span.spanContext().traceId)) return
  warned = true
  process.emitWarning(
    'telemetry is on, but no OpenTelemetry provider is registered, so spans go nowhere. Register one before the first run, or pass { tracer, meter }.',
    { code: 'SYNAPSE_TELEMETRY' },
  )
}
