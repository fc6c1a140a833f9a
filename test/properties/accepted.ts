// Whether `refuse` takes what `prepare` writes: for recorded conversations, on every provider, under every policy.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { presetNames, type PresetName } from '../../src/settings/policy.ts'
import { prepare, readTranscript, refuse } from '../../src/index.ts'
import { everyTarget, type TestTarget } from '../targets.ts'

export const policies = presetNames

/** How many requests were made; fails with the first that is refused. */
export function assertAccepted(file: string, pick: (target: TestTarget, policy: PresetName) => boolean): number {
  const { messages, system, tools } = readTranscript(readFileSync(file, 'utf8'))
  let requests = 0
  for (const target of everyTarget) {
    for (const policy of policies) {
      if (!pick(target, policy)) continue
      const { body } = prepare({ ...target, messages, policy, ...(system && { system }), ...(tools && { tools }) })
      const place = `${basename(file)} for ${target.provider}/${target.model} on ${target.protocol}, policy ${policy}`
      assert.deepEqual(refuse(target.protocol, body, target).slice(0, 1), [], place)
      requests++
    }
  }
  return requests
}
