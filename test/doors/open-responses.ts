// The public compliance suite of Open Responses, run against the OpenAI door with several providers answering. It is kept
// beside the repository; without it the tests are skipped.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { serving } from '../server/serving.ts'

const project = join(import.meta.dirname, '..', '..')
const suite = join(project, '..', 'shared', 'suites', 'open-responses', 'run')
const skip = existsSync(suite) ? false : 'the Open Responses suite is not on this machine'

interface Outcome {
  name: string
  status: string
  errors?: string[]
}

/** All 17 tests of it, with this model answering. */
export function passesSuite(model: string): void {
  test(`the OpenAI door passes the Open Responses suite over ${model}`, { skip }, async (t) => {
    const { url } = await serving(t)
    const results = await run('-u', `${url}/v1`, '-k', 'key', '-m', model, '--json')
    assert.equal(results.length, 17)
    assert.deepEqual(
      results.filter(({ status }) => status !== 'passed').map(({ name, errors }) => [name, errors]),
      [],
    )
  })
}

/** The suite exits with 1 when one of its tests fails; what it prints counts. */
function run(...args: string[]): Promise<Outcome[]> {
  return new Promise((resolve, reject) => {
    execFile(suite, [project, ...args], { timeout: 60_000 }, (error, stdout) => {
      try {
        resolve((JSON.parse(stdout) as { results: Outcome[] }).results)
      } catch {
        reject(error ?? new Error(`The suite printed no JSON: ${stdout.slice(0, 200)}`))
      }
    })
  })
}
