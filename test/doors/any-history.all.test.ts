// Every door over every provider.

import { acceptsAnyHistory, doors, providers } from './any-history.ts'

for (const door of doors) for (const model of providers) acceptsAnyHistory(door, model, 20)
