// How to continue a conversation: the settings of a run. Everything here can change from one message to the next.

import type { ErrorKind } from '../core/error.ts'
import type { Json } from '../core/json.ts'
import type { MediaPart, Message, Reply, TextPart, ToolCallPart, ToolResultPart } from '../core/message.ts'
import type { Tool } from '../core/tool.ts'
import type { Usage } from '../core/usage.ts'
import type { Options } from './options.ts'
import type { Policy } from './policy.ts'

/** How to continue; anything can change from one message to the next. */
export interface RunSettings {
  /** `provider/model`, such as `anthropic/claude-opus-5`. */
  model: string
  /** One of the provider's wires; its default one if absent. */
  protocol?: string
  /** The system prompt. */
  system?: string
  /** What the model may call. */
  tools?: readonly Tool[]
  /** Effort, length, sampling and the like, in terms that every wire supports in some form. */
  options?: Options
  /**
   * What the final answer must match: a schema of zod, valibot (with its converter), arktype or another library with
   * Standard JSON Schema, or plain JSON Schema. An answer that does not match is requested once more. `run.object()`
   * returns it.
   */
  answer?: object
  /** What is sent of a long history: a preset's name or your own settings. The log always keeps everything. */
  policy?: Policy
  /** The most requests to a model in one run; 50 by default. */
  maxSteps?: number
  /** When a failing run is stopped. */
  guards?: Guards
  /** What a run or the conversation may cost. */
  budget?: Budget
  /** Another model for some steps. */
  route?: Route
  /** The models to try, in order, when a model fails before it has sent anything. */
  fallback?: readonly Fallback[]
  /** Agents that the model can hand the conversation to: each is a tool, `hand_off_to_<name>`. */
  handoffs?: readonly Handoff[]
  /** Functions of the application around requests, replies and tools. */
  hooks?: Hooks
  /** Passed unchanged to each tool, such as the user of a request. It is not stored or sent to a model. */
  context?: unknown
  /** Aborts the run. */
  signal?: AbortSignal
}

/** An agent that a conversation can be handed to, such as the result of `loadAgent`. */
export interface Handoff {
  name: string
  /** When to hand over, for the model. */
  description?: string
  settings: RunSettings | (() => RunSettings | Promise<RunSettings>)
}

/** Where a hook is called. */
export interface HookPlace {
  conversationId: string
  owner: string
  /** The `context` of the run's settings. */
  context?: unknown
}

/** What every hook may return: a note, or the reason for a denial. */
interface HookSays {
  note?: string
  deny?: string
}

type HookResult<T> = T | undefined | void | Promise<T | undefined | void>

/** Functions of the application around the steps of a run. What they change or deny is an event, and noted. */
export interface Hooks {
  /** Before a request: another system prompt or options for this one. If denied, the run fails with that sentence. */
  beforeRequest?(
    about: HookPlace & { step: number; kind: 'ask' | 'answer'; model: string; messages: readonly Message[] },
  ): HookResult<HookSays & { system?: string; options?: Options }>
  /** After a reply, which is in the log. If denied, the run stops there, and none of its calls is run. */
  afterReply?(about: HookPlace & { reply: Reply }): HookResult<HookSays>
  /** Before a tool: other arguments. If denied, the model gets the reason. */
  beforeTool?(about: HookPlace & { call: ToolCallPart }): HookResult<HookSays & { input?: Json }>
  /** After a tool: another result, such as one without secrets. If denied, the reason is the result. */
  afterTool?(
    about: HookPlace & { call: ToolCallPart; result: ToolResultPart },
  ): HookResult<HookSays & { output?: string | readonly (TextPart | MediaPart)[] }>
}

/** Limits of a run. The first one reached ends it, with an event that names it and the reason. */
export interface Guards {
  /**
   * How many identical calls with the same result are tolerated before the model is warned: 3 by default. The run stops
   * if that does not help. False: no limit.
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
  /** How many bytes of one tool result are stored: 16 MiB by default. The result says how much was cut. */
  resultSize?: number
  /** How many characters of one reply are stored: 16 MiB by default. Reading stops there. */
  replySize?: number
}

/** Spending limits; each is checked before a request is sent. */
export interface Budget {
  /** In one run: from the user message until the model is done. */
  run?: Spend
  /** In the whole conversation, on all branches. */
  conversation?: Spend
}

export interface Spend {
  /** US dollars. Requests with an unknown price count as free, with a warning. */
  usd?: number
  /** Input and output together. */
  tokens?: number
}

/** The input of a route. */
export interface RouteStep {
  /** The number of the request in this run, from 1. */
  step: number
  /**
   * `answer`: the tools are done, and the final answer may be composed from their results by another model than that of
   * the last reply.
   */
  kind: 'ask' | 'answer'
  /** All messages so far. */
  messages: readonly Message[]
  /** The model without a route. */
  model: string
  usage: Usage
  /** In US dollars, as far as prices are known. */
  cost: number
}

/** How the final answer is composed by another model. */
export interface Composing {
  model: string
  /** Added to the system prompt of that request. */
  guidance?: string
  /** Temperature, length and the like of that request alone. */
  options?: Pick<Options, 'temperature' | 'topP' | 'maxOutput' | 'effort'>
}

/** The model of each step: decided by a function, or one for the work with tools and one for the final answer. */
export type Route =
  | ((step: RouteStep) => string | undefined | Promise<string | undefined>)
  | {
      /** Used as long as there are tools to call; the model of the run if absent. */
      tools?: string
      /** Composes the final answer from the tool results. Not used if no tool was needed. */
      answer?: string | Composing
    }

/** The next model to try when one fails before it has sent anything. */
export type Fallback = string | { model: string; on?: readonly ErrorKind[] }

/** How many models a comparison can have: more would not be useful. */
export const mostCandidates = 4
