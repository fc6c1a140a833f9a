// A call or an answer before it counts: which arguments are accepted, and what is said about others.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { z } from 'zod'
import type { Json } from '../../src/core/json.ts'
import type { ToolCallPart } from '../../src/core/message.ts'
import type { Tool } from '../../src/core/tool.ts'
import { argsHashOf } from '../../src/run/tools/approval.ts'
import { checkAnswer } from '../../src/run/answer.ts'
import { checkInput, findingsOf, problemOf } from '../../src/run/tools/check-input.ts'
import { defineTool, findingOf } from '../../src/run/tools/define-tool.ts'
import { readCall } from '../../src/run/tools/tool-step.ts'
import { call } from '../histories.ts'

describe('arguments', () => {
  const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'], additionalProperties: false }

  test('that do not fit are named by their path, in words', async () => {
    assert.equal(await checkInput('t', schema, { a: 1 }), undefined)
    assert.match((await checkInput('t', schema, {})) ?? '', /lacks the field "a"/)
    assert.match((await checkInput('t', schema, { a: 'x' })) ?? '', /a.*of type string, and must be of type number/)
    assert.match((await checkInput('t', schema, { a: 1, b: 2 })) ?? '', /There is no such field/)
    assert.deepEqual((await findingsOf({ properties: { 'x/y': { type: 'null' } } }, { 'x/y': 1 }))[0]?.path, ['x/y'])
    assert.deepEqual(await findingsOf({}, { a: 1 }), [])
    assert.deepEqual(await findingsOf({ type: 'object', properties: {} }, {}), [])
    assert.equal((await findingsOf({ type: 'object' }, 'x')).length, 1)
    assert.equal((await findingsOf({ type: 'array' }, {})).length, 1)
    assert.deepEqual(await findingsOf({ $ref: '#/nowhere' }, { a: 1 }), [], 'a schema that cannot be read')
  })

  test('are read for the tool that is called, or a problem says why it was not run', async () => {
    const seen: unknown[] = []
    const tool = (change: Partial<Tool> = {}): Tool => ({
      name: 'add',
      input: schema,
      run: (input) => void seen.push(input),
      ...change,
    })
    const problem = async (tools: Tool[], asked: ToolCallPart) => {
      const read = await readCall(tools, asked)
      return 'problem' in read ? read.problem : undefined
    }
    const asked = (input: Json) => call('c', 'add', input)
    assert.equal(await problem([], asked({})), 'There is no tool named add. Known tools: none.')
    assert.match((await problem([tool({ name: 'x' }), tool({ name: 'y' })], asked({}))) ?? '', /Known tools: x, y\./)
    assert.match((await problem([tool()], { ...asked({}), malformed: '{"a' })) ?? '', /not a JSON object.*\{"a/)
    assert.match((await problem([tool()], asked({}))) ?? '', /no arguments came, and it needs "a"/)
    assert.match((await problem([tool({ input: { required: ['a', 1, 'b'] } })], asked({}))) ?? '', /needs "a", "b"\./)
    assert.match((await problem([tool()], asked({ a: 'x' }))) ?? '', /add/)
    assert.equal(await problem([tool()], asked({ a: 1 })), undefined)
    assert.equal(await problem([tool({ input: {} })], asked({})), undefined)
    assert.equal(
      await problem([tool({ input: {}, read: () => Promise.reject(new Error('broken')) })], asked({})),
      'add was not run: broken',
    )
    assert.equal(
      await problem([tool({ input: {}, read: () => Promise.reject('text') })], asked({})),
      'add was not run: text',
    )
    const asks = async (ask: Tool['ask']) => {
      const read = await readCall([tool({ ...(ask !== undefined && { ask }) })], asked({ a: 1 }))
      return 'problem' in read ? undefined : read.asks()
    }
    assert.deepEqual(await Promise.all([asks(undefined), asks(true), asks(false)]), [false, true, false])
    assert.deepEqual([await asks((input) => (input as { a: number }).a === 1), await asks(() => false)], [true, false])
    const free = await readCall([tool({ kind: 'free-form', input: {} })], asked({ input: 'plain' }))
    if (!('problem' in free)) await free.run({} as never)
    const other = await readCall([tool({ input: {} })], asked({ input: 'plain' }))
    if (!('problem' in other)) await other.run({} as never)
    assert.deepEqual(seen, ['plain', { input: 'plain' }])
  })

  test('have a hash of exactly what the model wrote', () => {
    const hash = (part: Partial<ToolCallPart>) => argsHashOf({ ...call('c', 't', { a: 1 }), ...part })
    assert.equal(hash({}), hash({ callId: 'other', name: 'u' }))
    assert.notEqual(hash({}), hash({ input: { a: 2 } }))
    assert.notEqual(hash({}), hash({ malformed: '{"a":2}' }))
    assert.equal(hash({ malformed: '{"a":1}' }), hash({}))
  })

  test('of a typed tool are those of its schema, also when it is called directly', async () => {
    const ran: unknown[] = []
    const add = defineTool({
      name: 'add',
      description: 'adds',
      input: z.object({ a: z.number().default(7) }),
      ask: ({ a }) => a > 5,
      run: ({ a }) => ran.push(a),
      repeatable: true,
      timeoutMs: 5,
      askTimeoutMs: 6,
    })
    assert.deepEqual([add.repeatable, add.timeoutMs, add.askTimeoutMs, add.description], [true, 5, 6, 'adds'])
    assert.equal('$schema' in (add.input as object), false)
    await add.run({}, {} as never)
    await assert.rejects(async () => add.run({ a: 'x' }, {} as never), /a/)
    assert.deepEqual(ran, [7])
    const { ask } = add
    assert.ok(typeof ask === 'function')
    assert.deepEqual([await ask({ a: 6 }), await ask({ a: 5 }), await ask({ a: 'x' })], [true, false, false])
    const plain = defineTool({ name: 'p', input: { type: 'object' }, ask: true, run: () => 1 })
    assert.equal(plain.ask, true)
    assert.deepEqual(Object.keys(plain).toSorted(), ['ask', 'input', 'name', 'read', 'run'])
  })
})

test('ten findings are listed, each once, with its place, and of more the number', () => {
  const findings = (count: number) => Array.from({ length: count }, (_, i) => ({ path: ['list', i], message: 'no' }))
  assert.equal(
    problemOf('add', [{ path: [], message: 'is no object' }, ...findings(1), ...findings(1)]),
    'add was not run: its arguments do not fit its schema. Correct them and call it again.\n' +
      '- the arguments: is no object\n- list[0]: no',
  )
  assert.equal(problemOf('add', findings(10)).split('\n').at(-1), '- list[9]: no')
  assert.deepEqual(problemOf('add', findings(12)).split('\n').slice(-2), ['- list[9]: no', '- and 2 more'])
})

test('a finding names its place as a library gives it: keys, indexes and symbols', () => {
  const path = [{ key: 'list' }, 0, { key: 1 }, Symbol('s'), 'a']
  assert.deepEqual(findingOf({ path, message: 'is wrong' }), {
    path: ['list', 0, 1, 'Symbol(s)', 'a'],
    message: 'is wrong',
  })
  assert.deepEqual(findingOf({ message: 'is wrong' }), { path: [], message: 'is wrong' })
})

test('an answer is read out of a code block, and a problem says what is wrong', async () => {
  const schema = { type: 'object', properties: { a: { type: 'number' } } }
  assert.deepEqual(await checkAnswer(schema, '{"a":1}'), { value: { a: 1 } })
  assert.deepEqual(await checkAnswer(schema, ' ```json\n{"a":1}\n```\n'), { value: { a: 1 } })
  assert.deepEqual(await checkAnswer(schema, '```\n{"a":1}```'), { value: { a: 1 } })
  assert.match(JSON.stringify(await checkAnswer(schema, 'x')), /The answer is not JSON/)
  assert.match(JSON.stringify(await checkAnswer(schema, '{"a":"x"}')), /does not fit its schema/)
  const strict = z.object({ a: z.number().refine((a) => a > 5) })
  assert.ok('problem' in (await checkAnswer(schema, '{"a":1}', strict)))
  assert.deepEqual(await checkAnswer(schema, '{"a":6}', strict), { value: { a: 6 } })
})
