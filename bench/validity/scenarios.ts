// Histories as they are after a crash, a cut, a switch to another provider, or an import: none of them is exotic, and
// every one of them was seen to end a conversation for good in some product.

import type { Message, Part, Reply, ToolCallPart } from '../../src/core/message.ts'

export interface Scenario {
  kind: 'orphaned result' | 'missing result' | 'provider switch' | 'odd input'
  name: string
  messages: Message[]
}

const made: Record<string, Reply['origin']> = {
  anthropic: { protocol: 'anthropic-messages', provider: 'anthropic', model: 'claude-sonnet-4-5' },
  openai: { protocol: 'openai-responses', provider: 'openai', model: 'gpt-5.1' },
  google: { protocol: 'gemini-generate', provider: 'google', model: 'gemini-2.5-flash' },
}
type Maker = 'anthropic' | 'openai' | 'google'

/** Ids as each maker gives them; and as some gateways do: too long for most wires, with characters that few take. */
const ids: Record<Maker | 'gateway', (n: number) => string> = {
  anthropic: (n) => `toolu_01DWdA3FTqsPotoFL6aTBMD${n}`,
  openai: (n) => `call_VE8bS0hCNrcMPMgGF7CJLuY${n}`,
  google: (n) => `clock_1763681581544_${n}`,
  gateway: (n) => `call_${'Qx7'.repeat(14)}${n}|fc_${'0a'.repeat(24)}`,
}

export const scenarios: readonly Scenario[] = [
  {
    kind: 'orphaned result',
    name: 'the call was cut off by a window',
    messages: [result('toolu_1', '12:00'), reply('anthropic', text('It is noon.')), user('And tomorrow?')],
  },
  {
    kind: 'orphaned result',
    name: 'in the middle',
    messages: [user('Hello'), reply('anthropic', text('Hi.')), result('toolu_9', 'late'), user('Continue.')],
  },
  {
    kind: 'missing result',
    name: 'killed before the tool ran',
    messages: [user('What time is it?'), reply('anthropic', call('toolu_1')), user('Are you there?')],
  },
  {
    kind: 'missing result',
    name: 'one of two calls was answered',
    messages: [
      user('Compare.'),
      reply('anthropic', call('toolu_1'), call('toolu_2')),
      result('toolu_1', '12:00'),
      user('Well?'),
    ],
  },
  {
    kind: 'missing result',
    name: 'the history ends with the call',
    messages: [user('What time is it?'), reply('anthropic', text('Let me look.'), call('toolu_1'))],
  },
  ...(['anthropic', 'openai', 'google'] as const).flatMap((maker): Scenario[] => [
    {
      kind: 'provider switch',
      name: `from ${maker}, with thinking`,
      messages: [
        user('What time is it?'),
        reply(maker, thinking(maker), call(ids[maker](1)), call(ids[maker](2))),
        result(ids[maker](1), '12:00'),
        result(ids[maker](2), '13:00'),
        reply(maker, thinking(maker), text('Noon, or one.')),
        user('Thanks. And the date?'),
      ],
    },
    {
      kind: 'provider switch',
      name: `from ${maker}, in the middle of a tool loop`,
      messages: [
        user('What time is it?'),
        reply(maker, thinking(maker), text('Let me look.'), call(ids[maker](1))),
        result(ids[maker](1), '12:00'),
      ],
    },
  ]),
  {
    kind: 'provider switch',
    name: 'ids of a gateway',
    messages: [
      user('What time is it?'),
      reply('openai', call(ids.gateway(1)), call(ids.gateway(2))),
      result(ids.gateway(1), '12:00'),
      result(ids.gateway(2), '13:00'),
    ],
  },
  {
    kind: 'provider switch',
    name: 'ids that begin alike',
    messages: [
      user('Compare.'),
      reply('openai', call(`${'a'.repeat(60)}_1`), call(`${'a'.repeat(60)}_2`)),
      result(`${'a'.repeat(60)}_1`, '12:00'),
      result(`${'a'.repeat(60)}_2`, '13:00'),
    ],
  },
  { kind: 'odd input', name: 'an empty message', messages: [user('Hello'), reply('anthropic', text('Hi.')), user('')] },
  {
    kind: 'odd input',
    name: 'an empty reply in between',
    messages: [user('Hello'), reply('anthropic', text('')), user('Anyone?')],
  },
  {
    kind: 'odd input',
    name: 'the assistant speaks first',
    messages: [reply('openai', text('How can I help?')), user('With nothing.')],
  },
  { kind: 'odd input', name: 'two user messages in a row', messages: [user('One.'), user('Two.')] },
  {
    kind: 'odd input',
    name: 'results in another order',
    messages: [
      user('Compare.'),
      reply('openai', call('call_1'), call('call_2')),
      result('call_2', '13:00'),
      result('call_1', '12:00'),
    ],
  },
  {
    kind: 'odd input',
    name: 'the user speaks between call and result',
    messages: [user('Time?'), reply('openai', call('call_1')), user('Hurry!'), result('call_1', '12:00')],
  },
  {
    kind: 'odd input',
    name: 'the same id in every turn',
    messages: [
      user('Time?'),
      reply('google', call('call_0')),
      result('call_0', '12:00'),
      reply('google', call('call_0')),
      result('call_0', '12:01'),
    ],
  },
  {
    kind: 'odd input',
    name: 'a result without a word',
    messages: [user('Delete it.'), reply('openai', call('call_1')), result('call_1', '')],
  },
  {
    kind: 'odd input',
    name: 'a tool name with blanks and dots',
    messages: [user('Read.'), reply('openai', call('call_1', 'fs.read file')), result('call_1', 'ok', 'fs.read file')],
  },
]

function user(words: string): Message {
  return { role: 'user', parts: [text(words)] }
}

function reply(maker: Maker, ...parts: Part[]): Message {
  const origin = made[maker] as Reply['origin']
  const asks = parts.some((part) => part.type === 'tool-call')
  return { role: 'assistant', parts, native: [], origin, stop: { reason: asks ? 'tool-calls' : 'done' } }
}

function result(callId: string, output: string, name = 'clock'): Message {
  return { role: 'tool', parts: [{ type: 'tool-result', callId, name, output: [{ type: 'text', text: output }] }] }
}

function text(words: string): { type: 'text'; text: string } {
  return { type: 'text', text: words }
}

function thinking(maker: Maker): Part {
  return { type: 'reasoning', text: `${maker} thinks about it.` }
}

function call(callId: string, name = 'clock'): ToolCallPart {
  return { type: 'tool-call', callId, name, input: { zone: 'UTC' } }
}
