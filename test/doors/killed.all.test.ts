// A server that is killed, in the ways that killed.test.ts leaves out.

import { continuesAfterKill, givesStoredAnswer, models } from './killed.ts'

continuesAfterKill(models.passed)
givesStoredAnswer(models.translated)
