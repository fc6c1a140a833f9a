// A server that is killed, in the ways that killed.test.ts leaves out.

import { continuesAfterKill, givesStoredAnswer } from './killed.ts'
import { models } from './server-process.ts'

continuesAfterKill(models.passed)
givesStoredAnswer(models.translated)
