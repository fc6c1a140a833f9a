// The demo of the README runs to its end, shows what it should, and leaves nothing behind.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify, stripVTControlCharacters } from 'node:util'

const root = join(import.meta.dirname, '..', '..')

test('npm run demo calls two tools, switches the provider, survives kill -9 and shows the cost', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/demo.ts'], {
    cwd: root,
    timeout: 120_000,
    env: { PATH: process.env['PATH'] },
  })
  const text = stripVTControlCharacters(stdout)
  const steps = [
    /→ clock .*\n→ clock /,
    /-m openai\/gpt-5\.6/,
    /fate +message/,
    /Killed/,
    /--resume\n[^]*29 30/,
    /total +5/,
    /claude-code[^]*Carried to Codex/,
  ]
  let from = 0
  for (const step of steps) {
    const found = step.exec(text.slice(from))
    assert.ok(found, `${step} is missing in\n${text.slice(from)}`)
    from += found.index
  }
})
