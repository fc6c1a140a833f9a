// Streams take longer than the complete answers in undelivered.test.ts.

import { testRetriesOfLost } from './lost-answers.ts'

testRetriesOfLost(true)
