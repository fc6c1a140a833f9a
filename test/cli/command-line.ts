// Runs the command as a user would: a real process, its own home, no keys.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

export const bin = join(import.meta.dirname, '..', '..', 'bin', 'synapse.js')

export interface Ran {
  code: number | null
  out: string
  err: string
}

export interface Home {
  folder: string
  env: Record<string, string>
  synapse: (args: string[], options?: { input?: string; env?: Record<string, string> }) => Promise<Ran>
  /** Trusts what the folder holds now, and lets it read these variables. */
  trust: (...variables: string[]) => Promise<void>
}

export function newHome(t: TestContext, program = bin): Home {
  const folder = mkdtempSync(join(tmpdir(), 'synapse-cli-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const base = { PATH: process.env['PATH'] ?? '', HOME: folder, XDG_DATA_HOME: folder }
  const home: Home = {
    folder,
    env: base,
    async trust(...variables) {
      const { code, err } = await home.synapse(['trust', ...variables.flatMap((name) => ['--allow', name])])
      assert.equal(code, 0, err)
    },
    synapse(args, { input = '', env = {} } = {}) {
      const child = spawn(process.execPath, [program, ...args], { env: { ...base, ...env }, cwd: folder })
      const ran: Ran = { code: null, out: '', err: '' }
      child.stdout.setEncoding('utf8').on('data', (text: string) => (ran.out += text))
      child.stderr.setEncoding('utf8').on('data', (text: string) => (ran.err += text))
      // A command that ends before it has read its input is not an error of the test.
      child.stdin.on('error', () => {})
      child.stdin.end(input)
      return new Promise((resolve, reject) => {
        child.on('error', reject)
        child.on('close', (code) => resolve({ ...ran, code }))
      })
    },
  }
  return home
}
