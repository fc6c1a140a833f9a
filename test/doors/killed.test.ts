// A server that is killed, in each of two ways; the others are in killed.all.test.ts.

import { continuesAfterKill, givesStoredAnswer, models } from './killed.ts'

continuesAfterKill(models.translated)
givesStoredAnswer(models.passed)
