// Spans and metrics of runs, made from their events alone: one span for the run, under it one for each request to a
// model and one for each tool. What was said is not in them unless asked for.

import {
  context,
  metrics,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Meter,
  type Span,
  type Tracer,
} from '@opentelemetry/api'
import type { ReplyEvent, RunEvent } from '../core/event.ts'
import { attribute, metric, operation, providerName } from './telemetry-names.ts'

/** Where spans and metrics go. */
export interface TelemetryOptions {
  /** Without it, the global one. */
  tracer?: Tracer
  /** Without it, the global one. */
  meter?: Meter
  /** Puts answers, arguments and results into the spans. Off unless asked for: they hold what people said. */
  content?: boolean
}

interface Exchanging {
  span: Span
  about: Attributes
  began: number
}

/** Gives an observer for each run. */
export function observing(options: TelemetryOptions): () => { onEvent(event: RunEvent): void } {
  const tracer = options.tracer ?? trace.getTracer('synapse')
  const meter = options.meter ?? metrics.getMeter('synapse')
  const duration = meter.createHistogram(metric.duration, { unit: 's', description: 'Duration of requests and tools.' })
  const tokens = meter.createHistogram(metric.tokens, { unit: '{token}', description: 'Tokens of requests.' })

  return () => {
    let run: Span | undefined
    let parent = context.active()
    const exchanges = new Map<string, Exchanging>()
    const calls = new Map<string, Exchanging>()
    return { onEvent }

    function onEvent(event: RunEvent): void {
      switch (event.type) {
        case 'run-start': {
          const about = { [attribute.operation]: operation.run, [attribute.conversation]: event.conversationId }
          run = tracer.startSpan(operation.run, { kind: SpanKind.INTERNAL, attributes: about }, parent)
          parent = trace.setSpan(parent, run)
          return
        }
        case 'request': {
          const about = {
            [attribute.operation]: operation.chat,
            [attribute.provider]: providerName(event.provider),
            [attribute.requestModel]: event.model,
          }
          exchanges.set(event.exchangeId, start(`${operation.chat} ${event.model}`, SpanKind.CLIENT, about))
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
          const made = start(`${operation.tool} ${name}`, SpanKind.INTERNAL, about)
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

    function start(name: string, kind: SpanKind, about: Attributes): Exchanging {
      const span = tracer.startSpan(name, { kind, attributes: about }, parent)
      return { span, about, began: performance.now() }
    }

    function finish({ span, about, began }: Exchanging, error: string | undefined): void {
      const failed = error === undefined ? {} : { [attribute.errorType]: error }
      if (error !== undefined) {
        span.setAttribute(attribute.errorType, error)
        span.setStatus({ code: SpanStatusCode.ERROR })
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
        run?.setStatus({ code: SpanStatusCode.ERROR })
      }
      run?.end()
      run = undefined
    }
  }
}
