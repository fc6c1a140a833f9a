import assert from 'node:assert/strict'
import test from 'node:test'
import { prepare, refuse } from '../../src/runtime/prepare.ts'
import type { Json, JsonObject } from '../../src/core/json.ts'
import { answerDialects, toolDialects, type SchemaDialect } from '../../src/wires/tool-schema/dialect.ts'
import { fitSchema } from '../../src/wires/tool-schema/fit.ts'
import { everyTarget } from '../targets.ts'
import { thorough } from '../thorough.ts'
import { schemas } from './schemas.ts'

const messages = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'Go.' }] }]

/** Each schema goes to a third of the targets, another third for the next schema; in `npm run test:all` to all of them. */
const schemasFor = (target: number): [string, JsonObject][] =>
  Object.entries(schemas).filter((_, i) => thorough || (i + target) % 3 === 0)

test('there are enough schemas', () => {
  assert.ok(Object.keys(schemas).length >= 36, String(Object.keys(schemas).length))
})

for (const [n, target] of everyTarget.entries()) {
  test(`${target.provider} ${target.protocol} ${target.model} accepts our schemas, and no parameter is lost`, () => {
    for (const [form, input] of schemasFor(n)) {
      const tools = [{ name: 'tool', description: 'Does it.', input }]
      const { body, notes } = prepare({ messages, tools, ...target })
      const found = refuse(target.protocol, body, target)
      assert.deepEqual(found, [], `${form}: ${JSON.stringify(body.tools)}`)
      const sent = toolsIn(body)
      for (const name of namesIn(input)) assert.ok(sent.includes(name), `${form}: ${name} is not in ${sent}`)
      assert.equal(sent, toolsIn(prepare({ messages, tools: structuredClone(tools), ...target }).body), form)
      assert.ok(sent.length < 100_000, `${form} has ${sent.length} characters`)
      assert.ok(
        isAsGiven(sent, input) || notes.some(({ at }) => at === 'tools[0]'),
        `${form} was changed without a note`,
      )
    }
  })
}

for (const [n, target] of everyTarget.entries()) {
  test(`${target.provider} ${target.protocol} ${target.model} accepts every answer schema, with tools and without`, () => {
    const tool = { name: 'clock', input: { type: 'object', properties: {} } }
    for (const [form, answerSchema] of schemasFor(n)) {
      for (const tools of [[], [tool]]) {
        const { body } = prepare({ messages, tools, options: { answerSchema }, ...target })
        assert.deepEqual(refuse(target.protocol, body, target), [], `${form}: ${JSON.stringify(body)}`)
        const sent = JSON.stringify(body)
        for (const name of namesIn(answerSchema)) assert.ok(sent.includes(name), `${form}: ${name} is not in ${sent}`)
      }
    }
  })
}

const dialects: [string, SchemaDialect][] = [
  ...Object.entries(toolDialects),
  ...Object.entries(answerDialects).map(([name, dialect]): [string, SchemaDialect] => [`answers of ${name}`, dialect]),
]

for (const [name, dialect] of dialects) {
  test(`a schema that was written for ${name} is not changed`, () => {
    for (const [form, input] of Object.entries(schemas)) {
      const once = fitSchema(input, dialect)
      const twice = fitSchema(structuredClone(once.schema), dialect)
      assert.equal(JSON.stringify(twice.schema), JSON.stringify(once.schema), form)
      assert.deepEqual(twice.changes, [], form)
    }
  })
}

/** Converse has them in a configuration. */
function toolsIn(body: JsonObject): string {
  return JSON.stringify(body['tools'] ?? body['toolConfig'])
}

/** The names of all properties that a schema names anywhere. */
function namesIn(schema: Json | undefined): string[] {
  if (Array.isArray(schema)) return schema.flatMap(namesIn)
  if (typeof schema !== 'object' || schema === null) return []
  const names: string[] = []
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties' && typeof value === 'object' && value !== null && !Array.isArray(value)) {
      for (const [name, inner] of Object.entries(value)) names.push(name, ...namesIn(inner))
    } else if (key === 'required' && Array.isArray(value)) {
      names.push(...value.filter((name) => typeof name === 'string'))
    } else if (!['enum', 'const', 'default', 'examples'].includes(key)) names.push(...namesIn(value))
  }
  return names
}

/** An empty list of properties says nothing, so it needs no note. */
function isAsGiven(sent: string, input: JsonObject): boolean {
  const plain = JSON.stringify(input)
  return sent.includes(plain) || sent.includes(JSON.stringify({ ...input, properties: input['properties'] ?? {} }))
}
