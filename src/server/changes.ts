// Notifies watchers of a conversation about changes. Only within this process, so a watcher also checks by itself now
// and then.

export interface Changes {
  notify: (conversationId: string) => void
  /** Calls back on each change; returns a function that stops it. */
  listen: (conversationId: string, changed: () => void) => () => void
}

export function changes(): Changes {
  const listeners = new Map<string, Set<() => void>>()
  return {
    notify(conversationId) {
      for (const changed of listeners.get(conversationId) ?? []) changed()
    },
    listen(conversationId, changed) {
      const watchers = listeners.get(conversationId) ?? new Set()
      listeners.set(conversationId, watchers.add(changed))
      return () => {
        watchers.delete(changed)
        if (watchers.size === 0) listeners.delete(conversationId)
      }
    },
  }
}
