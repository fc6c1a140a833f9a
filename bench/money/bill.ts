// What a row of views costs, by the emulator's own accounting of prompt caches. The views are the product's; only their
// texts are replaced by short names that differ where the texts do, with the tokens that the provider counts, so that a
// gigabyte of history need not be hashed for every strategy.

import type { Message } from '../../src/core/message.ts'
import { createPromptCache } from '../../src/emulator/cache.ts'
import type { Prompt, Segment } from '../../src/wires/shared/prompt.ts'
import type { PriceClass } from './classes.ts'
import { tokensOf, type Trajectory } from './trajectory.ts'

/** One request as it was sent. */
export interface Sent {
  messages: readonly Message[]
  places: readonly number[]
  cacheAfter: readonly number[]
  at: number
  /** Additional costs, such as for a summary, in tokens of uncached input. */
  aside?: number
}

export interface Bill {
  cost: number
  /** Tokens of all prompts. */
  tokens: number
  /** The largest prompt. */
  peak: number
}

export type Biller = (sent: readonly Sent[], price: PriceClass) => Bill

export function billerFor(trajectory: Trajectory): Biller {
  const { messages, sizes, system } = trajectory
  const originals = new Set(messages)
  const known = new WeakMap<Message, Segment[]>()
  const tokens = new Map<string, number>([['system', system]])
  const replies = new Map(trajectory.requests.map((one) => [one.at, one.reply]))

  return (sent, price) => {
    const cache = createPromptCache((text) => tokens.get(text) ?? 0)
    const bill: Bill = { cost: 0, tokens: 0, peak: 0 }
    for (const one of sent) {
      const prompt = promptOf(one, price)
      const { input, read, written } = cache.charge('bench', prompt, price.rules, one.at)
      const stored = Object.values(written).reduce((sum, count) => sum + count, 0)
      bill.cost += read * price.read + stored * price.write + (input - read - stored) + (one.aside ?? 0)
      bill.tokens += input
      bill.peak = Math.max(bill.peak, input)
      const place = replies.get(one.at)
      if (price.keepsAnswers && place !== undefined) {
        const reply = messages[place]
        const answer = reply ? segmentsOf(reply, place) : []
        cache.answered('bench', { ...prompt, segments: [...prompt.segments, ...answer] }, price.rules, one.at)
      }
    }
    return bill
  }

  function promptOf(one: Sent, price: PriceClass): Prompt {
    const marks = new Set(one.cacheAfter)
    const head: Segment = { place: 'system', role: 'system', text: 'system', media: 0, last: true }
    const segments: Segment[] = [marks.has(-1) ? { ...head, mark: {} } : head]
    for (const [index, message] of one.messages.entries()) {
      const own = segmentsOf(message, one.places[index] ?? -1)
      const last = own.at(-1)
      if (last && marks.has(index)) segments.push(...own.slice(0, -1), { ...last, mark: {} })
      else segments.push(...own)
    }
    return { segments, settings: '', messageSettings: '', ...(price.ttl && { ttl: price.ttl }) }
  }

  function segmentsOf(message: Message, place: number): Segment[] {
    const found = known.get(message)
    if (found) return found
    const isOriginal = originals.has(message)
    const scale = sizes.scale.get(place) ?? 1
    const counts = message.parts.map((part) => tokensOf(part) * scale)
    const hidden = isOriginal ? (sizes.hidden.get(place) ?? 0) : 0
    if (hidden > 0) counts.unshift(hidden)
    const kind = isOriginal ? 'log' : 'made'
    const segments = counts.map((count, i): Segment => {
      const text = `${place} ${message.role} ${kind} ${i} ${count}`
      tokens.set(text, count)
      return { place: 'messages', role: message.role, text, media: 0, last: i === counts.length - 1 }
    })
    known.set(message, segments)
    return segments
  }
}
