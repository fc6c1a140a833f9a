// A clock for what must be quick although the machine is busy: it does not count the time in which this process, and what
// it talks to, waited for a processor.

import type { TestContext } from 'node:test'

/** How often it looks, and what it counts at most for each look: one that comes late was kept waiting. */
const everyMs = 10
const mostMs = 12

/** Milliseconds since it was made, until the end of the test. */
export function ownTime(t: TestContext): () => number {
  let [counted, last] = [0, performance.now()]
  const timer = setInterval(() => {
    const now = performance.now()
    counted += Math.min(now - last, mostMs)
    last = now
  }, everyMs)
  t.after(() => clearInterval(timer))
  return () => counted
}
