// fast-check for all tests. In CI the same commit is always tried with the same histories, so that nobody is stopped by
// what somebody else's change did not cause; everywhere else each run tries new ones.

import fc from 'fast-check'

if (process.env['CI']) fc.configureGlobal({ seed: 20_261_115 })

export default fc
