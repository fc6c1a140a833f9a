import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { promisify } from 'node:util'
import * as z from 'zod'
import { isObject, type Json } from '../../src/core/json.ts'
import { agentSchema } from '../../src/agents/schema.ts'
import { readAgent } from '../../src/agents/read.ts'
import { loadConfig } from '../../src/config/load.ts'
import { configSchema } from '../../src/config/schema.ts'
import { newFolder } from '../config/folder.ts'

const root = join(import.meta.dirname, '..', '..')
const page = (name: string) => readFileSync(join(root, 'docs', name), 'utf8')

function blocks(text: string, kind: string): string[] {
  return [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].flatMap(([, head, body = '']) =>
    head === kind ? [body] : [],
  )
}

for (const name of ['configuration.md', 'guides/mcp.md', 'guides/agents.md']) {
  const text = page(name)
  for (const [index, yaml] of blocks(text, 'yaml').entries()) {
    test(`configuration ${index + 1} of ${name} is valid`, (t) => {
      const cwd = newFolder(t, { 'synapse.yaml': yaml })
      const config = loadConfig({ cwd, file: 'synapse.yaml', env: {} })
      const { ownIds, mcpServers, aliases } = config
      assert.ok([...ownIds, ...Object.keys(mcpServers), ...Object.keys(aliases ?? {})].length > 0)
    })
  }
  for (const [index, yaml] of blocks(text, 'yaml agent').entries()) {
    test(`agent ${index + 1} of ${name} is valid`, (t) => {
      const servers = blocks(page('guides/mcp.md'), 'yaml')[0] ?? ''
      const cwd = newFolder(t, { 'synapse.yaml': servers, 'agents/helper.yaml': yaml, 'agents/tools.ts': '' })
      const config = loadConfig({ cwd, file: 'synapse.yaml', env: {} })
      assert.equal(readAgent(join(cwd, 'agents/helper.yaml'), config).name, 'helper')
    })
  }
}

/** The keys in the first column of the tables of a section. */
function keysIn(text: string, heading: string): string[] {
  const section = text.slice(text.indexOf(`\n## ${heading}\n`) + 1).split(/\n## /, 1)[0] ?? ''
  return [...section.matchAll(/^\| (`.+?`) +\|/gm)].flatMap(([, cell = '']) => cell.match(/[\w$]+/g) ?? [])
}

function shapeOf(schema: z.ZodType, ...path: string[]): string[] {
  let at: Json = z.toJSONSchema(schema, { io: 'input' }) as Json
  for (const step of [...path, 'properties']) at = isObject(at) ? (at[step] ?? null) : null
  return Object.keys(isObject(at) ? at : {}).filter((key) => key !== '$schema')
}

test('the guides name every key, and no other', () => {
  assert.deepEqual(keysIn(page('guides/agents.md'), 'Keys').toSorted(), shapeOf(agentSchema).toSorted())
  const providers = shapeOf(configSchema, 'properties', 'providers', 'items')
  assert.deepEqual(keysIn(page('configuration.md'), 'Providers').toSorted(), providers.toSorted())
  const rest = [...keysIn(page('configuration.md'), 'Everything else'), 'providers']
  assert.deepEqual(rest.toSorted(), shapeOf(configSchema).toSorted())
})

test('the code of the guide runs unchanged', async (t) => {
  const guide = page('guides/agents.md')
  const [tools = ''] = blocks(guide, 'ts tools')
  const [code = ''] = blocks(guide, 'ts run')
  const index = JSON.stringify(join(root, 'src', 'index.ts'))
  const folder = newFolder(t, {
    'agents/helper.yaml': 'name: helper\nmodel: openai\ntools: [./tools.ts]\n',
    'agents/tools.ts': tools,
    'synapse.yaml': '',
    'main.ts': code.replace("'synapse'", index),
  })
  const { stdout } = await promisify(execFile)(process.execPath, ['main.ts'], { cwd: folder })
  assert.match(stdout, /dice answered: [1-6]\n/)
})
