// A database under the bench: our store on it, its bare driver, and a way to fill it in bulk.

export interface Engine {
  name: string
  /** The most that a search over a million messages may take, in milliseconds. */
  searchBound: number
  /** An empty place for a store. */
  place(name: string): Promise<string>
  raw(): Promise<RawStore>
  /** Writes so many conversations to the place as the store would have, without waiting for the disk. */
  fill(place: string, conversations: number): Promise<void>
  close(): Promise<void>
}

/** The driver alone: one table with a column of JSON, statements prepared once, the same durability. */
export interface RawStore {
  append(json: string): unknown
  /** The messages, parsed. */
  load(count: number): unknown
  close(): unknown
}
