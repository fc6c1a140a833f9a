// The total number of retries for a provider: a share of the requests to it, so that many concurrent runs do not make
// an outage worse. A token bucket that every request fills a little and every retry empties; it is full at first, so
// that a single request is retried as often as its policy allows.

export interface RetryBudget {
  /** A request is sent for the first time. */
  asked(): void
  /** Takes a retry; false: none is left. */
  take(): boolean
}

const full = 10

export function retryBudget(share: number): RetryBudget {
  let left = full
  return {
    asked: () => void (left = Math.min(full, left + share)),
    take() {
      // Shares such as 0.2 do not add up exactly.
      if (left < 1 - 1e-9) return false
      left -= 1
      return true
    },
  }
}

/** One for each provider, by its name and address. */
export function retryBudgets(share: number): (name: string) => RetryBudget {
  const all = new Map<string, RetryBudget>()
  return (name) => {
    const budget = all.get(name) ?? retryBudget(share)
    all.set(name, budget)
    return budget
  }
}
