// What of the bench needs no peers and hardly a clock: it fails when a ratio leaves its bound by more than noise.
// A process of its own, because the bench is a package of its own: nothing here may depend on what it installs.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import test from 'node:test'
import { thorough } from '../thorough.ts'

const root = join(import.meta.dirname, '..', '..')

const rows = {
  ...(thorough && {
    money: 'what is sent costs nearly as little as it could with hindsight',
    knowledge: 'facts that came up early are in the request that needs them, in support, research and code',
  }),
  validity: 'every history is accepted on every wire, by two readings of the rules',
  plan: 'the time to decide what to send grows with the history, not with its square',
}

test('the rows that need no peers meet their bounds', async (t) => {
  // In one process: to load what they share takes longer than some of them.
  const { code, said } = await bench('--quick', ...Object.keys(rows))
  const sections = said.split(/^(?=## )/m).filter((section) => section.startsWith('## '))
  assert.equal(sections.length, Object.keys(rows).length, said)
  for (const [row, sentence] of Object.entries(rows)) {
    await t.test(sentence, () => {
      const section = sections.find((one) => one.startsWith(`## ${row}`)) ?? ''
      assert.match(section, /^- .*, met$/m)
      assert.doesNotMatch(section, /not met/)
    })
  }
  assert.equal(code, 0, said)
})

test('a row that does not exist is refused in one sentence', async () => {
  const { code, said } = await bench('speed')
  assert.equal(code, 2)
  assert.match(said, /^There is no bench "speed"\. There are .+\.\n$/)
})

function bench(...args: string[]): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join('bench', 'run.ts'), ...args], { cwd: root }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, said: stdout + stderr })
    })
  })
}
