// The lists of fields and ids that the wires go by, against the types of the official clients.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { replyOnlyFields } from '../../src/wires/openai-chat/types.ts'

const root = join(import.meta.dirname, '..', '..')
const claims = join(import.meta.dirname, 'sdk-types.ts')

function compile(file: string): { status: number | null; output: string } {
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as {
    compilerOptions: object
  }
  const folder = mkdtempSync(join(import.meta.dirname, 'tsc-'))
  try {
    const config = join(folder, 'tsconfig.json')
    writeFileSync(config, JSON.stringify({ compilerOptions, files: [file] }))
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', config], { encoding: 'utf8' })
    return { status, output: stdout }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('the official types say the same about fields and ids as the wires do', () => {
  const { status, output } = compile(claims)
  assert.equal(status, 0, output)
})

test('a claim that the types do not bear out is found', () => {
  const text = readFileSync(claims, 'utf8')
  const wrong = text.replace("Same<ChatReplyOnly, 'annotations'>", "Same<ChatReplyOnly, 'refusal'>")
  assert.notEqual(wrong, text)
  const file = join(import.meta.dirname, 'sdk-types.wrong.ts')
  writeFileSync(file, wrong)
  try {
    const { status, output } = compile(file)
    assert.notEqual(status, 0)
    assert.match(output, /does not satisfy the constraint 'true'/)
  } finally {
    rmSync(file)
  }
})

test('reply-only fields by the types are left out of requests', () => {
  assert.ok(replyOnlyFields.has('annotations'))
})
