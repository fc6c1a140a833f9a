// Every recorded conversation × provider × policy: `prepare` never writes a body that `refuse` refuses.

import test from 'node:test'
import { basename } from 'node:path'
import { corpusFiles, noCorpus } from '../corpus.ts'
import { assertAccepted } from './accepted.ts'

for (const file of corpusFiles('trajectories/*/*.{json,jsonl}')) {
  test(`no body that is prepared from ${basename(file)} is refused`, { skip: noCorpus, timeout: 1_200_000 }, (t) => {
    t.diagnostic(`${assertAccepted(file, () => true)} requests`)
  })
}
