// A context as the body of a request that is mostly a list of messages: the system prompt and everything else in one
// list, one message per tool result, right after the calls. What differs from wire to wire is in its dialect.

import type { Context, Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import { callsOf, type Message, type Reply, type TextPart, type UserMessage } from '../../core/message.ts'
import { originsIn } from '../shared/body-bytes.ts'
import { encodeCache, type Cached } from '../shared/encode-cache.ts'
import { requestIds, type IdGrammar } from '../shared/ids.ts'
import { summaryLabel, systemLabel } from '../shared/injected-text.ts'
import { mapNames } from '../shared/names.ts'
import { cleanText, isBlank } from '../shared/text.ts'
import { normaliseTurns, turnOf, wireList, type Turn } from '../shared/turns.ts'
import type { Encoded, Target } from '../wire.ts'
import { type Dialect, type Item, textPart, type Encoding } from './dialect.ts'
import { encodeReply, flatResults, isReplayed, standIn, toolItems } from './encode-reply.ts'
import { unfold } from './unfold.ts'

export function encodeMessageList(original: Context, target: Target, dialect: Dialect): Encoded {
  const notes: Note[] = []
  const flat = whyFlat(target)
  const context = flat ? original : unfold(original, target.quirks, notes)
  const { toolNames } = dialect
  const names = toolNames ? mapNames(context, toolNames.pattern, toolNames.length, notes) : anyNames
  const replayed = (reply: Reply) => isReplayed(reply, target, dialect, flat)
  const grammar = target.quirks.shortCallIds ? shortIds : dialect.callIds
  const idOf = requestIds(context, target, dialect.id, grammar, replayed)
  const idless = dialect.idless ? idlessCalls(context.messages, replayed) : none
  const kinds = new Map(context.tools.map(({ name, kind }) => [name, kind ?? ('function' as const)]))
  const asks = {
    idOf,
    toWire: names.toWire,
    isIdless: (callId: string) => idless.has(callId),
    toolKind: (name: string) => kinds.get(name),
  }
  const { lookups, cached } = encodeCache(context, target, dialect.id, asks, notes)
  const encoding: Encoding = { dialect, target, notes, names: lookups, flat, ...lookups }

  const text = (content: string): Item => ({ part: textPart(content) })
  const turnRules = { text, ...dialect.turnRules(target) }
  const turns = normaliseTurns(turnsOf(context, encoding, cached), turnRules, notes)
  if (dialect.needsUser !== undefined && !turns.some((turn) => turn.role !== 'system')) {
    turns.push(...normaliseTurns<Item>([], { text, join: [], endWithUser: dialect.needsUser }, notes))
  }
  const messages = wireList(turns, (turn) => dialect.writeTurn(turn, target))
  const fields = dialect.options(context.tools, encoding)
  if (context.cacheAfter.includes(-1) && turns[0]?.role !== 'system') dialect.marks?.onTools(fields, target)
  const body: JsonObject = { model: target.model, messages, ...fields, ...target.options.extra }
  const origins = originsIn('messages', messages)
  return { path: dialect.path, body, notes, toolNames: names.changed, origins }
}

const none: ReadonlySet<string> = new Set()
const shortIds: IdGrammar = { prefix: '', length: 9, fits: /^[a-zA-Z0-9]{9}$/ }
const anyNames = { toWire: (name: string) => name, changed: {} }

function whyFlat({ quirks, capabilities }: Target): string | undefined {
  if (quirks.toolMessages) return 'this host accepts no tool messages in the history'
  return capabilities.tools ? undefined : 'the model supports no tools'
}

/** Calls that are sent back unchanged, without an id. */
function idlessCalls(messages: readonly Message[], replayed: (reply: Reply) => boolean): Set<string> {
  const idless = new Set<string>()
  for (const message of messages) {
    if (message.role !== 'assistant') continue
    const unnamed = callsOf(message).filter((call) => call.alias === undefined)
    if (unnamed.length > 0 && replayed(message)) for (const { callId } of unnamed) idless.add(callId)
  }
  return idless
}

function turnsOf(context: Context, encoding: Encoding, cached: Cached): Turn<Item>[] {
  const turns: Turn<Item>[] = []
  /** The index of the message of each turn; none for what follows a block of results. */
  const owners: number[] = []
  const add = (turn: Turn<Item>, owner: number) => {
    turns.push(turn)
    owners.push(owner)
  }
  const { noSystem } = encoding.target.quirks
  const system = (noSystem ? labelledSystem : systemItems)(context.system, 'system', encoding)
  if (system.length > 0) add(turnOf(noSystem ? 'user' : 'system', system, 'system'), -1)

  const write = (message: Message, at: string) => writeMessage(message, at, encoding)
  let following: Item[] = []
  let shownFrom: string[] = []
  for (let index = 0; index < context.messages.length; index++) {
    const message = context.messages[index] as Message
    if (message.role !== 'tool') flushMedia()
    const turn = cached(message, index, write)
    turns.push(turn)
    owners.push(index)
    if (!turn.media) continue
    following.push(...turn.media)
    shownFrom.push(...turn.from)
  }
  flushMedia()
  if (encoding.dialect.marks?.takes(encoding.target)) {
    for (const index of context.cacheAfter) setMark(turns, owners, index, encoding)
  }
  return turns

  function flushMedia(): void {
    if (following.length === 0) return
    add(turnOf('user', following, '', shownFrom), Number.NaN)
    following = []
    shownFrom = []
  }
}

/** On the last part up to the message with this index that can have one. */
function setMark(turns: Turn<Item>[], owners: readonly number[], index: number, { dialect, target }: Encoding): void {
  for (let i = owners.findLastIndex((owner) => owner <= index); i >= 0; i--) {
    const turn = turns[i]
    const items = turn && !Number.isNaN(owners[i]) ? dialect.marks?.onItems(turn.items, target) : undefined
    if (!turn || !items) continue
    turns[i] = turnOf(turn.role, items, turn.at, turn.from)
    return
  }
}

interface Written extends Turn<Item> {
  /** From results, to be shown in a user message after the whole block of them. */
  media?: Item[]
}

function writeMessage(message: Message, at: string, encoding: Encoding): Written {
  switch (message.role) {
    case 'system':
      if (mayStandInside(encoding.target)) return turnOf('system', systemItems(message.parts, at, encoding), at)
      return turnOf('user', labelledSystem(message.parts, at, encoding), at)
    case 'user':
      return turnOf('user', userItems(message, at, encoding), at)
    case 'assistant':
      return turnOf('assistant', encodeReply(message, at, encoding), at)
    case 'tool': {
      if (encoding.flat) return turnOf('user', flatResults(message, at, encoding, encoding.flat), at)
      const media: Item[] = []
      const turn = turnOf('tool', toolItems(message, at, encoding, media), at)
      return media.length > 0 ? { ...turn, media } : turn
    }
  }
}

function mayStandInside({ quirks, capabilities }: Target): boolean {
  return capabilities.midSystem && !quirks.alternate && !quirks.noSystem
}

function systemItems(parts: readonly TextPart[], at: string, encoding: Encoding): Item[] {
  const texts = parts.map((part) => cleanText(part.text, at, encoding.notes)).filter((text) => text !== '')
  return texts.length > 0 ? [{ part: textPart(texts.join('\n\n')) }] : []
}

function labelledSystem(parts: readonly TextPart[], at: string, { dialect, target, notes }: Encoding): Item[] {
  const text = parts.map((part) => cleanText(part.text, at, notes)).join('\n\n')
  if (isBlank(text)) return []
  const { midSystem: rule } = dialect.rules
  const templateReason = target.quirks.noSystem ? "the model's chat template has no system messages" : undefined
  const why = templateReason ?? 'this host accepts a system message only at the top'
  notes.push({ kind: 'changed', what: 'system message to labelled user text', why, at, ...(rule && { rule }) })
  return [{ part: textPart(`${systemLabel}\n${text}`) }]
}

function userItems(message: UserMessage, at: string, { dialect, target, notes }: Encoding): Item[] {
  const items: Item[] = []
  for (const part of message.parts) {
    switch (part.type) {
      case 'text':
        if (part.text !== '') items.push({ part: textPart(cleanText(part.text, at, notes)) })
        break
      case 'media':
        items.push({ part: dialect.media(part, target) ?? standIn(part, at, notes) })
        break
      case 'compaction':
        if (part.text) items.push({ part: textPart(cleanText(`${summaryLabel}\n${part.text}`, at, notes)) })
        else notes.push({ kind: 'dropped', what: 'compaction', why: 'it has no text', at })
        break
      case 'opaque': {
        const content = dialect.ownContent(part, target)
        if (content) items.push(content)
        else notes.push({ kind: 'dropped', what: part.kind, why: 'this wire does not support such content', at })
      }
    }
  }
  return items
}
