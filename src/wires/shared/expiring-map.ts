// What a server remembers under an id, for the one who put it there, and not forever.

export interface ExpiringMap<T> {
  put(id: string, owner: string, value: T, now: number): void
  /** Nothing for an id that is unknown, expired, or somebody else's: providers do not tell these apart. */
  get(id: string, owner: string, now: number): T | undefined
  delete(id: string, owner: string): boolean
  /** Forgets an id whoever it belongs to, as if its time had passed. */
  expire(id: string): boolean
  clear(): void
}

/** A conversation that is sent whole every time is kept whole every time: what is old must go. */
const most = 500

/** `lifetimeMs` counts from the last time that something was put under the id. */
export function createExpiringMap<T>(lifetimeMs: number): ExpiringMap<T> {
  const kept = new Map<string, { owner: string; value: T; expires: number }>()
  return {
    put(id, owner, value, now) {
      kept.delete(id)
      kept.set(id, { owner, value, expires: now + lifetimeMs })
      if (kept.size > most)
        for (const oldest of kept.keys()) {
          kept.delete(oldest)
          break
        }
    },
    get(id, owner, now) {
      const found = kept.get(id)
      return found && found.owner === owner && found.expires > now ? found.value : undefined
    },
    delete(id, owner) {
      return kept.get(id)?.owner === owner && kept.delete(id)
    },
    expire: (id) => kept.delete(id),
    clear: () => kept.clear(),
  }
}
