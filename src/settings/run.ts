// How a conversation is continued: the settings of a run. Everything here can change from one message to the next.

import type { ErrorKind } from '../core/error.ts'
import type { Message } from '../core/message.ts'
import type { Tool } from '../core/tool.ts'
import type { Usage } from '../core/usage.ts'
import type { Options } from './options.ts'
import type { Policy } from './policy.ts'

/** Where and how to continue; anything can change from one message to the next. */
export interface RunSettings {
  /** `provider/model`, such as `anthropic/claude-opus-5`. */
  model: string
  /** One of the provider's wires; without it, its usual one. */
  protocol?: string
  /** What the model is informed before everything else. */
  system?: string
  /** What the model may call. */
  tools?: readonly Tool[]
  /** Effort, length, sampling and the like, in words that every wire has some form of. */
  options?: Options
  /**
   * What the final answer must match: a schema of zod, valibot (with its converter), arktype or another library with
   * Standard JSON Schema, or plain JSON Schema. An answer that does not is asked for once more. `run.object()` gives it.
   */
  answer?: object
  /** What is sent of a long history: a preset's name or settings of your own. The log always keeps everything. */
  policy?: Policy
  /** The most requests to a model in one run; 50 by default. */
  maxSteps?: number
  /** When a run that goes wrong is stopped. */
  guards?: Guards
  /** What a run or the conversation may cost. */
  budget?: Budget
  /** Another model for some steps. */
  route?: Route
  /** Whom to ask when a model fails before it has said anything, in this order. */
  fallback?: readonly Fallback[]
  /** Given to each tool that runs, as it is, such as the user of a request. It is not stored, and no model sees it. */
  context?: unknown
  /** Aborts the run. */
  signal?: AbortSignal
}

/** Limits of a run. Whichever is reached ends it, with an event that says which and why. */
export interface Guards {
  /**
   * How many identical calls with the same result are tolerated before the model is warned: 3 by default. The run stops
   * when it continues all the same. False: any number.
   */
  repeats?: number | false
  /** How long a run may take, in milliseconds. */
  timeoutMs?: number
  /** How many characters a run may write, of text, reasoning and arguments. */
  outputSize?: number
  /** How many calls of one reply are run: 128 by default. The others stay in the log and are answered as not run. */
  callsPerReply?: number
  /** How many tools run at the same time: 16 by default. */
  concurrentTools?: number
  /** How many bytes are kept of one tool result: 16 MiB by default. What is cut is counted in the result. */
  resultSize?: number
  /** How many characters are kept of one reply: 16 MiB by default. Reading stops there. */
  replySize?: number
}

/** The most that may be spent; each is checked before a request goes out. */
export interface Budget {
  /** In one run: from what the user says to where the model rests. */
  run?: Spend
  /** In the whole conversation, on all branches. */
  conversation?: Spend
}

export interface Spend {
  /** US dollars. Requests whose price is not known count nothing, and are warned of. */
  usd?: number
  /** Input and output together. */
  tokens?: number
}

/** What a route decides on. */
export interface RouteStep {
  /** The number of the request in this run, from 1. */
  step: number
  /**
   * `answer`: the tools are done with, and the final answer may be composed from their results by another model than that
   * of the last reply.
   */
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
