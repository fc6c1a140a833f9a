// A server that is killed, in each of two ways; the others are in killed.all.test.ts.

import { continuesAfterKill, givesStoredAnswer } from './killed.ts'
import { models } from './server-process.ts'

continuesAfterKill(models.translated)
givesStoredAnswer(models.passed)
