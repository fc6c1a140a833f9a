// What the package exports.

export { prepare, refuse, replay, type PrepareInput, type Prepared, type Replayed } from './runtime/prepare.ts'
export { formatIds, readTranscript, writeTranscript } from './transcripts/index.ts'
export { loadAgent, type Agent, type AgentOptions } from './agents/index.ts'
export { connectMcp, type McpConnection, type McpConnectOptions } from './mcp/connect.ts'
export type { McpServerEntry } from './config/mcp-entry.ts'
export type { Beginning } from './runtime/begin-conversation.ts'
export { openSynapse, type Adapter, type Synapse, type SynapseOptions } from './runtime/open.ts'
export {
  createProvider,
  type ChatLoop,
  type Provider,
  type ProviderConfig,
  type ProviderOptions,
  type ProviderState,
} from './runtime/create-provider.ts'
export { defineTool, type ToolDefinition } from './run/tools/define-tool.ts'
export { recallTool } from './run/tools/recall.ts'
export type { Approval } from './run/tools/approval.ts'
export type { Compacted } from './run/compaction/compact.ts'
export type { AnswerOf } from './run/answer.ts'
export type { DeepPartial } from './run/events/run-handle.ts'
export type { Conversation, Run } from './run/conversation.ts'
export type { Candidate, Comparison } from './run/branches/compare.ts'
export type { Transport } from './run/run-context.ts'
export type { TokenCount } from './run/request/count-tokens.ts'
export type { Inspected } from './run/request/inspect.ts'
export type { RunEnd } from './run/loop.ts'
export type { UserInput } from './run/settings.ts'
export type { StandardSchema } from './core/standard-schema.ts'
export type { SubmittedResult } from './run/tools/external-tools.ts'
export type { ConversationUsage, Spending } from './run/usage.ts'
export type { TelemetryOptions } from './runtime/telemetry.ts'
export type * from './core/message.ts'
export type * from './core/context.ts'
export type * from './core/event.ts'
export type * from './core/json.ts'
export type {
  Branch,
  Conversation as StoredConversation,
  Entry,
  EntryOutline,
  Exchange,
  Lease,
  Overlay,
  ProviderState as StoredProviderState,
  RecordedToolRun,
} from './core/log.ts'
export type * from './core/tool.ts'
export type * from './core/usage.ts'
export { SynapseError, type ErrorKind, type Failure } from './core/error.ts'
export type { Estimate } from './context/assemble.ts'
export type { Explained } from './context/explain.ts'
export type * from './settings/options.ts'
export type { CompactionSettings, FoldStyle, Policy, PolicySettings, PresetName } from './settings/policy.ts'
export type {
  Budget,
  Composing,
  Fallback,
  Guards,
  Handoff,
  HookPlace,
  Hooks,
  Route,
  RouteStep,
  RunSettings,
  Spend,
} from './settings/run.ts'
export { defineWire, type WireDefinition } from './wires/define-wire.ts'
export type * from './wires/wire.ts'
export type * from './providers/provider.ts'
export type { Endpoint } from './providers/resolve.ts'
export { openMemoryStore, openPostgresStore, openSqliteStore, openStore } from './store/open.ts'
export type { PostgresOptions } from './store/postgres.ts'
export type { SqliteOptions } from './store/sqlite.ts'
export type * from './store/store.ts'
export type { Transcript } from './wires/shared/transcript.ts'
