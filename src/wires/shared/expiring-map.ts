// A server's state under an id, for its owner, with an expiry.

export interface ExpiringMap<T> {
  put(id: string, owner: string, value: T, now: number): void
  /** Undefined for an id that is unknown, expired, or of another owner: providers do not distinguish these. */
  get(id: string, owner: string, now: number): T | undefined
  delete(id: string, owner: string): boolean
  /** Deletes an id of any owner, as if it had expired. */
  expire(id: string): boolean
  clear(): void
}

/** A conversation that is sent in full every time is stored in full every time: old ones must be deleted. */
const maxEntries = 500

/** `lifetimeMs` counts from the last write under the id. */
export function createExpiringMap<T>(lifetimeMs: number): ExpiringMap<T> {
  const stored = new Map<string, { owner: string; value: T; expires: number }>()
  return {
    put(id, owner, value, now) {
      stored.delete(id)
      stored.set(id, { owner, value, expires: now + lifetimeMs })
      if (stored.size > maxEntries)
        for (const oldest of stored.keys()) {
          stored.delete(oldest)
          break
        }
    },
    get(id, owner, now) {
      const entry = stored.get(id)
      return entry && entry.owner === owner && entry.expires > now ? entry.value : undefined
    },
    delete(id, owner) {
      return stored.get(id)?.owner === owner && stored.delete(id)
    },
    expire: (id) => stored.delete(id),
    clear: () => stored.clear(),
  }
}
