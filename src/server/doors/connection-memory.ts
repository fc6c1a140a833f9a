// Responses that a client asked not to store: known by their ids to their connection, as long as it is open. A few are
// enough, because a client continues from its last one.

import type { JsonObject } from '../../core/json.ts'

export interface ConnectionMemory {
  remember(responseId: string, data: JsonObject): void
  find(responseId: string): JsonObject | undefined
  forget(responseId: string): void
}

const most = 64

export function connectionMemory(): ConnectionMemory {
  const known = new Map<string, JsonObject>()
  return {
    remember(responseId, data) {
      known.set(responseId, data)
      const [oldest] = known.keys()
      if (known.size > most && oldest !== undefined) known.delete(oldest)
    },
    find: (responseId) => known.get(responseId),
    forget: (responseId) => void known.delete(responseId),
  }
}
