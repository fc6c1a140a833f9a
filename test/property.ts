// fast-check for all tests. A commit is always tried with the same histories, so that no one is stopped by what somebody
// else's change did not cause. `SYNAPSE_SEED=new` tries new ones, a number those of an earlier run.

import fc from 'fast-check'

const { SYNAPSE_SEED: seed = '20261115' } = process.env
if (seed !== 'new') fc.configureGlobal({ seed: Number(seed) })

export default fc
