// What a tool is given and what it may give: typed and checked input, progress, long results, images.

import assert from 'node:assert/strict'
import test from 'node:test'
import { type } from 'arktype'
import * as v from 'valibot'
import * as z from 'zod'
import { textOf, type Reply } from '../../src/core/message.ts'
import type { Tool } from '../../src/core/tool.ts'
import { defineTool } from '../../src/run/tools/define-tool.ts'
import type { StandardSchema } from '../../src/core/standard-schema.ts'
import { calling, collect, only, results, start } from './chatting.ts'

const model = 'anthropic/claude-opus-5'

const weather = {
  name: 'weather',
  description: 'Tells the weather.',
  run: ({ city, days }: { city: string; days?: number | undefined }) => `${city} ${days ?? 1}`,
}

/** The result of toStandardJsonSchema of @valibot/to-json-schema: the schema, with its JSON Schema. */
function withJsonSchema<S extends StandardSchema>(schema: S, json: Record<string, unknown>): S {
  return { ...schema, '~standard': { ...schema['~standard'], jsonSchema: { input: () => json } } }
}

const byLibrary: Record<string, Tool> = {
  zod: defineTool({ ...weather, input: z.object({ city: z.string(), days: z.number().optional() }) }),
  valibot: defineTool({
    ...weather,
    input: withJsonSchema(v.object({ city: v.string(), days: v.optional(v.number()) }), {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'number' } },
      required: ['city'],
    }),
  }),
  arktype: defineTool({ ...weather, input: type({ city: 'string', 'days?': 'number' }) }),
  'JSON Schema': defineTool<{ city: string; days?: number }>({
    ...weather,
    input: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'number' } },
      required: ['city'],
    },
  }),
}

async function called(tool: Tool, input: object) {
  const { chat, emulator } = await start(
    { model, tools: [tool] },
    { emulation: { reply: calling([{ name: tool.name, input }]) } },
  )
  const events = await collect(chat.send('Go.'))
  const [result] = await results(chat)
  assert.ok(result)
  return { result, text: textOf(result.output), events, emulator }
}

for (const [library, tool] of Object.entries(byLibrary)) {
  test(`a schema of ${library} becomes the tool's JSON Schema, the same for all`, () => {
    assert.deepEqual(tool.input, {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'number' } },
      required: ['city'],
    })
  })

  test(`input that matches a schema of ${library} is passed to the tool`, async () => {
    assert.equal((await called(tool, { city: 'Paris', days: 3 })).text, 'Paris 3')
  })

  test(`input that does not fit a schema of ${library} is not run, and the model is informed where it is wrong`, async () => {
    const { result, text } = await called(tool, { city: 'Paris', days: 'three' })
    assert.equal(result.failed, true)
    assert.match(text, /^weather was not run: its arguments do not fit its schema/)
    assert.match(text, /\n- days: .*(number|string)/)
  })
}

test('a call whose arguments never arrived is not run, even if the schema is unreadable, and its result says why', async () => {
  const input = { type: 'object', required: ['city', 'days'], properties: { city: { $ref: '#/nowhere' } } }
  for (const tool of [{ name: 'weather', input, run: () => 'ran' }, byLibrary['zod']]) {
    assert.ok(tool)
    const { result, text } = await called(tool, {})
    assert.equal(result.failed, true)
    assert.match(text, /^weather was not run: no arguments came, and it needs "city"/)
  }
})

test('a call of a tool with an unknown name runs no tool, however similar the name is, and the model is informed', async () => {
  for (const name of ['Weather', 'weather ', 'weathers', 'functions.weather', 'toString', '__proto__']) {
    let runs = 0
    const tool = { ...weather, input: { type: 'object' }, run: () => `run ${++runs}` }
    const reply = calling([{ name, input: { city: 'Paris' } }])
    const { chat } = await start({ model, tools: [tool] }, { emulation: { reply } })
    await collect(chat.send('Go.'))
    const [result] = await results(chat)
    assert.ok(result)
    assert.deepEqual({ runs, failed: result.failed }, { runs: 0, failed: true }, name)
    assert.match(textOf(result.output), /^There is no tool named .*Known tools: weather\b/)
  }
})

test('a call whose arguments are not a JSON object runs no tool, and the model is informed', async () => {
  for (const malformed of ['{"city": "Par', '["Paris"]', '"Paris"', 'null']) {
    let runs = 0
    const tool = { ...weather, input: { type: 'object' }, run: () => `run ${++runs}` }
    const call = { type: 'tool-call', callId: 'call_1', name: 'weather', input: {}, malformed } as const
    let replies = 0
    const reply = (): Partial<Reply> => ({ parts: replies++ === 0 ? [call] : [{ type: 'text', text: 'Done.' }] })
    const { chat } = await start({ model: 'mistral/mistral-medium-latest', tools: [tool] }, { emulation: { reply } })
    await collect(chat.send('Go.'))
    const [result] = await results(chat)
    assert.ok(result)
    assert.deepEqual({ runs, failed: result.failed }, { runs: 0, failed: true }, malformed)
    assert.match(textOf(result.output), /^The arguments are not a JSON object, so weather was not run/)
  }
})

