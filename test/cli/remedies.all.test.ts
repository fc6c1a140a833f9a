// Every error that names a remedy is provoked, and then what it names is done and works.

import test from 'node:test'
import { prove, remedies } from './remedies.ts'

for (const remedy of remedies) {
  test(`the remedy works: ${remedy.text}`, { timeout: 120_000 }, (t) => prove(t, remedy))
}
