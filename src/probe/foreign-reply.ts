// A reply with thinking and a call as another provider sent it: its signatures are invalid elsewhere, and a service
// that gets them refuses the request.

import type { Reply } from '../core/message.ts'

/** One from another wire. */
export function foreignReply(wire: string): Reply {
  return wire === 'anthropic-messages' ? ofResponses : ofMessages
}

const call = { type: 'tool-call', callId: 'switched-1', name: 'clock', input: { zone: 'UTC' }, from: 1 } as const
const thought = { type: 'reasoning', text: 'The tool tells the time.', from: 0 } as const

const ofMessages: Reply = {
  role: 'assistant',
  parts: [thought, { ...call, alias: 'toolu_01A09q90qw90lq917835lq9' }],
  native: [
    { type: 'thinking', thinking: thought.text, signature: 'EqQBCgIYAhIkNGFiY2RlZmdo' },
    { type: 'tool_use', id: 'toolu_01A09q90qw90lq917835lq9', name: 'clock', input: { zone: 'UTC' } },
  ],
  origin: { protocol: 'anthropic-messages', provider: 'anthropic', model: 'claude-opus-5' },
  stop: { reason: 'tool-calls', raw: 'tool_use' },
}

const ofResponses: Reply = {
  role: 'assistant',
  parts: [
    { ...thought, hidden: true },
    { ...call, alias: 'call_mYNgtxIxXlhy50ysmTzrQ0Js' },
  ],
  native: [
    {
      type: 'reasoning',
      id: 'rs_68a1b2c3d4e5f60718293a4b5c6d7e8f',
      summary: [{ type: 'summary_text', text: thought.text }],
      encrypted_content: 'gAAAAABobm90LWEtcmVhbC1vbmU=',
    },
    {
      type: 'function_call',
      id: 'fc_68a1b2c3d4e5f60718293a4b5c6d7e8f',
      call_id: 'call_mYNgtxIxXlhy50ysmTzrQ0Js',
      name: 'clock',
      arguments: '{"zone":"UTC"}',
    },
  ],
  origin: { protocol: 'openai-responses', provider: 'openai', model: 'gpt-5.6' },
  stop: { reason: 'tool-calls' },
}
