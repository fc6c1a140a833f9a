// Ratios, not times: what is compared runs in turn, several rounds, and the medians are set against each other. What
// runs in this thread alone is timed by the processor time that it took, so that a busy machine counts for little; what
// waits for others can only be timed by the clock on the wall.

export interface Contender {
  name: string
  /** Absent for what cannot be called at all: its cell then says why. */
  run?: () => unknown
  why?: string
}

export interface Timed {
  name: string
  /** Milliseconds of one run; undefined where it could not be run. */
  ms?: number
  why?: string
}

const rounds = 9

type Clock = 'processor' | 'wall'

/** `leastMs`: how long a sample is at least; longer than what comes only now and then, such as a checkpoint. */
export async function timeInTurn(
  contenders: readonly Contender[],
  clock: Clock = 'processor',
  leastMs = 50,
): Promise<Timed[]> {
  const able = contenders.filter((one) => one.run)
  const repeats = new Map<string, number>()
  const failures = new Map<string, string>()
  for (const one of able) {
    try {
      repeats.set(one.name, await repeatsFor(one, leastMs))
    } catch (error) {
      failures.set(one.name, error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error))
    }
  }
  const samples = new Map<string, number[]>(able.map((one) => [one.name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const one of able) {
      const count = repeats.get(one.name)
      if (count === undefined || !one.run) continue
      const start = now(clock)
      for (let i = 0; i < count; i++) await one.run()
      samples.get(one.name)?.push((now(clock) - start) / count)
    }
  }
  return contenders.map(({ name, why }) => {
    const reason = why ?? failures.get(name)
    const values = samples.get(name) ?? []
    return values.length > 0
      ? { name, ms: clock === 'wall' ? median(values) : mean(values) }
      : { name, ...(reason !== undefined && { why: reason }) }
  })
}

/** Often enough that one sample is longer than the steps of the clock and the collector's noise. */
async function repeatsFor(one: Contender, leastMs: number): Promise<number> {
  await one.run?.()
  const start = performance.now()
  let runs = 0
  do {
    await one.run?.()
    runs++
  } while (performance.now() - start < leastMs / 10)
  const ms = (performance.now() - start) / runs
  return Math.max(1, Math.min(2000, Math.ceil(leastMs / Math.max(ms, 0.001))))
}

function now(clock: Clock): number {
  if (clock === 'wall') return performance.now()
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Processor time comes in steps as long as a sample, so only the sum of all samples is exact. */
function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
