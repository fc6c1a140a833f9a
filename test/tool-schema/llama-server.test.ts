// The schemas against a server that we did not write, where there is one on the machine.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { prepare, refuse } from '../../src/runtime/prepare.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { schemas } from './schemas.ts'

const folder = join(import.meta.dirname, '..', '..', '..', 'shared', 'llama')
const skip = existsSync(join(folder, 'llama-server')) ? false : 'llama-server is not on this machine'

let base = ''
let stop = () => {}

before(async () => {
  if (skip) return
  const port = await freePort()
  const where = ['--host', '127.0.0.1', '--port', String(port)]
  const size = ['-c', '131072', '-np', '1', '-t', '1']
  const server = spawn(join(folder, 'llama-server'), ['-m', join(folder, 'tiny.gguf'), '--jinja', ...where, ...size], {
    stdio: 'ignore',
  })
  stop = () => void server.kill('SIGKILL')
  base = `http://127.0.0.1:${port}`
  const exited = once(server, 'exit').then(() => 'exited')
  for (let tries = 0; tries < 1200; tries++) {
    const health = fetch(`${base}/health`).then(
      ({ ok }) => (ok ? 'ready' : 'loading'),
      () => 'silent',
    )
    const state = await Promise.race([health, exited])
    if (state === 'ready') return
    assert.notEqual(state, 'exited', 'llama-server ended before it listened')
    await setTimeout(100)
  }
  assert.fail('llama-server did not listen within two minutes')
})
after(() => stop())

/** It looks for references in the names of properties too. */
const itsOwnFault = 'a property that is called $ref'

for (const [form, input] of Object.entries(schemas)) {
  test(`llama-server accepts ${form} in the form written for it`, { skip: form === itsOwnFault || skip }, async () => {
    const { status, text } = await answerTo(bodyFor(input))
    assert.equal(status, 200, text)
  })
}

test('refuse returns what llama-server reports about unconverted schemas', { skip }, async () => {
  let refused = 0
  for (const [form, input] of Object.entries(schemas)) {
    const body = bodyFor({ type: 'object', properties: {} })
    const [tool] = body['tools'] as { function: JsonObject }[]
    assert.ok(tool)
    tool.function['parameters'] = input
    const { text } = await answerTo(body)
    const issues = refuse('openai-chat', body, { provider: 'llama.cpp' })
    const converts = !text.includes('JSON schema conversion failed')
    assert.equal(issues.length === 0, converts, `${form}: ${text.slice(0, 300)} ${JSON.stringify(issues)}`)
    if (!converts) refused++
  }
  assert.ok(refused > 0)
})

function bodyFor(input: JsonObject): JsonObject {
  const messages = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'Go.' }] }]
  const tools = [{ name: 'tool', input }]
  return prepare({ messages, tools, provider: 'llama.cpp', model: 'tiny', options: { maxOutput: 2 } }).body
}

async function answerTo(body: JsonObject): Promise<{ status: number; text: string }> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${base}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: answer.status, text: await answer.text() }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => void server.close(resolve))
  return port
}
