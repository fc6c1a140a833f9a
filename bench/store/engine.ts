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
  /** The same in seconds: conversations of equal messages, whose words are not in the search index. */
  fillQuickly(place: string, size: { conversations: number; messages: number }): Promise<void>
  close(): Promise<void>
}

/**
 * The driver alone, statements prepared once, the same durability: a log by hand, whose tables have the keys and indexes
 * that a tree of messages and a list of conversations need, with one conversation in it.
 */
export interface RawStore {
  /** An entry after the last one, and the head moved to it. */
  append(json: string): unknown
  /** Into a table of numbers and texts, which knows nothing of conversations. */
  insert(json: string): unknown
  /** The messages, parsed. */
  load(count: number): unknown
  close(): unknown
}

/** Ids that ascend, as those of ours do. */
export function nextId(): string {
  return `entry-${String(++made).padStart(12, '0')}`
}

let made = 0
