// What unchanged clients send: their own wire takes it, and every other provider can be given it, tools and all.

import assert from 'node:assert/strict'
import test from 'node:test'
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { prepare, readTranscript, refuse } from '../../src/index.ts'
import { clientBodies, noBodies, type ClientBody } from '../client-bodies.ts'
import { everyTarget } from '../targets.ts'

/** Refusals that the real services make too. */
const refused = new Map([
  ['gemini-cli-resume-duplicate-result', /number of function response parts/],
  ['opencode-deepseek-title-refused', /does not support successive user or assistant messages/],
])

test('there are bodies of real clients', { skip: noBodies }, () => assert.ok(clientBodies.length >= 14))

for (const { name, protocol, provider, model, body } of clientBodies) {
  test(`${name} is ${refused.has(name) ? 'refused' : 'accepted'} by ${provider}`, () => {
    const issues = refuse(protocol, body, { provider, model })
    const words = refused.get(name)
    if (words) assert.match(issues[0]?.message ?? '', words)
    else assert.deepEqual(issues, [])
  })

  test(`${name} can be sent to every provider, with all of its tools`, () => {
    const { messages, system, tools = [] } = readTranscript(body, { format: protocol })
    assert.equal(tools.length, offered(body), 'every tool that the client runs is read')
    for (const target of everyTarget) {
      const where = `${target.provider}/${target.model} on ${target.protocol}`
      const sent = prepare({ ...target, messages, ...(system && { system }), tools })
      assert.deepEqual(refuse(target.protocol, sent.body, target), [], where)
      assert.deepEqual(
        sent.notes.filter(({ what }) => /tools?$/.test(what)),
        [],
        where,
      )
      const names = toolNames(sent.body)
      for (const tool of tools) assert.ok(names.has(tool.name), `${tool.name} is offered to ${where}`)
    }
  })
}

test('what Codex adds to its items is sent only to OpenAI', { skip: noBodies }, () => {
  const codex = clientBodies.find(({ name }) => name === 'codex-openai-provider-compaction-trigger') as ClientBody
  const key = 'internal_chat_message_metadata_passthrough'
  assert.ok(JSON.stringify(codex.body).includes(key))
  assert.match(refuse(codex.protocol, codex.body, { provider: 'azure-openai' })[0]?.message ?? '', new RegExp(key))
  const { messages, tools = [] } = readTranscript(codex.body, { format: codex.protocol })
  for (const target of everyTarget) {
    const { body } = prepare({ ...target, messages, tools })
    if (target.provider !== 'openai') assert.ok(!JSON.stringify(body).includes(key), target.provider)
  }
})

/** How many tools the client runs itself: all but those that only the provider can run. */
function offered(body: JsonObject): number {
  const list = Array.isArray(body.tools) ? body.tools.filter(isObject) : []
  return list.reduce((sum, tool) => {
    if (tool.type === 'web_search') return sum
    const inside = tool.functionDeclarations ?? (tool.type === 'namespace' ? tool.tools : undefined)
    return sum + (Array.isArray(inside) ? inside.length : 1)
  }, 0)
}

/** Every tool in a body, by the name that it has on flat wires. */
function toolNames(body: Json): Set<string> {
  const names = new Set<string>()
  const { tools, toolConfig } = isObject(body) ? body : {}
  collect(tools ?? (isObject(toolConfig) ? toolConfig.tools : undefined), '')
  return names

  function collect(list: Json | undefined, prefix: string): void {
    for (const tool of Array.isArray(list) ? list.filter(isObject) : []) {
      const { type, name, function: fn, custom, toolSpec } = tool
      const inner = fn ?? custom ?? toolSpec
      if (type === 'namespace') collect(tool.tools, `${String(name)}__`)
      else if (tool.functionDeclarations) collect(tool.functionDeclarations, '')
      else if (type === 'tool_search') names.add('tool_search')
      else names.add(prefix + String(isObject(inner) ? inner.name : name))
    }
  }
}
