// Answers of the doors against the types of the official clients: whole ones and the events of streams, written into a file
// as literals, and compiled.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { serving, type Serving } from '../server/serving.ts'
import { tools } from '../targets.ts'
import { compile } from '../validators/sdk-types.ts'
import { providers } from './any-history.ts'

interface Door {
  from: string
  whole: string
  event: string
  path: string
  body(text: string): JsonObject
}

const doors: Record<string, Door> = {
  chat: {
    from: 'openai/resources/chat/completions',
    whole: 'ChatCompletion',
    event: 'ChatCompletionChunk',
    path: '/v1/chat/completions',
    body: (content) => ({
      messages: [{ role: 'user', content }],
      tools: tools.map(({ name, input }) => ({ type: 'function', function: { name: plain(name), parameters: input } })),
    }),
  },
  responses: {
    from: 'openai/resources/responses/responses',
    whole: 'Response',
    event: 'ResponseStreamEvent',
    path: '/v1/responses',
    body: (input) => ({
      input,
      reasoning: { effort: 'low', summary: 'auto' },
      tools: [
        ...tools.map((tool) => ({ type: 'function', name: plain(tool.name), parameters: tool.input, strict: false })),
        ...['shell', 'local_shell', 'apply_patch', 'computer'].map((type) => ({ type })),
      ],
    }),
  },
  messages: {
    from: '@anthropic-ai/sdk/resources/messages',
    whole: 'Message',
    event: 'RawMessageStreamEvent',
    path: '/v1/messages',
    body: (content) => ({
      max_tokens: 4096,
      thinking: { type: 'enabled', budget_tokens: 1024 },
      messages: [{ role: 'user', content }],
      tools: tools.map(({ name, input }) => ({ name: plain(name), input_schema: input })),
    }),
  },
}

/**
 * As an API sends it: what may be null may be missing and the other way round, and so may the caller of a tool, as in recorded answers, though the
 * types of some clients require them; `output_text` is added by the client.
 */
const received = `type MayMiss<T, K extends keyof T> = K extends 'caller' | 'output_text' ? true : null extends T[K] ? true : undefined extends T[K] ? true : false
type Received<T> = T extends string | number | boolean
  ? T
  : T extends readonly (infer U)[]
  ? readonly Received<U>[]
  : T extends object
    ? { readonly [K in keyof T as MayMiss<T, K> extends true ? never : K]: Received<T[K]> } & {
        readonly [K in keyof T as MayMiss<T, K> extends true ? K : never]?: Received<T[K]> | null
      }
    : T`

const questions = ['Hello', 'What time is it in Paris and Tokyo?', 'Think: how many messages are there?']

const clientCalls = [
  'use the tool shell with {"commands":["ls","pwd"]}',
  'use the tool local_shell with {"command":["ls"]}',
  'use the tool apply_patch with {"type":"update_file","path":"a","diff":"@@\\n+a\\n"}',
  'use the tool computer with {"actions":[{"type":"click","x":1,"y":2},{"type":"screenshot"}]}',
]

test("the doors' answers fit the types of the official clients", { timeout: 300_000 }, async (t) => {
  const server = await serving(t)
  const programs: Record<string, string> = {}
  let answers = 0
  let events = 0
  for (const [name, door] of Object.entries(doors)) {
    const lines = [`import type { ${door.whole}, ${door.event} } from '${door.from}'`, received]
    for (const model of providers) {
      for (const question of name === 'responses' ? [...questions, ...clientCalls] : questions) {
        const asked = { ...door.body(question), model }
        const { status, body, text } = await server.api('POST', door.path, asked)
        assert.equal(status, 200, `${name} over ${model}: ${text}`)
        lines.push(`// ${model}, ${question}`, literal(lines.length, door.whole, body))
        const streamed = await streamOf(server, door.path, { ...asked, stream: true })
        assert.ok(streamed.length > 2, `${name} over ${model}`)
        for (const event of streamed.filter(({ type }) => !untyped.test(String(type))))
          lines.push(literal(lines.length, door.event, event))
        events += streamed.length
        answers++
      }
    }
    programs[`${name}.ts`] = lines.join('\n')
  }
  compile(programs)
  t.diagnostic(`${answers} answers, ${events} events`)
})

/** Of OpenAI's stream (recorded 2025-11), but not in the types of its client 7.53. */
const untyped = /^response\.apply_patch_call_operation_diff\./

/** A name that every client may send. */
function plain(name: string): string {
  return name.replaceAll(/\W/g, '_')
}

/** Reasoning in a Chat stream is in a field of its own, alone, which the compiler takes for a mistake. */
const unknownAlone = new Set(['reasoning_content', 'reasoning'])

/** Constants are not fresh literals, so that fields which a type does not know may be there, as in answers of many hosts. */
function literal(index: number, type: string, value: Json): string {
  const text = JSON.stringify(value, (key, inner: Json) =>
    key === 'delta' && isObject(inner)
      ? Object.fromEntries(Object.entries(inner).filter(([name]) => !unknownAlone.has(name)))
      : inner,
  )
  return `const value${index} = ${text} as const
export const answer${index}: Received<${type}> = value${index}`
}

async function streamOf({ url }: Serving, path: string, body: JsonObject): Promise<JsonObject[]> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await answer.text()
  assert.equal(answer.status, 200, text)
  return [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, data = '']) => JSON.parse(data) as Json).filter(isObject)
}
