// The types of the HTTP API, from the server itself; only types, so no server code is in the page.

export type { Prompt } from '../../src/agents/fill-prompt.ts'
export type { Note } from '../../src/core/context.ts'
export type { Failure } from '../../src/core/error.ts'
export type { ReplyEvent, RunEvent } from '../../src/core/event.ts'
export type { Json, JsonObject } from '../../src/core/json.ts'
export type { Entry, EntryOutline, Overlay } from '../../src/core/log.ts'
export type { MediaPart, Message, Part, Reply, ToolCallPart, ToolResultPart } from '../../src/core/message.ts'
export type { Price } from '../../src/providers/price.ts'
export type {
  BodyPart,
  ConversationChange,
  InspectRequest,
  LinesPart,
  NewMessage,
  NextRequest,
  MessageInput,
  Settings,
  Verdict,
} from '../../src/server/schema.ts'
export type {
  CapabilitiesView,
  ModelView,
  ProviderView,
  SessionsView,
  StatusView,
} from '../../src/server/server-views.ts'
export type { EntriesPage, ImportedView, RunView, Tree } from '../../src/server/views.ts'
export type {
  AbsentView,
  Inspection,
  LineView,
  NoteView,
  PieceView,
  RequestView,
  Source,
} from '../../src/server/inspect/view.ts'
export type { ConversationUsage } from '../../src/run/usage.ts'
export type { UsageRow } from '../../src/store/records.ts'
export type { Hit, Page } from '../../src/store/store.ts'
import type { Exchange as Sent } from '../../src/core/log.ts'
import type { ToolCallPart } from '../../src/core/message.ts'
import type { ConversationView as View } from '../../src/server/views.ts'
import type { Settings } from '../../src/server/schema.ts'

/** `client`: the user agent of the client of another API that began it; `origin`: the file of its agent, or where it was imported from. */
export type ConversationView = Omit<View, 'settings'> & {
  settings: Settings & { client?: string; origin?: unknown }
}

/** A tool call that waits for approval. */
export interface Approval {
  call: ToolCallPart
  argsHash: string
  expiresAt: string
  /** The source of its tool; absent if unknown, and then it cannot be allowed permanently. */
  source?: string
  diff?: { path: string; lines: { sign: '+' | '-' | ' ' | '…'; text: string }[] }
}

export interface AgentView {
  name: string
  description?: string
  model?: string
  problem?: string
}

export interface ToolView {
  name: string
  description?: string
  server?: string
  /** Offered by default. */
  usual: boolean
  asks: boolean
}

export interface McpServerView {
  name: string
  state: 'idle' | 'connecting' | 'connected' | 'away'
  problem?: string
  waiting: { name: string; added?: boolean }[]
}

/** A tool that was allowed for a conversation, or always. */
export interface GrantView {
  id: string
  tool: string
  conversationId?: string
}

export interface PreferredModels {
  favourites: string[]
  recent: string[]
  local: { provider: string; name: string; models: string[] }[]
}

/** An exchange, with the request of a client of another API if it was made for one. */
export interface Exchange extends Sent {
  clientRequest?: { client?: string; protocol: string; path: string }
}
