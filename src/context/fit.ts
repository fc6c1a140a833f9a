// What one model can take: how much it reads, how long a single result may be, how many images. Everything here is a
// function of the messages and of fixed numbers of the model, so that a longer history keeps its prefix (P4).

import type { Note } from '../core/context.ts'
import type { MediaPart, Message, TextPart, ToolMessage, UserMessage } from '../core/message.ts'
import type { Options } from '../core/options.ts'
import type { Capabilities } from '../protocols/protocol.ts'
import { mediaStandIn } from '../protocols/words.ts'
import { estimateTokens } from './count.ts'
import type { PolicySettings } from './policy.ts'
import type { View } from './view.ts'

/** Estimates are up to 8 % low once the ratio to the provider's own count is known (measured 2026-11). */
const margin = 0.92
const usualOutput = 4096

/** The most tokens of a prompt, in the provider's own count; Infinity where the model's window is not known. */
export function limitOf(
  capabilities: Pick<Capabilities, 'contextWindow' | 'maxOutput'>,
  options: Pick<Options, 'maxOutput'>,
  settings: PolicySettings,
): number {
  const window = capabilities.contextWindow ?? settings.assumedWindow
  if (window === undefined) return Infinity
  const wanted = options.maxOutput ?? Math.min(capabilities.maxOutput ?? usualOutput, window * 0.2)
  const output = Math.min(wanted, window / 2)
  return Math.floor((window - output) * Math.min(settings.usable ?? margin, margin))
}

/** How much of the limit one tool result may take. */
const resultShare = 0.25

/** Results that are too long for the model are shown from both ends; too many images lose the oldest. */
export function fit(view: View, limit: number, maxImages: number | undefined): View {
  return fitImages(fitResults(view, limit), maxImages ?? Infinity)
}

function fitResults(view: View, limit: number): View {
  const most = Math.floor(limit * resultShare)
  if (!Number.isFinite(most)) return view
  const notes: Note[] = []
  const messages = view.messages.map((message, index): Message => {
    if (message.role !== 'tool' || !message.parts.some((part) => textLength(part.output) > most)) return message
    return { ...message, parts: message.parts.map((part) => ({ ...part, output: shown(part, index) })) }
  })
  return notes.length === 0 ? view : { ...view, messages, notes: [...view.notes, ...notes] }

  function shown(part: ToolMessage['parts'][number], index: number): (TextPart | MediaPart)[] {
    if (textLength(part.output) <= most) return part.output
    const text = part.output.map((piece) => (piece.type === 'text' ? piece.text : '')).join('\n')
    const tokens = estimateTokens(text)
    if (tokens <= most) return part.output
    const half = Math.max(1, Math.floor((text.length * most) / tokens / 2))
    const left = text.length - 2 * half
    notes.push({
      kind: 'changed',
      what: `result of ${part.name}: ${left} of its ${text.length} characters are not shown`,
      why: `one result may take a quarter of what the model reads, about ${most} tokens`,
      at: `messages[${view.places[index] ?? index}]`,
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

/** No text has more tokens than characters, by any tokenizer that is worth its name. */
function textLength(output: readonly (TextPart | MediaPart)[]): number {
  let length = 0
  for (const piece of output) if (piece.type === 'text') length += piece.text.length
  return length
}

/** Anthropic takes 32 MB in one request; others take less of images, but say so only for single ones (checked 2026-11). */
const mostMediaBytes = 24_000_000

/** The oldest go, in steps of half of what is taken, so that the prefix moves seldom. */
function fitImages(view: View, maxImages: number): View {
  const images: { index: number; bytes: number }[] = []
  for (const [index, message] of view.messages.entries()) {
    for (const part of mediaIn(message)) images.push({ index, bytes: bytesOf(part) })
  }
  let first = 0
  let bytes = 0
  for (const [i, image] of images.entries()) {
    bytes += image.bytes
    if (i - first + 1 <= maxImages && bytes <= mostMediaBytes) continue
    while (first < i && (i - first + 1 > maxImages / 2 || bytes > mostMediaBytes / 2)) {
      bytes -= images[first]?.bytes ?? 0
      first++
    }
  }
  if (first === 0) return view
  let left = first
  const notes: Note[] = []
  const messages = view.messages.map((message, index): Message => {
    const gone = Math.min(left, mediaIn(message).length)
    if (gone === 0) return message
    left -= gone
    notes.push({
      kind: 'dropped',
      what: `${gone} images or files`,
      why: 'the request would hold more of them than the provider takes',
      at: `messages[${view.places[index] ?? index}]`,
      rule: 'fit',
    })
    return withoutMedia(message, gone)
  })
  return { ...view, messages, notes: [...view.notes, ...notes] }
}

function mediaIn(message: Message): MediaPart[] {
  if (message.role === 'user') return message.parts.filter((part) => part.type === 'media')
  if (message.role !== 'tool') return []
  return message.parts.flatMap((part) => part.output.filter((piece) => piece.type === 'media'))
}

/** The message with words in the place of its first `count` media. */
function withoutMedia(message: Message, count: number): Message {
  let left = count
  const replaced = <P extends UserMessage['parts'][number]>(part: P): P | TextPart =>
    part.type === 'media' && left-- > 0 ? { type: 'text', text: mediaStandIn(part.mediaType, part.name) } : part
  if (message.role === 'user') return { ...message, parts: message.parts.map(replaced) }
  if (message.role !== 'tool') return message
  return { ...message, parts: message.parts.map((part) => ({ ...part, output: part.output.map(replaced) })) }
}

function bytesOf(part: MediaPart): number {
  return part.data.kind === 'base64' ? part.data.base64.length : 0
}
