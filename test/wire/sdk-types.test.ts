// The lists of fields and ids that the wires go by, against the types of the official clients.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { replyOnlyFields } from '../../src/wires/openai-chat/types.ts'

const root = join(import.meta.dirname, '..', '..')
const claims = join(import.meta.dirname, 'sdk-types.ts')

/** What the compiler says of the claims, and of the same claims with a wrong one among them, in one run. */
function compile(wrong: string): { claims: string[]; wrong: string[] } {
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as {
    compilerOptions: object
  }
  // Next to the claims, which import by relative paths.
  const folder = mkdtempSync(join(import.meta.dirname, 'tsc-'))
  try {
    const name = 'wrong-claims.ts'
    writeFileSync(join(folder, name), wrong.replaceAll("from '../", "from '../../"))
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [claims, name] }))
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    const { stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', folder, '--singleThreaded'], {
      encoding: 'utf8',
    })
    const lines = (stdout + stderr).split('\n').filter((line) => line !== '')
    return {
      claims: lines.filter((line) => !line.includes(name)),
      wrong: lines.filter((line) => line.includes(name)),
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('the official types say the same about fields and ids as the wires do, and a wrong claim is found', () => {
  const text = readFileSync(claims, 'utf8')
  const wrong = text.replace("Same<ChatReplyOnly, 'annotations'>", "Same<ChatReplyOnly, 'refusal'>")
  assert.notEqual(wrong, text)
  const found = compile(wrong)
  assert.deepEqual(found.claims, [])
  assert.equal(found.wrong.length, 1)
  assert.match(found.wrong[0] ?? '', /does not satisfy the constraint 'true'/)
})

test('reply-only fields by the types are left out of requests', () => {
  assert.ok(replyOnlyFields.has('annotations'))
})
