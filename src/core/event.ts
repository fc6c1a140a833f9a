// What happens while a model answers, and while a whole run goes on. `fold` turns reply events into the Reply.

import type { Note } from './context.ts'
import type { Failure } from './error.ts'
import type { Json } from './json.ts'
import type { Message, Origin, Part, Stop, ToolCallPart, ToolResultPart } from './message.ts'
import type { Usage } from './usage.ts'

/** One model call. Parts open and close in any order; `index` is the part's place in the reply. */
export type ReplyEvent =
  | { type: 'reply-start'; origin: Origin }
  | { type: 'part-start'; index: number; part: Part }
  /** More text of a text, reasoning, refusal or compaction part, or more of the JSON text of a call's arguments. */
  | { type: 'part-delta'; index: number; text: string }
  | { type: 'part-end'; index: number; part: Part }
  | { type: 'reply-end'; origin: Origin; stop: Stop; native: Json[]; usage?: Usage; failure?: Failure }

/** The whole loop. */
export type RunEvent =
  | { type: 'run-start'; conversationId: string; entryId: string }
  | { type: 'request'; exchangeId: string; provider: string; model: string; step: number; notes: Note[] }
  | { type: 'retry'; exchangeId: string; attempt: number; waitMs: number; failure: Failure }
  | { type: 'reply-event'; exchangeId: string; event: ReplyEvent }
  | { type: 'message'; entryId: string; message: Message; usage?: Usage }
  | { type: 'tool-start'; call: ToolCallPart }
  | { type: 'tool-end'; call: ToolCallPart; result: ToolResultPart }
  | { type: 'run-end'; outcome: RunOutcome; usage: Usage; failure?: Failure }

export type RunOutcome = 'done' | 'length' | 'refusal' | 'max-steps' | 'cancelled' | 'failed'
