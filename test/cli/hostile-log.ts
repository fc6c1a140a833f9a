// A conversation in which every untrusted string contains control sequences. The types ask for every field of every
// kind of part, so a new field cannot be forgotten here.

import type { Json } from '../../src/core/json.ts'
import type { Message, Part, Reply, ToolMessage, UserMessage } from '../../src/core/message.ts'
import type { Archive } from '../../src/store/archive.ts'
import { uuidv7 } from '../../src/store/ids.ts'

/** Clipboard, clear screen, colour, C1, backspace, delete, bidirectional controls, line separators, carriage return. */
export const obeyed =
  '\u001B]52;c;ZXZpbA==\u0007\u001B[2J\u001B[31m\u009B31m\u0085\b\u007F\u202E\u2066\u061C\u2028\u2029\rover'

/** The start of what `obeyed` looks like once it is safe to show. */
export const shown = '␛]52;c;ZXZpbA==␇␛[2J␛[31m'

type Whole<P> = Required<P>

const media: Whole<Extract<Part, { type: 'media' }>>[] = [
  { type: 'media', mediaType: 'image/png', name: 'name', from: 0, data: { kind: 'base64', base64: 'AAAA' } },
  { type: 'media', mediaType: 'image/png', name: 'name', from: 0, data: { kind: 'url', url: 'https://a.example/' } },
  {
    type: 'media',
    mediaType: 'audio/wav',
    name: 'name',
    from: 0,
    data: { kind: 'file', fileId: 'f', provider: 'openai' },
  },
]

const parts: { [T in Part['type']]: Whole<Extract<Part, { type: T }>>[] } = {
  text: [{ type: 'text', text: 'findable', citations: [{ url: 'u' }], from: 0 }],
  reasoning: [
    { type: 'reasoning', text: 'text', hidden: false, durationMs: 2000, from: 0 },
    { type: 'reasoning', text: 'text', hidden: true, durationMs: 2000, from: 0 },
  ],
  refusal: [{ type: 'refusal', text: 'text', from: 0 }],
  media,
  'tool-call': [
    {
      type: 'tool-call',
      callId: 'c',
      alias: 'alias',
      name: 'n',
      kind: 'free-form',
      namespace: 'space',
      input: { key: 'value' },
      malformed: '{',
      from: 0,
    },
  ],
  'tool-result': [
    {
      type: 'tool-result',
      callId: 'c',
      name: 'n',
      output: [{ type: 'text', text: 'text' }, ...media],
      value: { key: ['value'] },
      failed: true,
      startedAt: 'then',
      endedAt: 'then',
    },
  ],
  'server-tool': [{ type: 'server-tool', name: 'n', input: { key: 'value' }, output: ['value'], from: 0 }],
  compaction: [{ type: 'compaction', text: 'text', from: 0 }],
  opaque: [{ type: 'opaque', kind: 'wire/thing', data: { key: 'value' }, from: 0 }],
}

const source = { format: 'format', value: { key: 'value' }, index: 0, of: 1 }

const user: Whole<UserMessage> = {
  role: 'user',
  parts: [...parts.text, ...parts.media, ...parts.compaction, ...parts.opaque],
  source,
}
const results: Whole<ToolMessage> = { role: 'tool', parts: parts['tool-result'], source }
const reply: Whole<Reply> = {
  role: 'assistant',
  parts: Object.values(parts)
    .flat()
    .filter((part) => part.type !== 'tool-result'),
  native: [{ type: 'text', text: 'text' }],
  origin: { protocol: 'elsewhere', provider: 'provider', model: 'model', replyId: 'reply', basis: 'basis' },
  stop: { reason: 'tool-calls', raw: 'raw' },
  source,
}

/** Fields that the program itself chooses from a closed list. */
const closed: ReadonlySet<string> = new Set(['type', 'role', 'reason'])

/** Every free string of `value`, made hostile. `fields` collects where they are. */
function hostile<T>(value: T, path: string, fields: Set<string>): T {
  function walk(each: Json, at: string, key: string): Json {
    if (typeof each === 'string') {
      if (closed.has(key) || (key === 'kind' && at.includes('.data.'))) return each
      fields.add(at)
      return key === 'callId' ? `callId${obeyed}` : `${each} ${at}${obeyed}`
    }
    if (Array.isArray(each)) return each.map((one) => walk(one, at, key))
    if (typeof each !== 'object' || each === null) return each
    const name = typeof each['type'] === 'string' ? `${at}(${each['type']})` : at
    return Object.fromEntries(
      Object.entries(each).map(([field, inner]) => [
        // Names of arguments are the model's to choose, too.
        field === 'key' ? `key${obeyed}` : field,
        walk(inner ?? null, `${name}.${field}`, field),
      ]),
    )
  }
  return walk(JSON.parse(JSON.stringify(value)) as Json, path, '') as T
}

export interface HostileLog {
  archive: Archive
  messages: Message[]
  /** Where the hostile strings are. */
  fields: ReadonlySet<string>
}

export function hostileLog(): HostileLog {
  const fields = new Set<string>()
  const made: Message[] = [
    hostile(user, 'user', fields),
    hostile(reply, 'reply', fields),
    hostile(results, 'results', fields),
    hostile({ ...reply, parts: parts.text, stop: { reason: 'done' } } satisfies Reply, 'answer', fields),
  ]
  const at = new Date(Date.UTC(2026, 10, 16)).toISOString()
  const ids = made.map(() => uuidv7())
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
  const words = (name: string): string => `${name}${obeyed}`
  for (const name of ['title', 'label', 'branch', 'exchange.provider', 'exchange.model', 'note', 'failure', 'toolRun'])
    fields.add(name)
  const archive: Archive = {
    conversation: {
      id: uuidv7(),
      title: words('title'),
      labels: [words('label')],
      settings: { model: 'openai/gpt-5.6' },
      createdAt: at,
      head: ids.at(-1) ?? null,
    },
    branches: [{ name: words('branch'), entryId: ids[0] ?? '' }],
    entries: made.map((message, i) => ({ id: ids[i] ?? '', parentId: ids[i - 1] ?? null, message, at })),
    exchanges: [0, 2].map((based) => ({
      id: uuidv7(),
      basedOn: ids[based] ?? '',
      provider: words('exchange.provider'),
      protocol: 'openai-responses',
      model: words('exchange.model'),
      bodySha256: '0'.repeat(64),
      notes: [{ kind: 'changed', what: words('note.what'), why: words('note.why'), at: words('note.at') }],
      startedAt: new Date().toISOString(),
      endedAt: new Date().toISOString(),
      outcome: 'done',
      replyEntryId: ids[based + 1] ?? '',
      attempts: 1,
      usage,
      cost: 0.01,
      failure: { kind: 'network', message: words('failure'), code: words('failure.code') },
    })),
    toolRuns: [
      {
        callId: `callId${obeyed}`,
        entryId: ids[1] ?? '',
        name: words('toolRun'),
        argsSha256: '0'.repeat(64),
        idempotencyKey: 'k',
        repeatable: false,
        starts: 1,
        startedAt: at,
      },
    ],
    overlays: [],
  }
  return { archive, messages: made, fields }
}
