// Loaded before a test, in its process and its children: returns one source file with a change in it.

import { registerHooks } from 'node:module'
import type { Mutant } from './mutants.ts'

const { MUTANT: given = '' } = process.env
const { url, start, end, replacement } = JSON.parse(given) as Mutant & { url: string }

registerHooks({
  load(asked, context, next) {
    const loaded = next(asked, context)
    if (asked !== url) return loaded
    const source = process.getBuiltinModule('node:fs').readFileSync(new URL(url), 'utf8')
    return { ...loaded, source: source.slice(0, start) + replacement + source.slice(end) }
  },
})
