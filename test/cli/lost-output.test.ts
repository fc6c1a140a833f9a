// Output without a reader: a closed pipe, a full disk.

import assert from 'node:assert/strict'
import { spawn, type StdioOptions } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import test from 'node:test'
import { newHome, type Home } from './command-line.ts'
import { bin } from '../installed.ts'

function start({ env, folder }: Home, args: string[], stdio: StdioOptions = ['ignore', 'pipe', 'pipe']) {
  const child = spawn(process.execPath, [bin, ...args], { env, cwd: folder, stdio })
  let err = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text))
  const ended = new Promise<{ code: number | null; err: string }>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, err }))
  })
  return { child, ended }
}

test('a reader may stop after the beginning of an answer, and the partial reply is saved', async (t) => {
  const home = newHome(t)
  const { child, ended } = start(home, ['--offline', '--json', 'Count to 2000'])
  let out = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text
    if (out.includes('"part-delta"')) child.stdout?.destroy()
  })
  assert.deepEqual(await ended, { code: 0, err: '' })
  const [id = ''] = (await home.synapse(['log'])).out.split(' ')
  assert.match((await home.synapse(['log', id])).out, /\nopenai\/.*\n.* 1 2 3/)
})

test('messages on stderr may go unread', async (t) => {
  const home = newHome(t)
  const { child, ended } = start(home, ['What is 17 + 25?'])
  let out = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr?.destroy()
  assert.equal((await ended).code, 0)
  assert.match(out, /42/)
})

test('a command that changes the store runs to its end even if its output is not read', async (t) => {
  const home = newHome(t)
  for (const question of ['one', 'two', 'three']) await home.synapse(['--offline', question])
  await home.synapse(['export', '--all', '-o', 'all.jsonl'])
  const imports = start(home, ['import', 'all.jsonl', '--db', 'there.db'])
  imports.child.stdout?.destroy()
  assert.deepEqual(await imports.ended, { code: 0, err: '3 conversations imported.\n' })
  const ids = (await home.synapse(['log', '--db', 'there.db'])).out.trimEnd().split('\n')
  assert.equal(ids.length, 3)
  const deletes = start(home, ['delete', '--yes', ...ids.map((line) => line.slice(0, 36)), '--db', 'there.db'])
  deletes.child.stdout?.destroy()
  assert.deepEqual(await deletes.ended, { code: 0, err: '' })
  assert.equal((await home.synapse(['log', '--db', 'there.db'])).out, '')
})

const full = '/dev/full'

test(
  'output that cannot be written is one clear sentence',
  { skip: !existsSync(full) && 'no full disk' },
  async (t) => {
    const home = newHome(t)
    const disk = openSync(full, 'w')
    t.after(() => closeSync(disk))
    for (const args of [['models'], ['--offline', 'Count to 50']]) {
      const { code, err } = await start(home, args, ['ignore', disk, 'pipe']).ended
      assert.equal(code, 1)
      assert.doesNotMatch(err, /^ +at /m)
      assert.match(err, /^synapse: The output cannot be written: ENOSPC.*\n/)
    }
  },
)
