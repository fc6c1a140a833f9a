// The public compliance suite of Open Responses, run against the emulator. It is stored next to the repository; without
// it the test is skipped.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { served } from './emulating.ts'

const project = join(import.meta.dirname, '..', '..')
const suite = join(project, '..', 'shared', 'suites', 'open-responses', 'run')
const skip = existsSync(suite) ? false : 'the Open Responses suite is not on this machine'

interface Outcome {
  name: string
  status: string
  errors?: string[]
}

test('the emulator passes the Open Responses suite', { skip }, async (t) => {
  const { url } = await served(t)
  const results = await run('-u', `${url}/v1`, '-k', 'key', '-m', 'gpt-5.6', '--json')
  const http = results.filter(({ name }) => !name.startsWith('WebSocket'))
  assert.equal(http.length, 10)
  assert.deepEqual(
    http.filter(({ status }) => status !== 'passed'),
    [],
  )
})

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