test('a schema without JSON Schema is refused with what to do about it', () => {
  assert.throws(() => defineTool({ name: 'x', input: v.object({}), run: () => '' }), {
    message:
      'The input schema of x (valibot) has no JSON Schema; wrap it with toStandardJsonSchema of @valibot/to-json-schema.',
  })
  const other: StandardSchema = { '~standard': { version: 1, vendor: 'other', validate: (value) => ({ value }) } }
  assert.throws(
    () => defineTool({ name: 'x', input: other, run: () => '' }),
    /\(other\) has no JSON Schema; use a version/,
  )
})

test('the tool gets the output of the schema', async () => {
  const tool = defineTool({
    name: 'shout',
    input: z.object({ text: z.string().transform((text) => text.toUpperCase()) }),
    run: ({ text }) => text,
  })
  assert.equal((await called(tool, { text: 'hey' })).text, 'HEY')
})

test('a place deep in the input is named in full', async () => {
  const input = {
    type: 'object',
    properties: {
      items: { type: 'array', items: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } },
    },
    additionalProperties: false,
  }
  const tool: Tool = { name: 'sum', input, run: () => 0 }
  const { text } = await called(tool, { items: [{ n: 1 }, { n: 'two' }, {}], more: true })
  assert.match(text, /- items\[1\]\.n: It is of type string, and must be of type number\./)
  assert.match(text, /- items\[2\]: It lacks the field "n"\./)
  assert.match(text, /- more: There is no such field/)
})

test('a schema that cannot be read does not keep its tool from running', async () => {
  const tool: Tool = { name: 'odd', input: { type: 'object', $ref: '#/nowhere' }, run: () => 'ran' }
  assert.equal((await called(tool, {})).text, 'ran')
})

test('values that a tool yields are shown as they arrive, and the last one is the result', async () => {
  const tool: Tool = {
    name: 'build',
    input: { type: 'object' },
    async *run() {
      yield { done: 1 }
      yield { done: 2 }
      yield 'built'
    },
  }
  const { text, events } = await called(tool, {})
  assert.equal(text, 'built')
  assert.deepEqual(
    only(events, 'tool-progress').map(({ value }) => value),
    [{ done: 1 }, { done: 2 }, 'built'],
  )
})

test('the return value of a generator is its result, and yielded values are only progress', async () => {
  const tool: Tool = {
    name: 'build',
    input: { type: 'object' },
    async *run() {
      yield 'half'
      return 'built'
    },
  }
  const { text, events } = await called(tool, {})
  assert.equal(text, 'built')
  assert.deepEqual(
    only(events, 'tool-progress').map(({ value }) => value),
    ['half'],
  )
})

test('a long result is stored in full and shortened in the middle', async () => {
  const whole = `BEGIN${'x'.repeat(200_000)}END`
  const { result, text, emulator } = await called({ name: 'cat', input: { type: 'object' }, run: () => whole }, {})
  assert.equal(result.value, whole)
  assert.ok(text.startsWith('BEGIN') && text.endsWith('END') && text.length < 40_000)
  assert.match(text, /characters are not shown/)
  assert.ok(JSON.stringify(emulator.requests.at(-1)?.body).length < 50_000)
})

test('a large image from a tool is sent in full, though it is stored separately from its message', async () => {
  const base64 = Buffer.alloc(90_000, 7).toString('base64')
  const tool: Tool = {
    name: 'camera',
    input: { type: 'object' },
    run: () => [
      { type: 'text', text: 'A picture:' },
      { type: 'media', mediaType: 'image/png', data: { kind: 'base64', base64 } },
    ],
  }
  const { result, emulator } = await called(tool, {})
  assert.equal(result.output[1]?.type === 'media' && result.output[1].data.kind, 'blob')
  assert.ok(JSON.stringify(emulator.requests.at(-1)?.body).includes(base64))
})

test('a tool that takes too long is stopped by its own timeout', async () => {
  let told = false
  const tool = defineTool({
    name: 'slow',
    input: { type: 'object' },
    timeoutMs: 1,
    run: (_, { signal }) => new Promise(() => signal.addEventListener('abort', () => (told = true))),
  })
  const { text } = await called(tool, {})
  assert.match(text, /slow returned no result within 1 ms/)
  assert.ok(told)
})
