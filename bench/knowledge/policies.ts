// The policies whose knowledge is compared: the presets, more and less of what `economy` keeps, and what other agents do,
// made again here.

import type { Message } from '../../src/core/message.ts'
import type { Sent } from '../money/bill.ts'
import type { PriceClass } from '../money/classes.ts'
import { economy, foldAt, full, play, summaryAt, windowOf, type Strategy } from '../money/strategies.ts'
import type { Trajectory } from '../money/trajectory.ts'
import { cutResults, onlyDifferences } from './shorter-results.ts'
import { settingsOf } from '../../src/settings/policy.ts'

export interface Compared {
  name: string
  /** The model is offered `recall`, and every request pays for its definition. */
  recalls?: boolean
  /** Drawn as one of ours. */
  isOurs?: boolean
  /** Its label in the row of `economy`. */
  short?: string
  sent(trajectory: Trajectory, price: PriceClass): Sent[]
}

export const preset = 'economy (default)'

export const compared: readonly Compared[] = [
  { name: full.name, sent: (trajectory, price) => play(full, trajectory, price) },
  { ...ours(economy(preset, settingsOf('economy'))), short: String(settingsOf('economy').maxToolTurns) },
  ...[2, 6, 10, 20].map((keep) => ({
    ...ours(economy(`economy, ${keep} tool turns`, { maxToolTurns: keep })),
    short: String(keep),
  })),
  ours(economy('economy, results of 4 turns', { maxToolTurns: 4, fold: 'results' })),
  shorter('economy, results cut at 8,000 characters', (messages) => cutResults(messages, 8000)),
  shorter('economy, only differences of re-reads', onlyDifferences),
  ours({ name: 'classic', settings: settingsOf('classic') }),
  other('clear results at 100k, keep 3', {
    ...foldAt(100_000, 3),
    settings: { maxToolTurns: 3, fold: 'results', rhythm: 'economy' },
  }),
  other('summary at 160k', summaryAt(160_000)),
  other('last 20 messages every turn', windowOf(20, 1)),
]

function ours(strategy: Strategy): Compared {
  const sent = (trajectory: Trajectory, price: PriceClass) => play(strategy, trajectory, price)
  return { name: strategy.name, recalls: true, isOurs: true, sent }
}

/** The default policy over results that were shortened when they were written. */
function shorter(name: string, change: (messages: readonly Message[]) => Message[]): Compared {
  const { sent, ...rest } = ours(economy(name, settingsOf('economy')))
  return { ...rest, isOurs: false, sent: (one, price) => sent({ ...one, messages: change(one.messages) }, price) }
}

/** Others put the same few words where a result was. */
function other(name: string, strategy: Strategy): Compared {
  return {
    name,
    sent: (trajectory, price) =>
      play(strategy, trajectory, price).map((one) => ({ ...one, messages: one.messages.map(cleared) })),
  }
}

const known = new WeakMap<Message, Message>()

function cleared(message: Message): Message {
  if (message.role !== 'tool' || !message.parts.some(({ output }) => isFolded(output[0]))) return message
  let made = known.get(message)
  if (!made) {
    const output = [{ type: 'text' as const, text: '[Old tool result content cleared]' }]
    made = { ...message, parts: message.parts.map((part) => ({ ...part, output })) }
    known.set(message, made)
  }
  return made
}

function isFolded(part: { type: string; text?: string } | undefined): boolean {
  return part?.type === 'text' && part.text?.startsWith('[Folded') === true
}
