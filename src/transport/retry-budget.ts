// Limits the retries of all runs to a share of the requests to a provider, so that many concurrent runs do not make an
// outage worse. A token bucket: every request adds a fraction of a token, every retry takes one. It is full at first, so
// that a single request is retried as often as its policy allows.

export interface RetryBudget {
  /** Counts a request that is sent for the first time. */
  countRequest(): void
  /** Takes a retry; false: none is left. */
  take(): boolean
}

const capacity = 10

export function retryBudget(share: number): RetryBudget {
  let left = capacity
  return {
    countRequest: () => void (left = Math.min(capacity, left + share)),
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
  const budgets = new Map<string, RetryBudget>()
  return (name) => {
    const budget = budgets.get(name) ?? retryBudget(share)
    budgets.set(name, budget)
    return budget
  }
}
