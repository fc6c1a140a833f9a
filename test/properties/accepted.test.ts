// A sample of the table in accepted.all.test.ts: each file and each pair of target and policy has its turn.

import assert from 'node:assert/strict'
import test from 'node:test'
import { corpusFiles, noCorpus } from '../corpus.ts'
import { everyTarget } from '../targets.ts'
import { assertAccepted, policies } from './accepted.ts'

test('no body that is prepared from a recorded conversation is refused, in a sample', { skip: noCorpus }, (t) => {
  let requests = 0
  for (const [n, file] of corpusFiles('trajectories/*/*.{json,jsonl}').entries()) {
    if (n % 8 !== 0) continue
    requests += assertAccepted(file, (target, policy) => {
      return (everyTarget.indexOf(target) + policies.indexOf(policy)) % 23 === (n / 8) % 23
    })
  }
  assert.ok(requests > 0)
  t.diagnostic(`${requests} requests`)
})
