// A provider that fails repeatedly is skipped for a while, so that a fallback chain goes straight to one that works:
// after three failures within a minute it is skipped for 5 s, twice as long each time it fails again, up to a minute.
// Then one request may try it. Stored per process: it is about the present, not about the conversation.

const failuresToLeave = 3
const withinMs = 60_000
const firstOutMs = 5000
const longestOutMs = 60_000

export interface Cooldown {
  /** Whether it should be skipped now. */
  isOut(name: string): boolean
  failed(name: string, times?: number): void
  succeeded(name: string): void
}

interface Health {
  failures: number[]
  outUntil: number
  outMs: number
}

export function cooldown(now: () => number = Date.now): Cooldown {
  const all = new Map<string, Health>()
  return {
    isOut: (name) => (all.get(name)?.outUntil ?? 0) > now(),
    failed(name, times = 1) {
      const at = now()
      const health = all.get(name) ?? { failures: [], outUntil: 0, outMs: 0 }
      all.set(name, health)
      health.failures = health.failures.filter((time) => time > at - withinMs)
      for (let i = 0; i < times; i++) health.failures.push(at)
      // A provider that was skipped and fails its first request is skipped again at once.
      if (health.failures.length < failuresToLeave && health.outMs === 0) return
      health.outMs = Math.min(health.outMs === 0 ? firstOutMs : health.outMs * 2, longestOutMs)
      health.outUntil = at + health.outMs
      health.failures = []
    },
    succeeded: (name) => void all.delete(name),
  }
}
