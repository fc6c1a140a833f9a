import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'

const root = join(import.meta.dirname, '..', '..')

test('npm start first builds the page', () => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts', 'build-web.ts')], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  assert.ok(existsSync(join(root, 'dist', 'web', 'index.html')))
})
