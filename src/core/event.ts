// What happens while a model answers, and during a whole run. `fold` turns reply events into the Reply.

import type { Note } from './context.ts'
import type { Failure } from './error.ts'
import type { Json } from './json.ts'
import type { Message, Origin, Part, Stop, ToolCallPart, ToolResultPart } from './message.ts'
import type { Usage } from './usage.ts'

/** The events of one reply. Parts start and end in any order; `index` is the position of the part. */
export type ReplyEvent =
  /** A second one means that the provider started over: it discards every part before it. */
  | { type: 'reply-start'; origin: Origin }
  | { type: 'part-start'; index: number; part: Part }
  /**
   * More text of a text, reasoning, refusal or compaction part, or more of the JSON text of a call's arguments. In the
   * events of a run, `partType` says which.
   */
  | { type: 'part-delta'; index: number; text: string; partType?: Part['type'] }
  | { type: 'part-end'; index: number; part: Part }
  /** `notes`: what the provider reports that it changed in the request. */
  | { type: 'reply-end'; origin: Origin; stop: Stop; native: Json[]; usage?: Usage; failure?: Failure; notes?: Note[] }

/** The events of a run. */
export type RunEvent =
  | { type: 'run-start'; conversationId: string; entryId: string }
  | { type: 'request'; exchangeId: string; provider: string; model: string; step: number; notes: Note[] }
  | { type: 'retry'; exchangeId: string; attempt: number; waitMs: number; failure: Failure }
  /** Not retried, although a retry could help: too many recent requests to this provider were retries. */
  | { type: 'no-retry'; exchangeId: string; failure: Failure }
  | { type: 'reply-event'; exchangeId: string; event: ReplyEvent }
  | { type: 'message'; entryId: string; message: Message; usage?: Usage }
  | { type: 'tool-start'; call: ToolCallPart }
  /** A value that a tool reports before it finishes. */
  | { type: 'tool-progress'; call: ToolCallPart; value: Json }
  | { type: 'tool-end'; call: ToolCallPart; result: ToolResultPart }
  /** A call needs approval. The run ends as `waiting`, and continues once the call is approved or denied. */
  | { type: 'approval-needed'; call: ToolCallPart; argsHash: string; expiresAt: string }
  /**
   * A model failed before it sent anything, so the next one of the chain is used; or the model for the final answer failed.
   */
  | { type: 'fallback'; from: string; to: string; failure: Failure }
  /** The database is unreachable. The run waits for it; what the model sends meanwhile is shown, and saved later. */
  | { type: 'store-waiting'; since: string; failure: Failure }
  /** The database is back, and the run continues. */
  | { type: 'store-back'; waitedMs: number }
  /** A hook of the application changed, denied or noted something. */
  | HookEvent
  /** A guard warned the model, or ends the run. */
  | ({ type: 'guard'; action: 'warned' | 'stopped' } & GuardReason)
  | {
      type: 'run-end'
      outcome: RunOutcome
      usage: Usage
      failure?: Failure
      guard?: GuardReason
      answer?: CheckedAnswer
    }

export interface HookEvent {
  type: 'hook'
  hook: 'beforeRequest' | 'afterReply' | 'beforeTool' | 'afterTool'
  action: 'changed' | 'denied' | 'noted'
  why: string
  /** The call concerned. */
  callId?: string
}

/**
 * A final answer, validated against the schema of the request (`Options.answerSchema`): its value, or why it does not
 * match.
 */
export type CheckedAnswer = { value: Json } | { problem: string }

/** Which guard, and the reason as text. */
export interface GuardReason {
  guard:
    | 'max-steps'
    | 'repeated-call'
    | 'pattern'
    | 'spend'
    | 'tokens'
    | 'time'
    | 'output-size'
    | 'calls-per-reply'
    | 'result-size'
    | 'hook'
  why: string
}

/**
 * `waiting`: for an approval. `stopped`: by a guard other than `max-steps`. `storage-full`: the store ran out of space;
 * the run can be resumed once there is some.
 */
export type RunOutcome =
  | 'done'
  | 'length'
  | 'refusal'
  | 'max-steps'
  | 'waiting'
  | 'stopped'
  | 'cancelled'
  | 'failed'
  | 'storage-full'
