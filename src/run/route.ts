// Which model is asked at a step: the one that was set, the one that a route names, and after a failure the next of the
// chain. A chain is followed only as long as nothing was said: half an answer is never continued by somebody else.

import { isRetryable, type ErrorKind, type Failure } from '../core/error.ts'
import type { Fallback, Route, RouteStep } from '../settings/run.ts'

/** What another provider may be able to do though this one could not. */
const elsewhere: ReadonlySet<ErrorKind> = new Set(['quota', 'auth', 'permission', 'not-found'])

export async function routedModel(route: Route | undefined, step: RouteStep): Promise<string> {
  return (route && (await namedModel(route, step))) ?? step.model
}

/** The model that the route names for a step; undefined: it names none. */
export async function namedModel(route: Route, step: RouteStep): Promise<string | undefined> {
  if (typeof route === 'function') return route(step)
  return step.kind === 'answer' ? route.answer : route.tools
}

export function modelOfFallback(fallback: Fallback): string {
  return typeof fallback === 'string' ? fallback : fallback.model
}

/** Whether this failure is one that the fallback is there for. */
export function fallsBack(fallback: Fallback, failure: Failure): boolean {
  const on = typeof fallback === 'string' ? undefined : fallback.on
  return on ? on.includes(failure.kind) : isRetryable(failure.kind) || elsewhere.has(failure.kind)
}
