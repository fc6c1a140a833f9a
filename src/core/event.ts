// What happens while a model answers, and while a whole run continues. `fold` turns reply events into the Reply.

import type { Note } from './context.ts'
import type { Failure } from './error.ts'
import type { Json } from './json.ts'
import type { Message, Origin, Part, Stop, ToolCallPart, ToolResultPart } from './message.ts'
import type { Usage } from './usage.ts'

/** One model call. Parts open and close in any order; `index` is the part's place in the reply. */
export type ReplyEvent =
  /** A second one, of a provider that has begun again, takes back every part before it. */
  | { type: 'reply-start'; origin: Origin }
  | { type: 'part-start'; index: number; part: Part }
  /**
   * More text of a text, reasoning, refusal or compaction part, or more of the JSON text of a call's arguments. The events
   * of a run say which: `partType`.
   */
  | { type: 'part-delta'; index: number; text: string; partType?: Part['type'] }
  | { type: 'part-end'; index: number; part: Part }
  /** `notes`: what the provider says that it changed in the request. */
  | { type: 'reply-end'; origin: Origin; stop: Stop; native: Json[]; usage?: Usage; failure?: Failure; notes?: Note[] }

/** The whole loop. */
export type RunEvent =
  | { type: 'run-start'; conversationId: string; entryId: string }
  | { type: 'request'; exchangeId: string; provider: string; model: string; step: number; notes: Note[] }
  | { type: 'retry'; exchangeId: string; attempt: number; waitMs: number; failure: Failure }
  /** It is not tried again, though that could help: too many requests to this provider were retries already. */
  | { type: 'no-retry'; exchangeId: string; failure: Failure }
  | { type: 'reply-event'; exchangeId: string; event: ReplyEvent }
  | { type: 'message'; entryId: string; message: Message; usage?: Usage }
  | { type: 'tool-start'; call: ToolCallPart }
  /** What a tool says before it is done. */
  | { type: 'tool-progress'; call: ToolCallPart; value: Json }
  | { type: 'tool-end'; call: ToolCallPart; result: ToolResultPart }
  /** A call waits for a person. The run ends as `waiting`, and continues when the call was approved or denied. */
  | { type: 'approval-needed'; call: ToolCallPart; argsHash: string; expiresAt: string }
  /** A model failed before it said anything, so the next one of the chain is asked; or it failed to compose the answer. */
  | { type: 'fallback'; from: string; to: string; failure: Failure }
  /** The database cannot be reached. The run waits for it; what the model says meanwhile is shown, and saved later. */
  | { type: 'store-waiting'; since: string; failure: Failure }
  /** The database is back, and the run continues. */
  | { type: 'store-back'; waitedMs: number }
  /** A guard spoke: it warned the model, or it ends the run. */
  | ({ type: 'guard'; action: 'warned' | 'stopped' } & GuardReason)
  | {
      type: 'run-end'
      outcome: RunOutcome
      usage: Usage
      failure?: Failure
      guard?: GuardReason
      answer?: CheckedAnswer
    }

/** A final answer, read by the schema that was asked for (`Options.answerSchema`): its value, or why it does not fit. */
export type CheckedAnswer = { value: Json } | { problem: string }

/** Which guard, and why, in words. */
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
  why: string
}

/**
 * `waiting`: for an approval. `stopped`: by a guard other than `max-steps`. `storage-full`: there was no space left for
 * what the run did; it can be resumed once there is.
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
