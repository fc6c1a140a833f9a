// A context as the body of a chat completion. One message per tool result, right after the calls; the system prompt and
// everything else in one list; nothing kept at the host.

import type { Context, Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Message, SystemMessage, TextPart } from '../../core/message.ts'
import { wireIds } from '../shared/ids.ts'
import { encodeCache, type Cached } from '../shared/encode-cache.ts'
import { mapNames, type NameMap } from '../shared/names.ts'
import type { Encoded, Target } from '../wire.ts'
import { cleanText, isBlank } from '../shared/text.ts'
import { normaliseTurns, turnOf, wireList, type Turn } from '../shared/turns.ts'
import { systemLabel } from '../shared/injected-text.ts'
import { encodeOptions } from './options.ts'
import { markTools, takesMarks, withMark } from './cache-marks.ts'
import { encodeReply, isReplayed } from './encode-reply.ts'
import { flatResults, toolItems } from './encode-results.ts'
import { userItems } from './encode-user.ts'
import {
  callIdGrammar,
  protocolId,
  textPart,
  toolNameLength,
  toolNamePattern,
  type ContentPart,
  type WireMessage,
} from './types.ts'

/** One piece of a turn: content of a user or system message, or a message of its own. */
export type Item = { part: ContentPart } | { message: WireMessage }

export interface Writer {
  target: Target
  notes: Note[]
  names: Pick<NameMap, 'toWire'>
  idOf(callId: string): string
  /** Calls and results are written as text: the host refuses them, or the model knows no tools. */
  flat: boolean
}

export function encode(context: Context, target: Target): Encoded {
  const notes: Note[] = []
  const names = mapNames(context, toolNamePattern, toolNameLength, notes)
  const flat = target.quirks.flattenToolHistory === true || !target.capabilities.tools
  const idOf = wireIds(context.messages, callIdGrammar, (reply) => isReplayed(reply, target, flat))
  const { lookups, cached } = encodeCache(context, target, protocolId, { idOf, toWire: names.toWire }, notes)
  const writer: Writer = { target, notes, names: lookups, idOf: lookups.idOf, flat }

  const turns = normaliseTurns(turnsOf(context, writer, cached), turnRules(target), notes)
  if (!turns.some((turn) => turn.role !== 'system')) addUser(turns, notes)
  const messages = wireList(turns, (turn) => writeTurn(turn, target))
  const fields = encodeOptions(context.tools, writer)
  if (context.cacheAfter.includes(-1) && turns[0]?.role !== 'system') markTools(fields, target)
  const body: JsonObject = { model: target.model, messages, ...fields, ...target.options.extra }
  return { path: '/chat/completions', body, notes, toolNames: names.changed }
}

function turnRules({ quirks, capabilities }: Target): Parameters<typeof normaliseTurns<Item>>[1] {
  return {
    text: (text) => ({ part: textPart(text) }),
    join: quirks.alternate || capabilities.alternation ? ['user', 'assistant'] : [],
    ...((quirks.alternate || capabilities.alternation) && { startWithUser: true }),
    ...(!capabilities.prefill && { endWithUser: 'D5' }),
    ...(quirks.bridgeAfterTool && { bridgeAfterTool: true }),
  }
}

/** A list without a message is refused (C7), and one with nothing but a system message by many hosts. */
function addUser(turns: Turn<Item>[], notes: Note[]): void {
  const [added] = normaliseTurns<Item>(
    [],
    { text: (text) => ({ part: textPart(text) }), join: [], endWithUser: 'C7' },
    notes,
  )
  if (added) turns.push(added)
}

function turnsOf(context: Context, writer: Writer, cached: Cached): Turn<Item>[] {
  const turns: Turn<Item>[] = []
  /** The index of the message that each turn is of; none for what follows a block of results. */
  const owners: number[] = []
  const add = (turn: Turn<Item>, owner: number) => {
    turns.push(turn)
    owners.push(owner)
  }
  if (context.system.length > 0) {
    const items = systemItems(context.system, 'system', writer)
    if (items.length > 0) add(turnOf('system', items, 'system'), -1)
  }

  const write = (message: Message, at: string) => writeMessage(message, at, writer)
  let following: Item[] = []
  for (const [index, message] of context.messages.entries()) {
    if (message.role !== 'tool') flushMedia()
    const turn = cached(message, index, write)
    add(turn, index)
    if (turn.media) following.push(...turn.media)
  }
  flushMedia()
  if (takesMarks(writer.target)) for (const index of context.cacheAfter) setMark(turns, owners, index, writer.target)
  return turns

  function flushMedia(): void {
    if (following.length > 0) add(turnOf('user', following, ''), Number.NaN)
    following = []
  }
}

/** On the last part up to the message of this index that can hold one. */
function setMark(turns: Turn<Item>[], owners: readonly number[], index: number, target: Target): void {
  for (let i = owners.findLastIndex((owner) => owner <= index); i >= 0; i--) {
    const turn = turns[i]
    const items = turn && !Number.isNaN(owners[i]) ? withMark(turn.items, target) : undefined
    if (!turn || !items) continue
    turns[i] = turnOf(turn.role, items, turn.at)
    return
  }
}

interface Written extends Turn<Item> {
  /** Of results, to be shown in a user message after the whole block of them. */
  media?: Item[]
}

function writeMessage(message: Message, at: string, writer: Writer): Written {
  switch (message.role) {
    case 'system':
      if (mayStandInside(writer.target)) return turnOf('system', systemItems(message.parts, at, writer), at)
      return turnOf('user', labelledSystem(message, at, writer), at)
    case 'user':
      return turnOf('user', userItems(message, at, writer), at)
    case 'assistant':
      return turnOf('assistant', encodeReply(message, at, writer), at)
    case 'tool': {
      if (writer.flat) return turnOf('user', flatResults(message, at, writer), at)
      const media: Item[] = []
      const turn = turnOf('tool', toolItems(message, at, writer, media), at)
      return media.length > 0 ? { ...turn, media } : turn
    }
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
  const [only] = turn.items
  if (turn.items.length === 1 && only && 'message' in only) return [only.message]
  if (turn.role === 'tool' || turn.role === 'assistant') {
    const messages = turn.items.flatMap((item) => ('message' in item ? [item.message] : []))
    if (turn.role === 'tool') return messages
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
