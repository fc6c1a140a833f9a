// Stored tool definitions of MCP servers. Separate from the rest, because the types of the package may not need a
// dependency.

/** A definition that was allowed before: its digest, with its text if it was stored. */
export type KnownDefinition =
  | string
  | {
      sha256: string
      text?: string
      /** The server did not offer it the last time; if it comes back, it must be the same. */
      gone?: true
    }

/** A tool whose definition differs from the allowed one, or that is new on its server. */
export interface ChangedTool {
  server: string
  /** As the model sees it. */
  name: string
  /** The allowed definition, if its text was stored. */
  before?: string
  now: string
  /** The server was known, and did not have it before. */
  added?: true
}
