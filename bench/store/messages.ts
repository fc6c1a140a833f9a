// A large archive, the same in every run: as many conversations as wanted, of ten messages each, in words that are as
// common and as rare as those of a language, plus some words with a known count.

import type { Message } from '../../src/core/message.ts'

export interface Archived {
  id: string
  at: string
  title: string
  messages: Message[]
}

export const owner = 'bench'
export const each = 10

/** What is searched for, and how much of the archive it is in. */
export const queries: readonly { kind: string; text: string; about: string }[] = [
  { kind: 'rare', text: 'needle', about: 'in 3 messages' },
  { kind: 'seldom', text: 'seldom', about: 'in one of 1,000' },
  { kind: 'common', text: 'harbour', about: 'in one of 20' },
  { kind: 'everywhere', text: 'everywhere', about: 'in all' },
  { kind: 'two words', text: 'harbour lantern', about: 'each in one of 20, together in one of 400' },
  { kind: 'two words, never together', text: 'quiver molten', about: 'each in one of 20' },
  { kind: 'phrase', text: '"copper kettle"', about: 'each word in one of 20, in this order in one of 1,000' },
  { kind: 'prefix', text: 'inter*', about: 'of 50 words, in one of 10' },
]

/** The messages of a conversation that is made in bulk, in turn. */
export const plainMessages: readonly [Message, Message] = [
  { role: 'user', parts: [{ type: 'text', text: 'Where does the log say that the cache was not warmed up again?' }] },
  {
    role: 'assistant',
    parts: [
      { type: 'text', text: 'In its third line: the deployment of this morning had failed before it came to that.' },
    ],
    native: [],
    origin: { protocol: 'openai-chat', provider: 'elsewhere', model: 'model-1' },
    stop: { reason: 'done' },
  },
]

export function* archive(conversations: number): Generator<Archived> {
  const total = conversations * each
  const words = wordSource()
  const start = Date.parse('2026-01-01T00:00:00Z')
  for (let c = 0; c < conversations; c++) {
    const messages: Message[] = []
    for (let i = 0; i < each; i++) {
      const n = c * each + i
      messages.push(messageOf(i, `${marks(n, total)} ${words(i === 4 ? 160 : 80)}`, n))
    }
    const id = `conversation-${c}`
    yield { id, at: new Date(start + c * 1000).toISOString(), title: `About ${words(3)}`, messages }
  }
}

function messageOf(i: number, text: string, n: number): Message {
  const callId = `call-${n}`
  if (i === 4) {
    return {
      role: 'tool',
      parts: [{ type: 'tool-result', callId: `call-${n - 1}`, name: 'read_file', output: [{ type: 'text', text }] }],
    }
  }
  if (i % 2 === 0) return { role: 'user', parts: [{ type: 'text', text }] }
  const call = { type: 'tool-call' as const, callId, name: 'read_file', input: { path: `src/${text.slice(0, 20)}.ts` } }
  return {
    role: 'assistant',
    parts: [{ type: 'text', text, from: 0 }, ...(i === 3 ? [call] : [])],
    native: [{ role: 'assistant', content: text }],
    origin: { protocol: 'openai-chat', provider: 'elsewhere', model: 'model-1', replyId: `reply-${n}` },
    stop: { reason: i === 3 ? 'tool-calls' : 'done' },
  }
}

/** The words whose number is known, of the n-th message. */
function marks(n: number, total: number): string {
  const found = ['everywhere']
  if (n % Math.ceil(total / 3) === 7) found.push('needle')
  if (n % 1000 === 13) found.push('seldom')
  if (n % 20 === 1) found.push('harbour')
  if (Math.floor(n / 20) % 20 === 3) found.push('lantern')
  if (n % 20 === 5) found.push('quiver')
  if (n % 20 === 6) found.push('molten')
  if (n % 20 === 9) found.push(n % 1000 === 9 ? 'copper kettle' : 'kettle of copper')
  if (n % 10 === 2) found.push(`inter${n % 50}ing`)
  return found.join(' ')
}

/** Texts of 20,000 words, the r-th of which comes up 1/r as often as the first. */
function wordSource(): (count: number) => string {
  const vocabulary = Array.from({ length: 20_000 }, (_, i) => wordOf(i))
  const drawn: string[] = []
  for (const [i, word] of vocabulary.entries()) {
    for (let k = Math.ceil(6000 / (i + 1)); k > 0; k--) drawn.push(word)
  }
  let state = 1
  return (count) => {
    const picked: string[] = []
    for (let i = 0; i < count; i++) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      picked.push(drawn[Math.floor((state / 2 ** 32) * drawn.length)] ?? '')
    }
    return picked.join(' ')
  }
}

function wordOf(i: number): string {
  const syllables = ['ba', 'ko', 'ri', 'tu', 'ne', 'sal', 'mor', 'vin', 'del', 'ga']
  return Array.from(String(i + 10), (digit) => syllables[Number(digit)]).join('')
}
