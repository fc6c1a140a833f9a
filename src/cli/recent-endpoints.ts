// Endpoints that were found within the last second. Each request of a client needs one, and finding it reads the
// environment and the file of stored keys; a key that was stored or removed meanwhile counts a second later.

import type { Runtime } from '../run/settings.ts'

const recentMs = 1000

export function recentEndpoints(find: Runtime['endpoint'], now: () => number = Date.now): Runtime['endpoint'] {
  const found = new Map<string, ReturnType<typeof find>>()
  let since = 0
  return (model, protocol) => {
    if (now() - since >= recentMs || now() < since) {
      found.clear()
      since = now()
    }
    const name = JSON.stringify([model, protocol])
    const known = found.get(name)
    if (known) return known
    const finding = find(model, protocol)
    found.set(name, finding)
    // What is missing may be there with the next request.
    finding.catch(() => found.delete(name))
    return finding
  }
}
