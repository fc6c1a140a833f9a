// A tool result as an output. It can contain images and files; the wire has no flag for a failure.

import type { Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import type { MediaPart, ToolResultPart } from '../../core/message.ts'
import type { Target } from '../wire.ts'
import { cleanText } from '../shared/text.ts'
import { emptyResultText, mediaStandIn } from '../shared/injected-text.ts'
import { writeMedia } from './encode-media.ts'

export interface Output {
  content: string | JsonObject[]
  /** Only the text, for an output that supports nothing else. */
  text: string
  /** Media that must come after the tool turn, as a user message. */
  late: JsonObject[]
}

const errorPrefix = 'Error: '

/** `wordsOnly`: the output is one of several in a shared item, which supports only text. */
export function writeOutput(
  result: ToolResultPart,
  at: string,
  target: Target,
  wordsOnly: boolean,
  notes: Note[],
): Output {
  const inside: JsonObject[] = []
  const late: JsonObject[] = []
  const texts: string[] = []
  const say = (text: string) => {
    texts.push(text)
    inside.push({ type: 'input_text', text })
  }
  for (const part of result.output) {
    if (part.type === 'text') {
      if (part.text !== '') say(cleanText(part.text, at, notes))
      continue
    }
    const media = wordsOnly ? undefined : writeMedia(part, target.capabilities.resultMedia, target)
    if (media) {
      inside.push(media)
      continue
    }
    const later = writeMedia(part, target.capabilities.media, target)
    say(later ? followsText(part) : mediaStandIn(part.mediaType, part.name))
    notes.push({
      kind: 'changed',
      what: later ? `${part.mediaType} of a tool result to a user message` : `${part.mediaType} to text`,
      why: later ? 'a tool result cannot hold it' : 'the target cannot take it',
      at,
    })
    if (later) late.push(later)
  }
  if (inside.length === 0) say(emptyResultText)
  if (result.failed) markFailed(inside, texts)

  const hasMedia = inside.some((part) => part.type !== 'input_text')
  const text = texts.join('\n')
  const long = hasMedia || target.capabilities.cacheMarks
  return { content: long ? (hasMedia ? inside : [{ type: 'input_text', text }]) : text, text, late }
}

function markFailed(inside: JsonObject[], texts: string[]): void {
  const [first] = texts
  if (first?.startsWith(errorPrefix)) return
  if (first === undefined) {
    texts.push(errorPrefix.trim())
    inside.unshift({ type: 'input_text', text: errorPrefix.trim() })
    return
  }
  texts[0] = errorPrefix + first
  const at = inside.findIndex((part) => part.type === 'input_text')
  inside[at] = { type: 'input_text', text: errorPrefix + first }
}

function followsText(part: MediaPart): string {
  return `[${part.mediaType}${part.name ? ` ${JSON.stringify(part.name)}` : ''}, in the next message]`
}
