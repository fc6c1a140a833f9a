// The limits of one model: its context window, and the length of a single result. Everything here is a function of the
// messages and of fixed numbers of the model, so that a longer history keeps its prefix (P4).

import type { Note } from '../core/context.ts'
import type { MediaPart, Message, TextPart, ToolMessage } from '../core/message.ts'
import type { Options } from '../settings/options.ts'
import type { Capabilities } from '../wires/wire.ts'
import { estimateTokens } from './count.ts'
import { fitMedia } from './fit-media.ts'
import type { PolicySettings } from '../settings/policy.ts'
import type { View } from './view.ts'

/** Estimates are up to 8 % low once the ratio to the provider's own count is known (measured 2026-11). */
const margin = 0.92
const defaultOutput = 4096

/** The most tokens of a prompt, as counted by the provider; Infinity if the model's window is unknown. */
export function limitOf(
  capabilities: Pick<Capabilities, 'contextWindow' | 'maxOutput'>,
  options: Pick<Options, 'maxOutput'>,
  settings: PolicySettings,
): number {
  const window = capabilities.contextWindow ?? settings.assumedWindow
  if (window === undefined) return Infinity
  const wanted = options.maxOutput ?? Math.min(capabilities.maxOutput ?? defaultOutput, window * 0.2)
  const output = Math.min(wanted, window / 2)
  return Math.floor((window - output) * Math.min(settings.usable ?? margin, margin))
}

/** How much of the limit one tool result may take. */
const resultShare = 0.25

/**
 * Shortens results that are too long for the model to their beginning and end, and removes images that are too many or
 * too large.
 */
export function fit(view: View, limit: number, capabilities: Capabilities): View {
  return fitMedia(fitResults(view, limit), capabilities)
}

function fitResults(view: View, limit: number): View {
  const most = Math.floor(limit * resultShare)
  if (!Number.isFinite(most) || !hasLong(view.messages, most)) return view
  const notes: Note[] = []
  const messages = view.messages.map((message, index): Message => {
    if (message.role !== 'tool' || !isLong(message, most)) return message
    return { ...message, parts: message.parts.map((part) => ({ ...part, output: shortened(part, index) })) }
  })
  return notes.length === 0 ? view : { ...view, messages, notes: [...view.notes, ...notes] }

  function shortened(part: ToolMessage['parts'][number], index: number): (TextPart | MediaPart)[] {
    if (textLength(part.output) <= most) return part.output
    const text = part.output.map((piece) => (piece.type === 'text' ? piece.text : '')).join('\n')
    const tokens = estimateTokens(text)
    if (tokens <= most) return part.output
    const half = Math.max(1, Math.floor((text.length * most) / tokens / 2))
    const left = text.length - 2 * half
    notes.push({
      kind: 'changed',
      what: `result of ${part.name}: ${left} of its ${text.length} characters are not shown`,
      why: `one result may take a quarter of the model's limit, about ${most} tokens`,
      at: `messages[${view.places[index]}]`,
      rule: 'fit',
    })
    const short = [
      text.slice(0, half).toWellFormed(),
      `[… ${left} characters are not shown …]`,
      text.slice(-half).toWellFormed(),
    ].join('\n')
    return [{ type: 'text', text: short }, ...part.output.filter((piece) => piece.type === 'media')]
  }
}

function hasLong(messages: readonly Message[], most: number): boolean {
  for (const message of messages) if (message.role === 'tool' && isLong(message, most)) return true
  return false
}

function isLong(message: Message, most: number): boolean {
  return message.role === 'tool' && message.parts.some((part) => textLength(part.output) > most)
}

/** No text has more tokens than characters, with any reasonable tokenizer. */
function textLength(output: readonly (TextPart | MediaPart)[]): number {
  let length = 0
  for (const piece of output) if (piece.type === 'text') length += piece.text.length
  return length
}
