// Conversations of any length, the same in every run: questions, tool turns and answers in English, code and JSON.

import type { Message } from '../src/core/message.ts'

const prose = 'The deployment failed twice this morning, and the log shows that the cache was never warmed up again. '
const code = 'export function add(a: number, b: number): number {\n  return a + b // no overflow here\n}\n'

export function longHistory(length: number): Message[] {
  const messages: Message[] = []
  for (let turn = 0; messages.length < length; turn++) {
    const callId = `call-${turn}`
    messages.push(
      { role: 'user', parts: [{ type: 'text', text: `${turn}: ${prose.repeat(2)}` }] },
      reply(turn, [
        { type: 'tool-call', callId, name: 'read_file', input: { path: `src/file-${turn}.ts`, lines: [1, turn] } },
      ]),
      {
        role: 'tool',
        parts: [{ type: 'tool-result', callId, name: 'read_file', output: [{ type: 'text', text: code.repeat(50) }] }],
      },
      reply(turn, [{ type: 'text', text: prose.repeat(4) }]),
    )
  }
  return messages.slice(0, length)
}

function reply(turn: number, parts: Extract<Message, { role: 'assistant' }>['parts']): Message {
  return {
    role: 'assistant',
    parts,
    native: [],
    origin: { protocol: 'openai-chat', provider: 'elsewhere', model: `model-${turn % 2}` },
    stop: { reason: parts.some((part) => part.type === 'tool-call') ? 'tool-calls' : 'done' },
  }
}
