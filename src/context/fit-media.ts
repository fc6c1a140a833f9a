// Replaces images and files that the provider would not accept with text: those that are too large, and the oldest if
// there are too many.
//
// Some providers accept only smaller images once there are many. So the history is processed from its beginning: a longer
// one has the same gaps, and perhaps a new one (P4).

import type { Note } from '../core/context.ts'
import type { MediaPart, Message, TextPart, UserMessage } from '../core/message.ts'
import type { Capabilities, ImageLimits } from '../wires/wire.ts'
import { mediaStandIn } from '../wires/shared/injected-text.ts'
import { allMediaIn, mediaIn, pixelsOf } from './images.ts'
import type { View } from './view.ts'

/**
 * Anthropic accepts 32 MB in one request; others accept less for images, but document it only for single ones (checked
 * 2026-11).
 */
const mostCharacters = 24_000_000

type Limits = Pick<Capabilities, 'maxImages' | 'imageLimits'>

export function fitMedia(view: View, limits: Limits): View {
  const all = allMediaIn(view.messages)
  if (all.length === 0) return view
  const reasons = new Map<MediaPart, string>()
  const fitting = all.filter((part) => {
    const why = tooLarge(part, limits.imageLimits)
    if (why !== undefined) reasons.set(part, why)
    return why === undefined
  })
  for (const part of fitting.slice(0, firstSent(fitting, limits))) reasons.set(part, tooMany)
  if (reasons.size === 0) return view
  const notes = [...view.notes]
  const messages = view.messages.map((message, index) => {
    const removed = mediaIn(message).filter((part) => reasons.has(part))
    if (removed.length === 0) return message
    notes.push(...notesFor(removed, reasons, `messages[${view.places[index]}]`))
    return withoutMedia(message, reasons)
  })
  return { ...view, messages, notes }
}

const tooMany = 'the request would have more of them than the provider accepts'

function tooLarge(part: MediaPart, { side = Infinity, size = Infinity }: ImageLimits = {}): string | undefined {
  if (charactersOf(part) > Math.min(size, mostCharacters)) return 'it has more bytes than the provider accepts'
  const longer = longerSide(part)
  return longer > side ? `it is ${longer} pixels long, and the provider accepts ${side}` : undefined
}

/** The oldest are removed, in steps of half the limit, so that the prefix changes rarely. */
function firstSent(media: readonly MediaPart[], { maxImages = Infinity, imageLimits }: Limits): number {
  const { over, side } = imageLimits?.many ?? { over: Infinity, side: Infinity }
  let first = 0
  let characters = 0
  let large = 0
  for (const [i, part] of media.entries()) {
    add(part, 1)
    if (!exceeds(i - first + 1, 1)) continue
    while (first < i && exceeds(i - first + 1, 0.5)) {
      add(media[first++] as MediaPart, -1)
    }
  }
  return first

  function add(part: MediaPart, sign: 1 | -1): void {
    characters += sign * charactersOf(part)
    if (longerSide(part) > side) large += sign
  }

  function exceeds(count: number, share: number): boolean {
    return (
      count > maxImages * share ||
      characters > mostCharacters * share ||
      (large > 0 && count > Math.max(1, over * share))
    )
  }
}

function notesFor(removed: readonly MediaPart[], reasons: ReadonlyMap<MediaPart, string>, at: string): Note[] {
  const byReason = Map.groupBy(removed, (part) => reasons.get(part) as string)
  return [...byReason].map(([why, parts]) => {
    const what = parts.length === 1 ? (parts[0]?.name ?? parts[0]?.mediaType ?? '') : `${parts.length} images or files`
    return { kind: 'dropped', what, why, at, rule: 'fit' }
  })
}

function withoutMedia(message: Message, removed: ReadonlyMap<MediaPart, string>): Message {
  const replaced = <P extends UserMessage['parts'][number]>(part: P): P | TextPart =>
    part.type === 'media' && removed.has(part) ? { type: 'text', text: mediaStandIn(part.mediaType, part.name) } : part
  if (message.role === 'user') return { ...message, parts: message.parts.map(replaced) }
  if (message.role !== 'tool') return message
  return { ...message, parts: message.parts.map((part) => ({ ...part, output: part.output.map(replaced) })) }
}

function longerSide(part: MediaPart): number {
  const size = pixelsOf(part)
  return size ? Math.max(size.width, size.height) : 0
}

function charactersOf({ data }: MediaPart): number {
  return data.kind === 'base64' ? data.base64.length : 0
}
