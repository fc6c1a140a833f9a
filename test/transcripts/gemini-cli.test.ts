// Session files of Gemini CLI: which records count, and what they say.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json } from '../../src/core/json.ts'
import type { Message, Reply } from '../../src/core/message.ts'
import { geminiCliFormat } from '../../src/transcripts/gemini-cli.ts'
import { geminiGenerateFormat } from '../../src/wires/gemini-generate/transcript.ts'

/** Written from the parts, without the records they were read from. */
const contentsOf = (messages: Message[]): Json =>
  geminiGenerateFormat.write(messages.map(({ source: _source, ...message }) => message as Message))

const session = {
  sessionId: 's-1',
  projectHash: 'p-1',
  startTime: '2026-11-01T10:00:00Z',
  lastUpdated: '2026-11-01T10:05:00Z',
}
const records = [
  { id: 'm1', timestamp: '…', type: 'user', content: [{ text: 'What time is it?' }] },
  { id: 'm2', timestamp: '…', type: 'info', content: 'Update available' },
  {
    id: 'm3',
    timestamp: '…',
    type: 'gemini',
    content: '',
    model: 'gemini-3.5-flash',
    thoughts: [{ subject: 'Time', description: 'I need a clock.', timestamp: '…' }],
    toolCalls: [
      {
        id: 'clock-1',
        name: 'clock',
        args: { zone: 'UTC' },
        status: 'success',
        result: [{ functionResponse: { id: 'clock-1', name: 'clock', response: { output: '12:00' } } }],
      },
      { id: 'add-1', name: 'add', args: {}, status: 'success', result: '3' },
      { id: 'rm-1', name: 'rm', args: {}, status: 'cancelled', result: null },
    ],
  },
  { id: 'm4', timestamp: '…', type: 'gemini', content: 'It is noon.', model: 'gemini-3.5-flash' },
]
const fromSession: Json = [
  { role: 'user', parts: [{ text: 'What time is it?' }] },
  {
    role: 'model',
    parts: [
      { text: '**Time**\nI need a clock.', thought: true },
      { functionCall: { id: 'clock-1', name: 'clock', args: { zone: 'UTC' } } },
      { functionCall: { id: 'add-1', name: 'add', args: {} } },
      { functionCall: { id: 'rm-1', name: 'rm', args: {} } },
    ],
  },
  {
    role: 'user',
    parts: [
      { functionResponse: { id: 'clock-1', name: 'clock', response: { output: '12:00' } } },
      { functionResponse: { id: 'add-1', name: 'add', response: { output: '3' } } },
    ],
  },
  { role: 'model', parts: [{ text: 'It is noon.' }] },
]

test('a session file of Gemini CLI is read as what its contents say', () => {
  const file = { ...session, messages: records }
  assert.equal(geminiCliFormat.recognise(file), true)
  const { messages } = geminiCliFormat.read(file)
  assert.deepEqual(contentsOf(messages), fromSession)
  assert.equal((messages[1] as Reply).origin.model, 'gemini-3.5-flash')
})

test('in a session log, later records of one id replace earlier ones, and rewound ones are dropped', () => {
  const lines: Json = [
    session,
    records[0] ?? null,
    { ...records[2], toolCalls: [] },
    records[2] ?? null,
    { $set: { summary: 'About time' } },
    { id: 'm9', timestamp: '…', type: 'user', content: 'Never mind' },
    { id: 'm10', timestamp: '…', type: 'gemini', content: 'Fine.' },
    { $rewindTo: 'm9' },
    records[3] ?? null,
  ]
  assert.equal(geminiCliFormat.recognise(lines), true)
  assert.deepEqual(contentsOf(geminiCliFormat.read(lines).messages), fromSession)
})
