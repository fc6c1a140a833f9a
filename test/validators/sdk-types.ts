// Bodies against the types of the official clients: written into a file as literals, and compiled.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '../../src/core/json.ts'
import { bodiesFor, type Made } from './bodies.ts'
import { withReplyFields } from './openapi.ts'

const root = join(import.meta.dirname, '..', '..')

interface Client {
  protocol: string
  provider: string
  type: string
  from: string
  /** The arguments of the client that make up the body. */
  shape?: (body: JsonObject) => JsonObject
}

const clients: Client[] = [
  {
    protocol: 'anthropic-messages',
    provider: 'anthropic',
    type: 'MessageCreateParams',
    from: '@anthropic-ai/sdk/resources/beta/messages',
  },
  {
    protocol: 'openai-chat',
    provider: 'openai',
    type: 'ChatCompletionCreateParams',
    from: 'openai/resources/chat/completions',
  },
  {
    protocol: 'openai-responses',
    provider: 'openai',
    type: 'ResponseCreateParams',
    from: 'openai/resources/responses/responses',
    shape: withReplyFields,
  },
  {
    protocol: 'gemini-generate',
    provider: 'google',
    type: 'GenerateContentParameters',
    from: '@google/genai',
    shape: asParameters,
  },
]

/** The client has everything but the contents in one object. Its enums take no plain strings, so bodies with them are left out. */
function asParameters({ contents, generationConfig, toolConfig, ...config }: JsonObject): JsonObject {
  assert.equal(toolConfig, undefined)
  assert.equal(generationConfig, undefined)
  return { model: 'gemini-3.8-flash', contents, config }
}

/** Compiles the bodies of all clients, and gives their number. */
export function checkByTypes(most: number, largest: number): number {
  let count = 0
  const programs: Record<string, string> = {}
  for (const client of clients) {
    const made = [...bodiesFor(client.protocol, [client.provider], most)].filter((each) => fits(each, client, largest))
    count += made.length
    programs[`${client.protocol}.ts`] = programOf(client, made)
  }
  compile(programs)
  return count
}

/** Programs by file name, with the packages of this project. */
export function compile(programs: Record<string, string>): void {
  const folder = mkdtempSync(join(tmpdir(), 'sdk-types-'))
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    for (const [name, text] of Object.entries(programs)) writeFileSync(join(folder, name), text)
    const options = [
      '--noEmit',
      '--singleThreaded',
      '--strict',
      '--skipLibCheck',
      '--target',
      'esnext',
      '--module',
      'nodenext',
    ]
    const tsc = join(root, 'node_modules', '.bin', 'tsc')
    const args = [...options, ...Object.keys(programs)]
    const { status, stdout } = spawnSync(tsc, args, { cwd: folder, encoding: 'utf8' })
    assert.equal(status, 0, stdout.slice(0, 4000))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function fits({ body }: Made, { protocol }: Client, largest: number): boolean {
  if (protocol === 'gemini-generate' && (body['generationConfig'] ?? body['toolConfig'])) return false
  return JSON.stringify(body).length < largest
}

function programOf({ type, from, shape }: Client, made: readonly Made[]): string {
  const lines = made.map(({ from: of, body }, i) => {
    const written = JSON.stringify(shape ? shape(body) : body, null, 1)
    return `// ${of}\nexport const body${i}: ${type} = ${written}\n`
  })
  return `import type { ${type} } from '${from}'\n${lines.join('\n')}`
}
