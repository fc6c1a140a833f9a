// Messages given by a caller, checked before they are written: what is in the log stays there.

import { badInput } from '../core/error.ts'
import { isObject, type Json } from '../core/json.ts'
import type { Message, Part } from '../core/message.ts'

const roles: ReadonlySet<unknown> = new Set<Message['role']>(['system', 'user', 'assistant', 'tool'])
const elsewhere = 'readTranscript reads other formats.'

/** Throws one sentence for the first invalid message. */
export function checkMessages(messages: readonly Partial<Message>[]): void {
  if (!Array.isArray(messages)) throw badInput('messages: must be a list of messages, such as readTranscript gives.')
  for (const [index, message] of (messages as readonly Partial<Message>[]).entries()) {
    const at = `messages[${index}]`
    if (!roles.has(message?.role)) {
      throw badInput(`${at}.role: must be system, user, assistant or tool. ${elsewhere}`)
    }
    if (!Array.isArray(message.parts)) throw badInput(`${at}.parts: must be a list of parts. ${elsewhere}`)
    if (message.role === 'assistant' && !(message.origin && message.stop && Array.isArray(message.native))) {
      throw badInput(`${at}: a reply has origin, stop and native. ${elsewhere}`)
    }
    checkParts(message.parts, `${at}.parts`)
  }
}

type Field = { name: string; is: string; fits(value: Json | undefined): boolean }

const text = (name: string): Field => ({ name, is: 'a text', fits: (value) => typeof value === 'string' })

/** What a part needs to be read at all. */
const fields: Readonly<Record<Part['type'], readonly Field[]>> = {
  text: [text('text')],
  reasoning: [text('text')],
  refusal: [text('text')],
  media: [
    text('mediaType'),
    { name: 'data', is: 'an object with a kind', fits: (data) => isObject(data) && typeof data['kind'] === 'string' },
  ],
  'tool-call': [text('callId'), text('name')],
  'tool-result': [text('callId'), { name: 'output', is: 'a list of parts', fits: Array.isArray }],
  'server-tool': [text('name')],
  compaction: [],
  opaque: [text('kind')],
}

/** Throws one sentence for the first invalid part. */
export function checkParts(parts: readonly unknown[], at: string): void {
  for (const [index, part] of parts.entries()) {
    const known = isObject(part) && typeof part['type'] === 'string' && Object.hasOwn(fields, part['type'])
    if (!known) throw badInput(`${at}[${index}].type: must be one of ${Object.keys(fields).join(', ')}.`)
    const wrong = fields[part['type'] as Part['type']].find(({ name, fits }) => !fits(part[name]))
    if (wrong) throw badInput(`${at}[${index}].${wrong.name}: must be ${wrong.is}.`)
  }
}
