// A provider that fails repeatedly is skipped for a while, so that a fallback chain goes straight to one that works:
// after three failures within a minute it is skipped for 5 s, twice as long each time it fails again, up to a minute.
// Then one request may try it. Held in memory: it is about the present, not about the conversation.

const failuresToSkip = 3
const withinMs = 60_000
const firstSkipMs = 5000
const longestSkipMs = 60_000

export interface Cooldown {
  /** Whether it should be skipped now. */
  isSkipped(name: string): boolean
  failed(name: string, times?: number): void
  succeeded(name: string): void
}

interface Health {
  failures: number[]
  skippedUntil: number
  skipMs: number
}

export function cooldown(now: () => number = Date.now): Cooldown {
  const providers = new Map<string, Health>()
  return {
    isSkipped: (name) => (providers.get(name)?.skippedUntil ?? 0) > now(),
    failed(name, times = 1) {
      const at = now()
      const health = providers.get(name) ?? { failures: [], skippedUntil: 0, skipMs: 0 }
      providers.set(name, health)
      health.failures = health.failures.filter((time) => time > at - withinMs)
      for (let i = 0; i < times; i++) health.failures.push(at)
      // A provider that was skipped and fails its first request is skipped again at once.
      if (health.failures.length < failuresToSkip && health.skipMs === 0) return
      health.skipMs = Math.min(health.skipMs === 0 ? firstSkipMs : health.skipMs * 2, longestSkipMs)
      health.skippedUntil = at + health.skipMs
      health.failures = []
    },
    succeeded: (name) => void providers.delete(name),
  }
}
