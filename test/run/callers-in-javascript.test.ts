// What a caller without types gets wrong is one sentence that says what to give.

import assert from 'node:assert/strict'
import test from 'node:test'
import * as library from '../../src/index.ts'

/** Every function as JavaScript sees it. */
const { connectMcp, createProvider, defineTool, openSynapse, prepare, refuse } = library as unknown as Record<
  string,
  (...args: unknown[]) => unknown
>
const synapse = (await library.openSynapse({ offline: true })) as unknown as Record<
  'start' | 'open',
  (...args: unknown[]) => Promise<Record<'send' | 'approve', (...args: unknown[]) => { text(): Promise<string> }>>
>
const chat = await synapse.start({ model: 'openai' })

const bob = { name: 'bob', settings: { model: 'mistral' } }

const mistakes: [string, () => unknown, RegExp][] = [
  ['start without settings', () => synapse.start(), /Give an object, such as start\(\{ model: 'anthropic' \}\)/],
  ['start with a text', () => synapse.start('openai'), /not "openai"\.$/],
  ['open without an id', () => synapse.open(), /Give the id of a conversation/],
  ['open with a list', () => synapse.open('x', []), /There is no conversation x/],
  [
    'openSynapse with a path',
    () => openSynapse?.('chats.db'),
    /openSynapse\(\{ store: 'chats\.db' \}\), not "chats\.db"/,
  ],
  ['createProvider without anything', () => createProvider?.(), /createProvider\(\{ provider: 'anthropic' \}\)/],
  ['send with a number', () => chat.send(42).text(), /A message is a text or a list of parts/],
  ['send with settings that are a text', () => chat.send('Hi', 'mistral').text(), /not "mistral"/],
  ['a tool without run', () => defineTool?.({ name: 'x' }), /The tool x needs a function run/],
  ['a tool without a name', () => defineTool?.({ run: () => 1 }), /A tool needs a name/],
  ['prepare without messages', () => prepare?.({ provider: 'openai' }), /messages: must be a list/],
  [
    'prepare with messages of another format',
    () => prepare?.({ provider: 'openai', messages: [{ role: 'user', content: 'Hi' }] }),
    /messages\[0\]\.parts: must be a list of parts\. readTranscript reads other formats\./,
  ],
  ['refuse with what prepare gives', () => refuse?.({ protocol: 'openai-chat' }), /Give the protocol and the body/],
  [
    'prepare with a tool without a name',
    () => prepare?.({ provider: 'openai', messages: [], tools: [{}] }),
    /^tools\.0\.name: is missing/,
  ],
  ['messages that are a text', () => synapse.start({ model: 'openai', messages: 'Hi' }), /^messages: must be a list/],
  [
    'a part of an unknown type',
    () => synapse.start({ model: 'openai', messages: [{ role: 'user', parts: [{ type: 'txt', text: 'Hi' }] }] }),
    /^messages\[0\]\.parts\[0\]\.type: must be one of text, /,
  ],
  [
    'a text that is a number',
    () => synapse.start({ model: 'openai', messages: [{ role: 'user', parts: [{ type: 'text', text: 5 }] }] }),
    /^messages\[0\]\.parts\[0\]\.text: must be a text/,
  ],
  [
    'an image without data',
    () => chat.send([{ type: 'media', mediaType: 'image/png' }]).text(),
    /^parts\[0\]\.data: must be/,
  ],
  ['an empty place in a list of parts', () => chat.send([null]).text(), /^parts\[0\]\.type: must be one of/],
  [
    'a store that is a promise',
    () => openSynapse?.({ store: library.openMemoryStore() }),
    /an open store, such as await openStore/,
  ],
  [
    'a provider row without wires',
    () => openSynapse?.({ rows: [{ id: 'x', name: 'X' }] }),
    /^rows\.0\.wires: is missing/,
  ],
  [
    'a key under a mistyped name',
    () => openSynapse?.({ keys: { opnai: 'k' } }),
    /There is no provider "opnai"\. Did you mean openai/,
  ],
  ['a mistyped fallback', () => synapse.start({ model: 'openai', fallback: ['antropic'] }), /Did you mean anthropic/],
  [
    'a mistyped route',
    () => synapse.start({ model: 'openai', route: { answer: 'antropic' } }),
    /Did you mean anthropic/,
  ],
  [
    'two agents of one name',
    () => synapse.start({ model: 'openai', handoffs: [bob, bob] }),
    /^handoffs: there are two agents named bob/,
  ],
  [
    'a mistyped key of a tool',
    () => defineTool?.({ name: 'x', run: () => 1, timeout: 5 }),
    /^timeout: unknown key "timeout"; did you mean timeoutMs\?/,
  ],
  ['an approval without a hash', () => chat.approve('x'), /No call x waits for approval/],
  ['an MCP server without a program', () => connectMcp?.({ files: {} }), /^files\.command: is missing/],
]

for (const [what, make, says] of mistakes) {
  test(what, () => assert.rejects(async () => make(), { name: 'SynapseError', message: says }))
}
