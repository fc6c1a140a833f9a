// The options in the body of a request, in the forms of every wire.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json, JsonObject } from '../../src/core/json.ts'
import type { Effort } from '../../src/settings/options.ts'
import { loadService } from '../../src/wires/list.ts'
import { mergeExtra, nearestEffort } from '../../src/wires/shared/options.ts'
import { put, putIn } from '../../src/wires/shared/refused-check.ts'
import { textsIn, valueAt } from '../../src/wires/shared/json-fields.ts'
import {
  allowedToolsIn,
  callable,
  reasoningByEffort,
  readOptions,
  schemaIn,
  toolChoiceIn,
} from '../../src/wires/shared/request-options.ts'
import { estimateTokens as estimateWireTokens } from '../../src/wires/shared/prompt.ts'

describe('the options in a request', () => {
  test('of tool choice are read in the forms of OpenAI and Anthropic', () => {
    const rows: [Json | undefined, Json][] = [
      [undefined, 'auto'],
      ['auto', 'auto'],
      ['none', 'none'],
      ['required', 'required'],
      ['any', 'required'],
      [{ type: 'any' }, 'required'],
      [{ type: 'none' }, 'none'],
      [{ type: 'tool', name: 'look' }, { tool: 'look' }],
      [{ type: 'function', function: { name: 'look' } }, { tool: 'look' }],
      [{ type: 'function', function: { name: 1 } }, 'required'],
      [{ type: 'function', name: '' }, 'required'],
      [{ type: 'custom' }, 'required'],
      [{ type: 'tool' }, 'required'],
      [{ type: 'mcp', server_label: 'search' }, 'auto'],
      [{ type: 'custom', custom: { name: 'sh' } }, { tool: 'sh' }],
      [{ type: 'custom', name: 'sh' }, { tool: 'sh' }],
      [{ type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } }, 'auto'],
      [{ type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [] } }, 'required'],
      [{ type: 'allowed_tools', mode: 'required', tools: [] }, 'required'],
    ]
    for (const [given, read] of rows) assert.deepEqual(toolChoiceIn(given), read, JSON.stringify(given))
  })

  test('of allowed tools are read in both forms of OpenAI, and the other tools are left out with a note', () => {
    const chat = [
      { type: 'function', function: { name: 'look' } },
      { type: 'custom', custom: { name: 'sh' } },
    ]
    const responses = [{ type: 'function', name: 'look' }, { type: 'custom', name: 'sh' }, { type: 'mcp' }]
    const both: Json[] = [
      { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: chat } },
      { type: 'allowed_tools', mode: 'auto', tools: responses },
    ]
    for (const choice of both) assert.deepEqual(allowedToolsIn(choice), ['look', 'sh'])
    for (const choice of ['auto', { type: 'function', name: 'look' }, undefined]) {
      assert.equal(allowedToolsIn(choice), undefined)
    }
    const tools = ['look', 'other', 'sh'].map((name) => ({ name, input: {} }))
    const requested = readOptions({
      toolChoice: 'auto',
      reasoning: 'free',
      maxOutput: [],
      allowedTools: ['look', 'sh'],
    })
    const { tools: offered, notes } = callable(tools, requested)
    assert.deepEqual(
      offered.map(({ name }) => name),
      ['look', 'sh'],
    )
    assert.deepEqual(
      notes.map(({ kind, what }) => [kind, what]),
      [['dropped', '1 tools']],
    )
    assert.deepEqual(callable(tools, { ...requested, allowedTools: ['look', 'other', 'sh'] }), { tools, notes: [] })
  })

  test('of allowed tools are read in the forms of Gemini, where one that must be called is a forced tool', async () => {
    const [generate, interactions] = await Promise.all([
      loadService('gemini-generate'),
      loadService('gemini-interactions'),
    ])
    const rows: [string, string[], Json][] = [
      ['any', ['look'], [{ tool: 'look' }, null]],
      ['any', ['look', 'sh'], ['required', ['look', 'sh']]],
      ['any', [], ['required', null]],
      ['validated', ['look'], ['auto', ['look']]],
      ['auto', [], ['auto', null]],
    ]
    for (const [mode, names, read] of rows) {
      const config = { mode: mode.toUpperCase(), allowedFunctionNames: names }
      const { toolChoice, allowedTools } = generate.options({ toolConfig: { functionCallingConfig: config } }, 'google')
      assert.deepEqual([toolChoice, allowedTools ?? null], read, JSON.stringify(config))
      const choice = { allowed_tools: { mode: mode === 'validated' ? 'auto' : mode, tools: names } }
      const other = interactions.options({ generation_config: { tool_choice: choice } }, 'google')
      assert.deepEqual([other.toolChoice, other.allowedTools ?? null], read, JSON.stringify(choice))
    }
  })

  test('of reasoning, schema and texts count only in the right type', () => {
    assert.deepEqual([undefined, 'none', 'low', 1].map(reasoningByEffort), ['free', 'off', 'on', 'free'])
    const schema = { type: 'object' }
    assert.deepEqual(schemaIn({ json_schema: { schema } }), schema)
    assert.deepEqual(schemaIn({ json_schema: { schema_definition: schema } }), schema)
    assert.deepEqual(schemaIn({ schema }), schema)
    assert.deepEqual([schemaIn({ type: 'json_object' }), schemaIn({ type: 'text' })], [{}, undefined])
    assert.deepEqual([schemaIn(undefined), schemaIn({ schema: 'x' })], [undefined, undefined])
    assert.deepEqual(textsIn(['a', 1, 'b']), ['a', 'b'])
    assert.deepEqual([textsIn([1]), textsIn([]), textsIn('a')], [undefined, undefined, undefined])
    assert.equal(valueAt({ a: { b: null } }, 'a', 'b'), undefined)
    assert.equal(valueAt({ a: { b: 0 } }, 'a', 'b'), 0)
    assert.equal(valueAt('a', 'length'), undefined)
  })

  test('of length and stop sequences are left out if none is valid', () => {
    const given = { toolChoice: 'none', reasoning: 'off' } as const
    assert.deepEqual(readOptions({ ...given, maxOutput: ['5', -1, undefined, 3, 4], stop: 'x' }), {
      ...given,
      parallelTools: true,
      maxOutput: 3,
      stop: ['x'],
    })
    assert.deepEqual(readOptions({ ...given, parallelTools: false, maxOutput: [], answerSchema: {}, stop: [1] }), {
      ...given,
      parallelTools: false,
      answerSchema: {},
    })
  })

  test('of sampling and effort are read in the form of each wire', async () => {
    const sampling = { temperature: 0.5, top_p: 0.9 }
    const camel = { temperature: 0.5, topP: 0.9 }
    const thinking = { type: 'enabled', budget_tokens: 20_000 }
    const converse = (reasoningConfig: JsonObject): JsonObject => ({
      inferenceConfig: camel,
      additionalModelRequestFields: { reasoningConfig },
    })
    const rows: [wire: string, body: JsonObject, effort: Effort | undefined][] = [
      ['openai-chat', { ...sampling, reasoning_effort: 'low' }, 'low'],
      ['openai-chat', { ...sampling, reasoning: { effort: 'high' }, thinking: { type: 'disabled' } }, 'none'],
      ['openai-responses', { ...sampling, reasoning: { effort: 'xhigh' } }, 'xhigh'],
      ['anthropic-messages', { ...sampling, thinking }, 'high'],
      ['anthropic-messages', { ...sampling, thinking: { type: 'adaptive' } }, 'medium'],
      ['anthropic-messages', { ...sampling, thinking, output_config: { effort: 'max' } }, 'max'],
      ['mistral-chat', { ...sampling, reasoning_effort: 'unknown' }, undefined],
      ['cohere-chat', { temperature: 0.5, p: 0.9, thinking: { type: 'enabled', token_budget: 100 } }, 'low'],
      ['ollama-chat', { options: sampling, think: true }, 'medium'],
      ['ollama-chat', { options: sampling, think: false }, 'none'],
      ['gemini-interactions', { generation_config: { ...sampling, thinking_level: 'LOW' } }, 'low'],
      ['gemini-generate', { generationConfig: { ...camel, thinkingConfig: { thinkingBudget: 0 } } }, 'none'],
      ['gemini-generate', { generationConfig: { ...camel, thinkingConfig: { thinkingBudget: -1 } } }, 'medium'],
      ['gemini-generate', { generationConfig: { ...camel, thinkingConfig: { thinkingLevel: 'HIGH' } } }, 'high'],
      ['bedrock-converse', converse({ type: 'disabled' }), 'none'],
      ['bedrock-converse', converse({ type: 'enabled', maxReasoningEffort: 'high' }), 'high'],
    ]
    for (const [wire, body, wanted] of rows) {
      const { temperature, topP, effort } = (await loadService(wire)).options(body, 'other')
      assert.deepEqual([temperature, topP, effort], [0.5, 0.9, wanted], `${wire} ${JSON.stringify(body)}`)
    }
  })

  test('of effort are the nearest that is supported, the higher one of two', () => {
    assert.equal(nearestEffort('medium', ['low', 'high']), 'high')
    assert.equal(nearestEffort('medium', ['high', 'low']), 'high')
    assert.equal(nearestEffort('max', ['none', 'low']), 'low')
    assert.equal(nearestEffort('none', ['minimal', 'max']), 'minimal')
    assert.equal(nearestEffort('low', []), undefined)
  })

  test('beyond ours are merged into a body, object by object, and replace everything else', () => {
    assert.deepEqual(
      mergeExtra({ a: { b: 1, c: [1] }, d: 1, e: { f: 1 } }, { a: { c: [2], g: 3 }, d: { h: 1 }, e: 0 }),
      {
        a: { b: 1, c: [2], g: 3 },
        d: { h: 1 },
        e: 0,
      },
    )
  })
})

test('a server adds fields to a body, replaces them, and leaves out those that are undefined', () => {
  assert.deepEqual(put({ a: 1, b: undefined })({ b: 2, c: 3 }), { a: 1, c: 3 })
  assert.deepEqual(putIn('o', { a: 1 })({ o: { b: 2 } }), { o: { b: 2, a: 1 } })
  assert.deepEqual([putIn('o', { a: 1 })({}), putIn('o', { a: 1 })({ o: [1] })], [{ o: { a: 1 } }, { o: { a: 1 } }])
  assert.deepEqual(
    [estimateWireTokens(''), estimateWireTokens('abcd'), estimateWireTokens('abcde'), estimateWireTokens('éé')],
    [0, 1, 2, 1],
  )
})
