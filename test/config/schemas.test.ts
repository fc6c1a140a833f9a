import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { Validator, type Schema } from '@cfworker/json-schema'
import { parse } from 'yaml'
import { folder, schemaFiles } from '../../scripts/schemas.ts'

const root = join(import.meta.dirname, '..', '..')

function validator(name: string): Validator {
  return new Validator(JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Schema, '7')
}

for (const [name, text] of Object.entries(schemaFiles())) {
  test(`${name} is what scripts/schemas.ts writes`, () => {
    assert.deepEqual(JSON.parse(readFileSync(new URL(name, folder), 'utf8')), JSON.parse(text))
  })
}

test('every example matches the schema for editors', () => {
  const files = globSync('examples/agents/**/*.yaml', { cwd: root })
  assert.ok(files.length >= 3)
  for (const file of files) {
    const name = file.endsWith('synapse.yaml') ? 'synapse.schema.json' : 'agent.schema.json'
    const { valid, errors } = validator(name).validate(parse(readFileSync(join(root, file), 'utf8')))
    assert.ok(valid, `${file}: ${JSON.stringify(errors)}`)
  }
})

test('editors are warned about unknown keys, protocols and presets', () => {
  const agent = validator('agent.schema.json')
  assert.equal(agent.validate({ name: 'a', modell: 'openai' }).valid, false)
  assert.equal(agent.validate({ name: 'a', policy: 'cheap' }).valid, false)
  assert.equal(agent.validate({ name: 'a', tools: ['tools.ts'] }).valid, false)
  const config = validator('synapse.schema.json')
  const provider = { id: 'a', baseUrl: 'http://a' }
  assert.equal(config.validate({ providers: [{ ...provider, protocol: 'openai-chat' }] }).valid, true)
  assert.equal(config.validate({ providers: [{ ...provider, protocol: 'openai-chatt' }] }).valid, false)
})
