// A context as the body of a request that is mostly a list of messages: the system prompt and everything else in one
// list, one message per tool result, right after the calls. What differs from wire to wire is in its dialect.

import type { Context, Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import { sharedLength } from '../../core/lists.ts'
import { callsOf, type Message, type Reply, type TextPart, type UserMessage } from '../../core/message.ts'
import { originsIn } from '../shared/body-bytes.ts'
import { encodeCache, type EncodeCache } from '../shared/encode-cache.ts'
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
  const { lookups, ...caches } = encodeCache(context, target, dialect.id, asks, notes)
  const encoding: Encoding = { dialect, target, notes, names: lookups, flat, ...lookups }

  const text = (content: string): Item => ({ part: textPart(content) })
  const turnRules = { text, ...dialect.turnRules(target) }
  const turns = normaliseTurns(turnsOf(context, encoding, caches), turnRules, notes)
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

function turnsOf(
  context: Context,
  encoding: Encoding,
  { cachedAll, cachedSystem }: Pick<EncodeCache<never>, 'cachedAll' | 'cachedSystem'>,
): Turn<Item>[] {
  const { noSystem } = encoding.target.quirks
  const texts = context.system.map(({ text }) => text)
  const system = cachedSystem(texts, () =>
    noSystem
      ? turnOf('user', labelledSystem(context.system, 'system', encoding), 'system')
      : turnOf('system', systemItems(context.system, 'system', encoding), 'system'),
  )
  const written = cachedAll((message, at) => writeMessage(message, at, encoding))
  const shown = hasMedia(written) ? withMedia(written, context.messages) : written
  const turns = system.items.length > 0 ? [system, ...shown] : [...shown]
  if (encoding.dialect.marks?.takes(encoding.target)) {
    for (const index of context.cacheAfter) setMark(turns, index < 0 ? system : written[index], encoding)
  }
  return turns
}

/** The last list without media, by its first turn: the beginning of the next one is not looked at again. */
const withoutMedia = new WeakMap<Written, readonly Written[]>()

function hasMedia(written: readonly Written[]): boolean {
  const [first] = written
  const known = first && withoutMedia.get(first)
  if (written.slice(known ? sharedLength(known, written) : 0).some(({ media }) => media)) return true
  if (first) withoutMedia.set(first, written)
  return false
}

/** With a turn of the user after each block of results that has media. */
function withMedia(written: readonly Written[], messages: readonly Message[]): Turn<Item>[] {
  const turns: Turn<Item>[] = []
  let following: Item[] = []
  let shownFrom: string[] = []
  for (const [index, turn] of written.entries()) {
    if (messages[index]?.role !== 'tool') showMedia()
    turns.push(turn)
    if (!turn.media) continue
    following.push(...turn.media)
    shownFrom.push(...turn.from)
  }
  showMedia()
  return turns

  function showMedia(): void {
    if (following.length === 0) return
    turns.push(turnOf('user', following, '', shownFrom))
    following = []
    shownFrom = []
  }
}

/** On the last part up to this turn that can have one. */
function setMark(turns: Turn<Item>[], last: Turn<Item> | undefined, { dialect, target }: Encoding): void {
  for (let i = last ? turns.lastIndexOf(last) : -1; i >= 0; i--) {
    const turn = turns[i]
    // A turn without a position was added.
    const marked = turn && turn.at !== '' ? markedTurn(turn, { dialect, target }) : undefined
    if (!marked) continue
    turns[i] = marked
    return
  }
}

function markedTurn(
  turn: Turn<Item>,
  { dialect, target }: Pick<Encoding, 'dialect' | 'target'>,
): Turn<Item> | undefined {
  const { cacheTtl = '5m' } = target.options
  if (turn.marked?.ttl !== cacheTtl) {
    const items = dialect.marks?.onItems(turn.items, target)
    turn.marked = { ttl: cacheTtl, turn: items && turnOf(turn.role, items, turn.at, turn.from) }
  }
  return turn.marked.turn
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
