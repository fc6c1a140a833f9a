// The package on the oldest and the newest Node of each line that `engines` names, and one sentence on all others.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after } from 'node:test'
import { promisify } from 'node:util'
import { install } from '../installed.ts'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'synapse-node-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const installed = install(folder)
const command = join(installed, 'bin', 'synapse.js')
const program = `
  import { openSynapse } from 'synapse'
  const clock = { name: 'clock', input: { type: 'object' }, run: () => 'noon' }
  const synapse = await openSynapse({ store: process.argv[2], offline: true, tools: [clock] })
  const chat = await synapse.start({ model: 'anthropic/claude-opus-5', tools: [clock] })
  console.log(await chat.send('What time is it?').text())
  console.log((await (await synapse.open(chat.id)).history()).length)
  await synapse.close()`
writeFileSync(join(folder, 'main.mjs'), program)

const { engines } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as { engines: { node: string } }

/** The version of each line that `engines` begins with, and its newest one ('' is the newest of all). */
const named = [
  ['22.22.3', '22'],
  ['24.15.0', '24'],
  ['25.9.0', '26'],
]

test('engines names these lines', () => {
  assert.equal(engines.node, '^22.22.3 || ^24.15.0 || >=25.9.0')
})

for (const version of named.flat()) {
  test(`Node ${version}: the default store works, in the library and in the command`, async (t) => {
    const node = await nodeOf(t, version)
    const { stdout } = await run(node, ['main.mjs', join(folder, `${version}.db`)], { cwd: folder })
    assert.match(stdout, /clock answered: noon\n4\n/)
    const env = { PATH: '', HOME: folder, XDG_DATA_HOME: join(folder, version) }
    const asking = run(node, [command, '--offline', 'What time is it?'], { cwd: folder, env })
    // The command reads what is piped in, until its end.
    asking.child.stdin?.end()
    const asked = await asking
    assert.match(asked.stdout, /clock answered/)
    assert.doesNotMatch(asked.stderr, /Warning/)
  })
}

for (const version of ['20', '22.13.0', '24.14.0']) {
  test(`Node ${version}: one sentence names the version to install`, async (t) => {
    const node = await nodeOf(t, version)
    const failed = (args: string[]) => {
      const running = run(node, args, { cwd: folder, env: { PATH: '', HOME: folder } })
      running.child.stdin?.end()
      return running.then(
        () => assert.fail('it works'),
        (error: { stderr: string }) => error.stderr,
      )
    }
    const library = await failed(['main.mjs', join(folder, `${version}.db`)])
    assert.match(library, /22\.22\.3|24\.15\.0/)
    assert.doesNotMatch(library, /Cannot destructure|is not a function/)
    const asked = await failed([command, '--offline', 'What time is it?'])
    assert.match(asked, /22\.22\.3|24\.15\.0/)
    assert.equal(asked.trim().split('\n').length, 1, asked)
  })
}

/** The program of that version, from the package that has it for this machine; it goes when the test is over. */
async function nodeOf(t: { after(clean: () => void): void }, version: string): Promise<string> {
  const own = mkdtempSync(join(tmpdir(), 'synapse-node-'))
  t.after(() => rmSync(own, { recursive: true, force: true }))
  writeFileSync(join(own, 'package.json'), '{ "private": true }')
  const name = `node-${process.platform}-${process.arch}`
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', `${name}@${version}`]
  await run('npm', args, { cwd: own, timeout: 300_000 })
  return join(own, 'node_modules', name, 'bin', 'node')
}
