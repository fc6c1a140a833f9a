// Runs child.ts against a provider that sends too much, both as real processes on loopback.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Done, Task } from './child.ts'
import { upstream, type Script } from './upstream.ts'

/** What may be resident at most, in MB, whatever an upstream sends. */
export const mostRssMb = 512

export async function measure(
  t: TestContext,
  script: Script,
  task: Omit<Task, 'baseUrl' | 'folder'> = {},
): Promise<Done> {
  const { baseUrl } = await upstream(t, script)
  const folder = mkdtempSync(join(tmpdir(), 'synapse-limits-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const given: Task = { ...task, baseUrl, folder }
  const child = spawn(process.execPath, [join(import.meta.dirname, 'child.ts'), JSON.stringify(given)])
  t.after(() => void child.kill('SIGKILL'))
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  const code = await new Promise((resolve) => child.on('close', resolve))
  assert.equal(code, 0, err)
  const done = JSON.parse(out) as Done
  assert.ok(done.rssMb < mostRssMb, `${done.rssMb} MB were resident`)
  return done
}
