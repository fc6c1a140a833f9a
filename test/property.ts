// fast-check for all tests. A commit is always tried with the same histories, so that nobody is stopped by what someone
// else's change did not cause. `SYNAPSE_SEED=new` tries new ones, a number those of an earlier run.

import fc from 'fast-check'
import { thorough } from './thorough.ts'

const { SYNAPSE_SEED: seed = '20261115' } = process.env
fc.configureGlobal({ numRuns: thorough ? 100 : 50, ...(seed !== 'new' && { seed: Number(seed) }) })

export default fc
