// Which versions of Node have a safe SQLite.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { isSafeVersion, nodeProblem, nodeToInstall } from '../../src/store/sqlite/node-version.ts'

/** What the releases bring, read from their `process.versions.sqlite`. */
const releases: [string, string | undefined, boolean][] = [
  ['v20.20.0', undefined, false],
  ['v22.13.0', '3.47.2', false],
  ['v22.22.2', '3.51.2', false],
  ['v22.22.3', '3.51.3', true],
  ['v24.14.1', '3.51.2', false],
  ['v24.15.0', '3.51.3', true],
  ['v25.8.2', '3.52.0', false],
  ['v25.9.0', '3.51.3', true],
  ['v26.0.0', '3.51.3', true],
]

test('each Node is accepted, or the error names the version of its line to install', () => {
  for (const [node, sqlite, works] of releases) {
    const problem = nodeProblem(node, sqlite)
    assert.equal(problem === undefined, works, node)
    if (problem !== undefined) assert.match(problem, new RegExp(`Install Node ${nodeToInstall(node)} or later`))
  }
  assert.equal(nodeToInstall('v22.13.0'), '22.22.3')
  assert.equal(nodeToInstall('v24.14.1'), '24.15.0')
  assert.equal(nodeToInstall('v20.20.0'), '24.15.0')
})

test('engines names exactly the first versions that work', () => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } }
  assert.equal(
    engines.node,
    `^${nodeToInstall('v22.0.0')} || ^${nodeToInstall('v24.0.0')} || >=${nodeToInstall('v25.0.0')}`,
  )
  assert.ok(isSafeVersion(process.versions['sqlite'] ?? ''), 'the tests run on one of them')
})

test('on Node 20 the library names the same versions as the command', () => {
  const versions = (text: string) => text.match(/\b2[2-9]\.\d+\.\d+\b/g)
  const command = /synapse needs Node (.*); this is/.exec(readFileSync('bin/synapse.js', 'utf8'))?.[1] ?? ''
  const [, remedy = ''] = (nodeProblem('v20.20.0', undefined) ?? '').split('Install Node ')
  assert.deepEqual(versions(remedy), versions(command))
})
