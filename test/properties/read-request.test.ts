// Reading a request is the inverse of writing one: what was read from a body and written again is the same body.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { ToolSpec } from '../../src/core/context.ts'
import { callsOf, type Message, type Part } from '../../src/core/message.ts'
import { prepare, refuse } from '../../src/index.ts'
import type { Options } from '../../src/settings/options.ts'
import { readRequest } from '../../src/wires.ts'
import { freeFormInput } from '../../src/core/tool-kinds.ts'
import { loopHistory } from '../arbitrary.ts'
import { onePixel } from '../histories.ts'
import fc, { runs } from '../property.ts'
import { everyTarget, tools } from '../targets.ts'

const targets = [
  { provider: 'openai', protocol: 'openai-chat', model: 'gpt-4o' },
  { provider: 'openai', protocol: 'openai-responses', model: 'gpt-5.6' },
  { provider: 'anthropic', protocol: 'anthropic-messages', model: 'claude-opus-5' },
  { provider: 'google', protocol: 'gemini-generate', model: 'gemini-3-flash-preview' },
  { provider: 'google', protocol: 'gemini-interactions', model: 'gemini-3-flash-preview' },
  { provider: 'mistral', protocol: 'mistral-chat', model: 'mistral-large-latest' },
  { provider: 'ollama', protocol: 'ollama-chat', model: 'llama3.2' },
  { provider: 'bedrock', protocol: 'bedrock-converse', model: 'amazon.nova-pro-v1:0' },
]

const anyOptions: fc.Arbitrary<Options> = fc.record(
  {
    maxOutput: fc.integer({ min: 2000, max: 8000 }),
    stop: fc.constant(['END']),
    temperature: fc.constant(0.5),
    topP: fc.constant(0.9),
    topK: fc.constant(40),
    seed: fc.constant(7),
    presencePenalty: fc.constant(0.5),
    frequencyPenalty: fc.constant(-0.5),
    effort: fc.constantFrom('low', 'high'),
    toolChoice: fc.constantFrom<NonNullable<Options['toolChoice']>>('none', 'required', { tool: 'clock' }),
  },
  { requiredKeys: [] },
)

/** A conversation in which every message says something, so that none is left out when it is written. */
const spoken: fc.Arbitrary<Message[]> = loopHistory.map((messages) => [
  ...messages.flatMap((message, i): Message[] => {
    if (message.role !== 'assistant') return [message]
    if (messages[i - 1]?.role === 'assistant') return []
    return [
      {
        ...message,
        parts: [{ type: 'text', text: 'Yes.' }, ...message.parts.filter(({ type }) => type === 'tool-call')],
      },
    ]
  }),
  { role: 'user', parts: [{ type: 'text', text: 'and then?' }] },
])

for (const target of targets) {
  test(`the content of a body of ${target.protocol} is written as the same body again`, () => {
    fc.assert(
      fc.property(spoken, anyOptions, fc.constantFrom('', 'Be brief.'), (messages, options, system) => {
        const asked = { ...target, policy: 'full' as const }
        const { body } = prepare({ ...asked, messages, tools, options, ...(system && { system }) })
        const { model: _model, stream: _stream, notes: _notes, ...read } = readRequest(target.protocol, body, target)
        const again = prepare({ ...asked, ...read })
        assert.deepEqual(again.body, body)
      }),
    )
  })
}

const sh: ToolSpec = {
  name: 'sh',
  input: freeFormInput,
  kind: 'free-form',
  grammar: { syntax: 'regex', definition: '.+' },
}

/** The same with calls of a free-form tool, each with the JSON of its arguments as the text. */
const freely = spoken.map((messages) =>
  messages.map((message): Message => {
    if (message.role !== 'assistant') return message
    const parts = message.parts.map((part): Part => {
      if (part.type !== 'tool-call') return part
      const { callId, input } = part
      return { type: 'tool-call', callId, name: 'sh', kind: 'free-form', input: { input: JSON.stringify(input) } }
    })
    return { ...message, parts }
  }),
)

