// Which model is asked at a step: the one that was set, the one that a route names, and after a failure the next of the
// chain. A chain is followed only as long as nothing was said: half an answer is never continued by somebody else.

import { isRetryable, type ErrorKind, type Failure } from '../core/error.ts'
import type { Message } from '../core/message.ts'
import type { Usage } from '../core/usage.ts'

/** What a route decides on. */
export interface RouteStep {
  /** The number of the request in this run, from 1. */
  step: number
  /** `answer`: the tools are done with, and the final answer is to be composed from their results. */
  kind: 'ask' | 'answer'
  /** Everything said so far. */
  messages: readonly Message[]
  /** The model that would be asked without a route. */
  model: string
  usage: Usage
  /** In US dollars, as far as prices are known. */
  cost: number
}

/** The model of each step: decided by a function, or one for the work with tools and one for the final answer. */
export type Route =
  | ((step: RouteStep) => string | undefined | Promise<string | undefined>)
  | {
      /** Asked as long as there are tools to call; without it, the model of the run. */
      tools?: string
      /** Composes the final answer from the tool results. Not asked where no tool was needed. */
      answer?: string
    }

/** The next model to ask when one fails before it has said anything. */
export type Fallback = string | { model: string; on?: readonly ErrorKind[] }

/** What another provider may be able to do though this one could not. */
const elsewhere: ReadonlySet<ErrorKind> = new Set(['quota', 'auth', 'permission', 'not-found'])

export async function routedModel(route: Route | undefined, step: RouteStep): Promise<string> {
  if (typeof route === 'function') return (await route(step)) ?? step.model
  const named = step.kind === 'answer' ? route?.answer : route?.tools
  return named ?? step.model
}

export function modelOfFallback(fallback: Fallback): string {
  return typeof fallback === 'string' ? fallback : fallback.model
}

/** Whether this failure is one that the fallback is there for. */
export function fallsBack(fallback: Fallback, failure: Failure): boolean {
  const on = typeof fallback === 'string' ? undefined : fallback.on
  return on ? on.includes(failure.kind) : isRetryable(failure.kind) || elsewhere.has(failure.kind)
}
