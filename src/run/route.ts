// The model for a step: the configured one, the one that a route names, and after a failure the next of the chain. A
// chain is followed only as long as nothing has arrived: a partial answer is never continued by another model.

import { isRetryable, type ErrorKind, type Failure } from '../core/error.ts'
import type { Composing, Fallback, Route, RouteStep } from '../settings/run.ts'

/** Failures that another provider may not have. */
const elsewhere: ReadonlySet<ErrorKind> = new Set(['quota', 'auth', 'permission', 'not-found'])

export async function routedModel(route: Route | undefined, step: RouteStep): Promise<string> {
  return (route && (await namedModel(route, step))) ?? step.model
}

/** The model that the route names for a step; undefined: none. */
export async function namedModel(route: Route, step: RouteStep): Promise<string | undefined> {
  if (typeof route === 'function') return route(step)
  if (step.kind === 'ask') return route.tools
  return typeof route.answer === 'object' ? route.answer.model : route.answer
}

/** The options and the guidance for the request for the final answer. */
export function answerSettingsOf(route: Route | undefined): Partial<Composing> {
  return typeof route === 'object' && typeof route.answer === 'object' ? route.answer : {}
}

export function modelOfFallback(fallback: Fallback): string {
  return typeof fallback === 'string' ? fallback : fallback.model
}

/** Whether the fallback applies to this failure. */
export function fallsBack(fallback: Fallback, failure: Failure): boolean {
  const on = typeof fallback === 'string' ? undefined : fallback.on
  return on ? on.includes(failure.kind) : isRetryable(failure.kind) || elsewhere.has(failure.kind)
}
