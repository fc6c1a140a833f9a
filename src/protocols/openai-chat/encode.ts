// A context as the body of a chat completion. One message per tool result, right behind the calls; the system prompt and
// everything else in one list; nothing kept at the host.

import { placeOf, type Context, type Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import type { SystemMessage, TextPart } from '../../core/message.ts'
import { wireIds } from '../ids.ts'
import { mapNames, type NameMap } from '../names.ts'
import type { Encoded, Target } from '../protocol.ts'
import { cleanText, isBlank } from '../text.ts'
import { settle, type Turn } from '../turns.ts'
import { systemLabel } from '../words.ts'
import { asked } from './asked.ts'
import { mark, markable, markTools, takesMarks } from './cache-marks.ts'
import { encodeReply, isReplayed } from './encode-reply.ts'
import { flatResults, toolItems } from './encode-results.ts'
import { userItems } from './encode-user.ts'
import { callIdGrammar, textPart, toolNameLength, toolNamePattern, type ContentPart, type WireMessage } from './wire.ts'

/** One piece of a turn: content of a user or system message, or a message of its own. */
export type Item = { part: ContentPart } | { message: WireMessage }

export interface Writer {
  target: Target
  notes: Note[]
  names: Pick<NameMap, 'toWire'>
  idOf(callId: string): string
  /** Calls and results are told as text: the host refuses them, or the model knows no tools. */
  flat: boolean
}

export function encode(context: Context, target: Target): Encoded {
  const notes: Note[] = []
  const names = mapNames(context, toolNamePattern, toolNameLength, notes)
  const flat = target.quirks.flattenToolHistory === true || !target.capabilities.tools
  const idOf = wireIds(context.messages, callIdGrammar, (reply) => isReplayed(reply, target, flat))
  const writer: Writer = { target, notes, names, idOf, flat }

  const turns = settle(turnsOf(context, writer), manners(target), notes)
  if (!turns.some((turn) => turn.role !== 'system')) addUser(turns, notes)
  const messages = turns.flatMap((turn) => writeTurn(turn, target))
  const fields = asked(context.tools, writer)
  if (context.cacheAfter.includes(-1) && turns[0]?.role !== 'system') markTools(fields, target)
  const body: JsonObject = { model: target.model, messages, ...fields, ...target.options.extra }
  return { path: '/chat/completions', body, notes, toolNames: names.changed }
}

function manners({ quirks, capabilities }: Target): Parameters<typeof settle<Item>>[1] {
  return {
    text: (text) => ({ part: textPart(text) }),
    join: quirks.alternate ? ['user', 'assistant'] : [],
    ...(quirks.alternate && { startWithUser: true }),
    ...(!capabilities.prefill && { endWithUser: 'D5' }),
    ...(quirks.bridgeAfterTool && { bridgeAfterTool: true }),
  }
}

/** A list without a message is refused (C7), and one with nothing but a system message by many hosts. */
function addUser(turns: Turn<Item>[], notes: Note[]): void {
  const [added] = settle<Item>([], { text: (text) => ({ part: textPart(text) }), join: [], endWithUser: 'C7' }, notes)
  if (added) turns.push(added)
}

function turnsOf(context: Context, writer: Writer): Turn<Item>[] {
  const turns: Turn<Item>[] = []
  let last: ContentPart | undefined
  const add = (role: Turn<Item>['role'], items: Item[], at: string, index: number) => {
    last = markable(items) ?? last
    if (last && takesMarks(writer.target) && context.cacheAfter.includes(index)) mark(last, writer.target)
    turns.push({ role, items, at })
  }
  if (context.system.length > 0) {
    const items = systemItems(context.system, 'system', writer)
    if (items.length > 0) add('system', items, 'system', -1)
  }

  let following: Item[] = []
  for (const [index, message] of context.messages.entries()) {
    const at = placeOf(context, index)
    if (message.role !== 'tool') flushMedia()
    switch (message.role) {
      case 'system':
        if (mayStandInside(writer.target)) add('system', systemItems(message.parts, at, writer), at, index)
        else add('user', labelledSystem(message, at, writer), at, index)
        break
      case 'user':
        add('user', userItems(message, at, writer), at, index)
        break
      case 'assistant':
        add('assistant', encodeReply(message, at, writer), at, index)
        break
      case 'tool':
        if (writer.flat) add('user', flatResults(message, at, writer), at, index)
        else add('tool', toolItems(message, at, writer, following), at, index)
    }
  }
  flushMedia()
  return turns

  function flushMedia(): void {
    if (following.length > 0) turns.push({ role: 'user', items: following, at: '' })
    following = []
  }
}

function mayStandInside({ quirks, capabilities }: Target): boolean {
  return capabilities.midSystem && !quirks.alternate
}

function systemItems(parts: readonly TextPart[], at: string, writer: Writer): Item[] {
  const texts = parts.map((part) => cleanText(part.text, at, writer.notes)).filter((text) => text !== '')
  return texts.length > 0 ? [{ part: textPart(texts.join('\n\n')) }] : []
}

function labelledSystem(message: SystemMessage, at: string, writer: Writer): Item[] {
  const text = message.parts.map((part) => cleanText(part.text, at, writer.notes)).join('\n\n')
  if (isBlank(text)) return []
  writer.notes.push({
    kind: 'changed',
    what: 'system message to labelled user text',
    why: 'this host takes a system message only at the top',
    at,
  })
  return [{ part: textPart(`${systemLabel}\n${text}`) }]
}

function writeTurn(turn: Turn<Item>, target: Target): WireMessage[] {
  const messages = turn.items.flatMap((item) => ('message' in item ? [item.message] : []))
  if (turn.role === 'tool') return messages
  if (turn.role === 'assistant') {
    const texts = turn.items.flatMap((item) => ('part' in item ? [{ role: 'assistant', content: item.part.text }] : []))
    return [[...messages, ...texts].reduce(joined)]
  }
  const parts = turn.items.flatMap((item) => ('part' in item ? [item.part] : []))
  const role = turn.role === 'system' ? (target.capabilities.systemRole ?? 'system') : 'user'
  return [{ role, content: contentOf(parts, target) }]
}

/** Two replies that stand side by side, as one message: what grows is put together, calls come last anyway. */
function joined(first: WireMessage, second: WireMessage): WireMessage {
  const message: WireMessage = { ...first }
  for (const [field, value] of Object.entries(second)) {
    const known = message[field]
    if (field === 'role' || value === null || value === undefined) continue
    if (typeof known === 'string' && known !== '' && typeof value === 'string') message[field] = `${known}\n\n${value}`
    else if (Array.isArray(known) && Array.isArray(value)) message[field] = [...known, ...value]
    else if (Array.isArray(known) && typeof value === 'string') message[field] = [...known, textPart(value)]
    else if (typeof known === 'string' && Array.isArray(value)) message[field] = [textPart(known), ...value]
    else message[field] = value
  }
  return message
}

/** A single text is a plain string, the form that every host reads, unless marks may have to be set on it. */
function contentOf(parts: readonly ContentPart[], target: Target): string | ContentPart[] {
  const [only] = parts
  if (parts.length === 1 && only?.type === 'text' && typeof only.text === 'string' && !takesMarks(target)) {
    return only.text
  }
  if (!target.quirks.stringContent) return [...parts]
  return parts.flatMap((part) => (typeof part.text === 'string' ? [part.text] : [])).join('\n\n')
}
