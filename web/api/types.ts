// The words of the HTTP API, as the server itself has them; only types, so nothing of the server is in the page.

export type { Note } from '../../src/core/context.ts'
export type { Failure } from '../../src/core/error.ts'
export type { ReplyEvent, RunEvent } from '../../src/core/event.ts'
export type { Json, JsonObject } from '../../src/core/json.ts'
export type { Entry, EntryOutline, Exchange, Overlay } from '../../src/core/log.ts'
export type { MediaPart, Message, Part, Reply, ToolCallPart, ToolResultPart } from '../../src/core/message.ts'
export type { Price } from '../../src/providers/price.ts'
export type {
  ConversationChange,
  NewMessage,
  PrepareRequest,
  MessageInput,
  Settings,
  Verdict,
} from '../../src/server/schema.ts'
export type {
  CapabilitiesView,
  EntriesPage,
  ModelView,
  PreparedView,
  ProviderView,
  RunView,
  StatusView,
  Tree,
} from '../../src/server/views.ts'
export type { UsageRow } from '../../src/store/records.ts'
export type { Hit, Page } from '../../src/store/store.ts'
import type { ToolCallPart } from '../../src/core/message.ts'
import type { ConversationView as View } from '../../src/server/views.ts'
import type { Settings } from '../../src/server/schema.ts'

export type ConversationView = Omit<View, 'settings'> & { settings: Settings }

/** A tool call that waits for a person. */
export interface Approval {
  call: ToolCallPart
  argsHash: string
  expiresAt: string
}
