// Explains a request: what happened to each message of the history and why, its tokens, the expected cost, and where the
// request first differs from the previous one.

import type { Note } from '../core/context.ts'
import type { Message } from '../core/message.ts'
import type { ImageTokens } from '../wires/wire.ts'
import type { Price } from '../providers/price.ts'
import { estimateMessage } from './count.ts'
import { tokensBeyond } from './images.ts'
import { estimateHead, type Assembled } from './assemble.ts'
import { firstDifference } from './shared-prefix.ts'

export type Fate = 'sent' | 'converted' | 'folded' | 'summarised' | 'cut'

export interface ExplainedMessage {
  /** Its position in the history. */
  place: number
  role: Message['role']
  fate: Fate
  /** What was done to it, each with its reason. */
  why: string[]
  /** Its tokens in the log and in the request. */
  tokens: number
  sent: number
}

export interface Explained {
  messages: ExplainedMessage[]
  /** Tokens of system and tools. */
  head: number
  /** Tokens of the whole request. */
  tokens: number
  /** Of them, those that should be in the provider's cache. */
  cached: number
  /** The expected cost of the prompt, in US dollars; absent if the price is unknown. */
  price?: number
  /** The first byte of the body that differs from the previous request. */
  differsAt?: number
  /** Notes that concern no message. */
  notes: Note[]
}

export interface ExplainInput {
  history: readonly Message[]
  assembled: Assembled
  /** The provider's count of tokens, divided by ours. */
  ratio?: number
  /** Tokens that should be cached, as counted by the provider. */
  cached?: number
  price?: Price
  /** The body of the last request to the same model. */
  before?: string
  /** The provider's rule for images. */
  images?: ImageTokens
}

export function explain({ history, assembled, ratio = 1, cached = 0, price, before, images }: ExplainInput): Explained {
  const { context, seen, notes, body, estimate } = assembled
  const count = (tokens: number): number => Math.round(tokens * ratio)
  const sizeOf = (message: Message): number => estimateMessage(message) + tokensBeyond([message], images)
  const sent = sentAt(seen.places, seen.messages)
  const firstTurn = history.findIndex((message) => message.role !== 'system')
  const about = notesByPlace(notes)
  const messages = history.map((message, place): ExplainedMessage => {
    const here = sent.get(place) ?? []
    const isSystem = firstTurn < 0 || place < firstTurn
    const fate = isSystem ? 'sent' : fateOf(message, here, about.ranges[place] ?? [], about.single[place] ?? [])
    const reasons = (about.ranges[place] ?? []).filter((note) => fates[note.rule ?? ''] === fate)
    if (fate !== 'cut' && fate !== 'summarised') reasons.push(...(about.single[place] ?? []))
    return {
      place,
      role: message.role,
      fate,
      why: reasons.map((note) => `${note.what}: ${note.why}`),
      tokens: count(sizeOf(message)),
      sent: count(isSystem ? sizeOf(message) : here.reduce((sum, sentMessage) => sum + sizeOf(sentMessage), 0)),
    }
  })
  const tokens = count(estimate.input)
  const hit = Math.min(cached, tokens)
  const differsAt = before === undefined ? undefined : firstDifference(before, JSON.stringify(body))
  return {
    messages,
    head: count(estimateHead(context.system, context.tools)),
    tokens,
    cached: hit,
    ...(price && { price: promptPrice(price, tokens, hit) }),
    ...(differsAt !== undefined && { differsAt }),
    notes: about.none,
  }
}

/** By position: what is sent of it, which may be several messages. */
function sentAt(places: readonly number[], messages: readonly Message[]): Map<number, Message[]> {
  const sent = new Map<number, Message[]>()
  for (const [index, message] of messages.entries()) {
    const place = places[index] ?? -1
    if (place < 0) continue
    const here = sent.get(place)
    if (here) here.push(message)
    else sent.set(place, [message])
  }
  return sent
}

/** What a note about a range of the history means for a message in it. */
const fates: Record<string, Fate> = { 'tool-turns': 'folded', window: 'cut', compaction: 'summarised' }

function fateOf(message: Message, sent: readonly Message[], ranges: readonly Note[], single: readonly Note[]): Fate {
  const isWhole = sent.length === 1 && sent[0] === message
  if (isWhole) return single.length > 0 ? 'converted' : 'sent'
  const rules = new Set(ranges.map((note) => note.rule))
  const isInToolTurn = message.role === 'tool' || message.parts.some((part) => part.type === 'tool-call')
  if (sent.length === 0) {
    if (rules.has('compaction')) return 'summarised'
    if (rules.has('window') && !(rules.has('tool-turns') && isInToolTurn)) return 'cut'
    return isInToolTurn && rules.has('tool-turns') ? 'folded' : single.length > 0 ? 'converted' : 'cut'
  }
  return isInToolTurn && rules.has('tool-turns') ? 'folded' : 'converted'
}

interface NotesByPlace {
  /** Notes about a range that contains the message. */
  ranges: Note[][]
  /** Notes about the message alone. */
  single: Note[][]
  none: Note[]
}

function notesByPlace(notes: readonly Note[]): NotesByPlace {
  const placed: NotesByPlace = { ranges: [], single: [], none: [] }
  for (const note of notes) {
    const position = /^messages\[(\d+)(?:\.\.(\d+))?\]/.exec(note.at ?? '')
    if (!position) {
      placed.none.push(note)
      continue
    }
    const from = Number(position[1])
    const to = Number(position[2] ?? position[1])
    const into = note.rule !== undefined && (note.rule in fates || to > from) ? placed.ranges : placed.single
    for (let place = from; place <= to; place++) (into[place] ??= []).push(note)
  }
  return placed
}

function promptPrice(price: Price, tokens: number, cached: number): number {
  const { input, cacheRead, cacheWrite } = price.beyond && tokens > price.beyond.tokens ? price.beyond : price
  return (cached * (cacheRead ?? input) + (tokens - cached) * (cacheWrite ?? input)) / 1_000_000
}
