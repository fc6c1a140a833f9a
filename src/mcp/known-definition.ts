// What is remembered of the tools of MCP servers. Apart from the rest, because the types of the package may not need a
// package.

/** A definition that was allowed before: its digest, with its text where that was kept. */
export type KnownDefinition =
  | string
  | {
      sha256: string
      text?: string
      /** The server did not offer it the last time; should it come back, it must be the same. */
      gone?: true
    }

/** A tool whose definition is not the one that was allowed. */
export interface ChangedTool {
  server: string
  /** As the model sees it. */
  name: string
  /** The definition that was allowed, where its text was kept. */
  before?: string
  now: string
}
