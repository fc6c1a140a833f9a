// Reading a request is the inverse of writing one: what was read from a body and written again is the same body.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Message } from '../../src/core/message.ts'
import { prepare } from '../../src/index.ts'
import type { Options } from '../../src/settings/options.ts'
import { readRequest } from '../../src/wires.ts'
import { loopHistory } from '../arbitrary.ts'
import fc from '../property.ts'
import { tools } from '../targets.ts'

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
