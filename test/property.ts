// fast-check for all tests. A commit is always tried with the same histories, so that nobody is stopped by what someone
// else's change did not cause. `SYNAPSE_SEED=new` tries new ones, a number those of an earlier run.

import fc from 'fast-check'
import { thorough } from './thorough.ts'

/** So many in `npm run test:all`, a tenth of them in `npm test`. */
export const runs = (count: number): number => (thorough ? count : Math.ceil(count / 10))

const { SYNAPSE_SEED: seed = '20261115' } = process.env
fc.configureGlobal({ numRuns: runs(150), ...(seed !== 'new' && { seed: Number(seed) }) })

/** Any character. The unit `binary` of fast-check is the same, and first makes a table of all of them. */
export const character: fc.Arbitrary<string> = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code))

export default fc
