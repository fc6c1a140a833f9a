// Loaded before the tests, in their process and its children. Replaces source files with those that contain all changes;
// `isMutant` tells whether a change is active, and records which changes were reached.

import { appendFileSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const { MUTANT: initial = '-1', MUTATION_SOURCES: sources = '', MUTATION_REACHED: reachedFile = '' } = process.env
const changed = new Map(Object.entries(JSON.parse(readFileSync(sources, 'utf8')) as Record<string, string>))

export const mutation: { active: number; reached: Set<number>; isWorker: boolean } = {
  active: Number(initial),
  reached: new Set(),
  isWorker: false,
}

Object.assign(globalThis, {
  isMutant(id: number): boolean {
    if (!mutation.reached.has(id)) {
      mutation.reached.add(id)
      // A child may be killed at any time.
      if (!mutation.isWorker) appendFileSync(reachedFile, `${id}\n`)
    }
    return id === mutation.active
  },
})

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    const source = changed.get(url)
    return source === undefined ? loaded : { ...loaded, source }
  },
})
