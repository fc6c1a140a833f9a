// Tells those who watch a conversation that something has happened to it. Only within this process, so a watcher looks
// by itself now and then too.

export interface Changes {
  tell: (conversationId: string) => void
  /** Calls back on each change; gives a way to stop that. */
  listen: (conversationId: string, changed: () => void) => () => void
}

export function changes(): Changes {
  const listeners = new Map<string, Set<() => void>>()
  return {
    tell(conversationId) {
      for (const changed of listeners.get(conversationId) ?? []) changed()
    },
    listen(conversationId, changed) {
      const those = listeners.get(conversationId) ?? new Set()
      listeners.set(conversationId, those.add(changed))
      return () => {
        those.delete(changed)
        if (those.size === 0) listeners.delete(conversationId)
      }
    },
  }
}
