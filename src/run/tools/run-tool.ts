// Runs one tool call and returns the result for the model. A tool cannot end a run: if it throws, hangs, or returns
// nothing or something that is not JSON, the result is a failed one.

import { errorMessage } from '../../core/error.ts'
import { isObject, type Json } from '../../core/json.ts'
import type { ToolCallPart, ToolResultPart } from '../../core/message.ts'
import type { ReadCall, ToolRun } from '../../core/tool.ts'
import { failedOutcome, readValue, type ToolOutcome } from './tool-value.ts'

const defaultTimeoutMs = 120_000
/** The longest delay of a timer. */
const noTimeoutMs = 2 ** 31 - 1

export interface ToolOptions extends Pick<ToolRun, 'conversationId' | 'owner' | 'context'> {
  signal: AbortSignal
  timeoutMs?: number | undefined
  progress: (value: Json) => void
}

export async function runTool(call: ToolCallPart, ready: ReadCall, options: ToolOptions): Promise<ToolResultPart> {
  const { signal, progress, conversationId, owner, context } = options
  const startedAt = new Date().toISOString()
  const outcome = await runWithTimeout()
  return resultOf(call, { ...outcome, startedAt, endedAt: new Date().toISOString() })

  async function runWithTimeout(): Promise<ToolOutcome> {
    const ms = Math.min(options.timeoutMs ?? defaultTimeoutMs, noTimeoutMs)
    const stop = new AbortController()
    const cancel = (): void => stop.abort(signal.reason)
    if (signal.aborted) cancel()
    signal.addEventListener('abort', cancel)
    const limit = setTimeout(() => stop.abort(`${call.name} returned no result within ${ms} ms.`), ms)
    try {
      const value = await Promise.race([lastValue(stop.signal), rejection(stop.signal)])
      return readValue(call.name, value)
    } catch (error) {
      if (signal.aborted) return failedOutcome(`${call.name} was cancelled; whether it had any effect is not known.`)
      if (stop.signal.aborted) return failedOutcome(String(stop.signal.reason))
      return failedOutcome(`${call.name} failed: ${errorMessage(error)}`)
    } finally {
      clearTimeout(limit)
      signal.removeEventListener('abort', cancel)
    }
  }

  function emit(value: Json): void {
    const json = asJson(value)
    if (json !== undefined && !signal.aborted) progress(json)
  }

  async function lastValue(stopped: AbortSignal): Promise<unknown> {
    const value = await ready.run({ callId: call.callId, conversationId, owner, context, signal: stopped, emit })
    if (!isStream(value)) return value
    const iterator = value[Symbol.asyncIterator]()
    for (let last: unknown; ;) {
      const next = await iterator.next()
      if (stopped.aborted) void iterator.return?.()
      // The return value of a generator is its result; without one it is the last value that it yielded.
      if (next.done) return next.value === undefined ? last : next.value
      last = next.value
      const json = asJson(last)
      if (json !== undefined && !stopped.aborted) progress(json)
    }
  }
}

/** The result of a call that was not run. */
export function notRun(call: ToolCallPart, why: string): ToolResultPart {
  return resultOf(call, failedOutcome(why))
}

function resultOf(
  { callId, name }: ToolCallPart,
  outcome: ToolOutcome & Pick<ToolResultPart, 'startedAt' | 'endedAt'>,
): ToolResultPart {
  return { type: 'tool-result', callId, name, ...outcome }
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return isObject(value) && Symbol.asyncIterator in value
}

function asJson(value: unknown): Json | undefined {
  try {
    return JSON.parse(JSON.stringify(value)) as Json
  } catch {
    return undefined
  }
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
