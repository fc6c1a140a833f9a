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
  (...args: unknown[]) => Promise<Record<'send' | 'inspect', (...args: unknown[]) => { text(): Promise<string> }>>
>
const chat = await synapse.start({ model: 'openai' })

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
  ['an MCP server without a program', () => connectMcp?.({ files: {} }), /^files\.command: is missing/],
]

for (const [what, make, says] of mistakes) {
  test(what, () => assert.rejects(async () => make(), { name: 'SynapseError', message: says }))
}
