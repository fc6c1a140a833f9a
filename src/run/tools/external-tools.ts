// Tools that are run elsewhere: the loop waits until their results are submitted.

import type { ToolSpec } from '../../core/context.ts'
import type { Tool } from '../../core/tool.ts'

/** The result of a call that was made elsewhere. */
export interface SubmittedResult {
  callId: string
  /** A string, anything that can be written as JSON, or a list of text and media parts. */
  result: unknown
  /** The call failed, and the result says why. */
  failed?: boolean
}

export interface ExternalTools {
  /** The tools; those without `run` wait for a submitted result. */
  runnable(tools: readonly (Tool | ToolSpec)[]): Tool[]
  /** Each call takes one result; it may arrive before the call is awaited. */
  submit: (result: SubmittedResult) => void
}

export function externalTools(): ExternalTools {
  const results = new Map<string, PromiseWithResolvers<unknown>>()
  return {
    runnable: (tools) =>
      tools.map((tool) => ('run' in tool ? tool : { ...tool, timeoutMs: Infinity, run: awaitResult })),
    submit({ callId, result, failed }) {
      const { resolve, reject } = resultOf(callId)
      if (failed) reject(new Error(typeof result === 'string' ? result : JSON.stringify(result)))
      else resolve(result)
    },
  }

  function awaitResult(_: unknown, { callId }: { callId: string }): Promise<unknown> {
    return resultOf(callId).promise
  }

  function resultOf(callId: string): PromiseWithResolvers<unknown> {
    const known = results.get(callId)
    if (known) return known
    const pending = Promise.withResolvers<unknown>()
    // A failure that arrives before its call is awaited must not be an unhandled rejection.
    pending.promise.catch(() => {})
    results.set(callId, pending)
    return pending
  }
}
