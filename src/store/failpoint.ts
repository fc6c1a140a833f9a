// Points at which a process can be killed on purpose, to test crash recovery: before and after every write to a store,
// and inside a commit. Unset, which it always is outside of those tests, it costs one comparison.
//
// SYNAPSE_FAILPOINT names the point, such as `finishTool:after`, or `finishTool:after@2` for the second time it is
// passed; `*@7` is the seventh point of any name, and `?` only lists the points that are passed on stderr.

import { writeSync } from 'node:fs'
import type { Store } from './store.ts'

const setting = process.env['SYNAPSE_FAILPOINT']
const [pointName, pointCount] = (setting ?? '').split('@')
let passed = 0

export function failpoint(name: string): void {
  if (setting === undefined) return
  if (setting === '?') writeSync(2, `failpoint ${name}\n`)
  if (name !== pointName && pointName !== '*') return
  if (++passed === Number(pointCount ?? 1)) process.kill(process.pid, 'SIGKILL')
}

/** Methods that only read. Every other method counts as a write, so that a new one cannot be forgotten. */
export const reads: ReadonlySet<string> = new Set<keyof Store>([
  'conversation',
  'conversations',
  'entry',
  'history',
  'children',
  'outline',
  'branches',
  'exchange',
  'exchanges',
  'usage',
  'journaled',
  'toolRuns',
  'unsettled',
  'overlays',
  'stateAt',
  'blob',
  'search',
  'lease',
  'record',
  'records',
  'stream',
  'currentStreams',
  'listen',
  'within',
  'close',
])

/** The store with a failpoint before and after each write; the store itself if no failpoint is set. */
export function withFailpoints(store: Store): Store {
  if (setting === undefined) return store
  return new Proxy(store, {
    get(target, name: keyof Store) {
      const method: unknown = target[name]
      if (typeof method !== 'function' || reads.has(name)) return method
      return async (...values: unknown[]): Promise<unknown> => {
        failpoint(`${name}:before`)
        const result: unknown = await Reflect.apply(method, target, values)
        failpoint(`${name}:after`)
        return result
      }
    },
  })
}
