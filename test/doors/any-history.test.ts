// A sample of any-history.all.test.ts: each door and each provider has its turn.

import { acceptsAnyHistory, doors, providers } from './any-history.ts'

for (const [i, door] of doors.entries()) acceptsAnyHistory(door, providers[(i + 1) % providers.length] ?? '', 3)