for (const protocol of ['openai-chat', 'openai-responses']) {
  test(`free-form tools and their calls in a body of ${protocol} are written as the same body again`, () => {
    const target = { provider: 'openai', protocol, model: 'gpt-5.6', policy: 'full' as const }
    const choice = fc.constantFrom<Options>({}, { toolChoice: { tool: 'sh' } }, { toolChoice: { tool: 'clock' } })
    fc.assert(
      fc.property(freely, choice, (messages, options) => {
        const { body } = prepare({ ...target, messages, tools: [sh, ...tools], options })
        const { model: _model, stream: _stream, notes: _notes, ...read } = readRequest(protocol, body, target)
        assert.deepEqual(read.tools[0], sh)
        const calls = read.messages.flatMap(callsOf)
        assert.deepEqual(
          calls.map(({ kind, input }) => [kind, input]),
          messages.flatMap(callsOf).map(({ input }) => ['free-form', input]),
        )
        assert.deepEqual(prepare({ ...target, ...read }).body, body)
      }),
    )
  })
}

const clientTools = readRequest('openai-responses', {
  input: 'Hi',
  tools: [
    { type: 'shell', environment: { type: 'local' } },
    { type: 'local_shell' },
    { type: 'apply_patch' },
    { type: 'computer' },
  ],
}).tools
const command = fc.string()
/** Arguments for each of them, and some that fit none. */
const clientInput = fc.oneof(
  fc.record({ commands: fc.array(command), timeout_ms: fc.nat() }, { requiredKeys: [] }),
  fc.record({ command: fc.oneof(command, fc.array(command)), env: fc.constant({ A: 'b' }) }, { requiredKeys: [] }),
  fc.record({ type: fc.constantFrom('create_file', 'update_file', 'delete_file'), path: command, diff: command }),
  fc.record({ actions: fc.array(fc.record({ type: fc.constantFrom('click', 'drag', 'wait', 'jump'), x: fc.nat() })) }),
)

/** The same with calls of the tools that OpenAI's models know and the client runs. */
const atClient = fc
  .tuple(spoken, fc.infiniteStream(fc.tuple(fc.constantFrom(...clientTools), clientInput)))
  .map(([messages, stream]) => {
    const names = new Map<string, string>()
    return messages.map((message): Message => {
      if (message.role === 'tool') {
        const parts = message.parts.map((part) => {
          const name = names.get(part.callId) ?? part.name
          // The answer to a call of `computer` is always a screenshot.
          return { ...part, name, ...(name === 'computer' && { output: [onePixel] }) }
        })
        return { ...message, parts }
      }
      if (message.role !== 'assistant') return message
      const parts = message.parts.map((part): Part => {
        if (part.type !== 'tool-call') return part
        const [{ name, kind } = clientTools[0] as ToolSpec, input] = stream.next().value
        names.set(part.callId, name)
        return { type: 'tool-call', callId: part.callId, name, ...(kind && { kind }), input }
      })
      return { ...message, parts }
    })
  })

test('tools that the client runs, their calls and their results are written as the same body again', () => {
  const target = { provider: 'openai', protocol: 'openai-responses', model: 'gpt-5.6', policy: 'full' as const }
  const choice = fc.constantFrom<Options>({}, { toolChoice: { tool: 'shell' } }, { toolChoice: { tool: 'computer' } })
  fc.assert(
    fc.property(atClient, choice, (messages, options) => {
      const { body } = prepare({ ...target, messages, tools: clientTools, options })
      assert.deepEqual(refuse(target.protocol, body, target), [])
      const { model: _model, stream: _stream, notes, ...read } = readRequest(target.protocol, body, target)
      assert.deepEqual(notes, [])
      assert.deepEqual(read.tools, clientTools)
      const kinds = (all: readonly Message[]) => all.flatMap(callsOf).map(({ kind, name }) => [kind, name])
      assert.deepEqual(kinds(read.messages), kinds(messages))
      assert.deepEqual(prepare({ ...target, ...read }).body, body)
    }),
  )
})

for (const target of everyTarget) {
  test(`a history with tools that the client of OpenAI runs is accepted by ${target.provider}/${target.model} on ${target.protocol}`, () => {
    fc.assert(
      fc.property(atClient, (messages) => {
        const { body } = prepare({ ...target, messages, tools: clientTools, policy: 'full' })
        assert.deepEqual(refuse(target.protocol, body, target), [])
      }),
      { numRuns: runs(40) },
    )
  })
}
