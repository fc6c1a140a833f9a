// System messages, user messages, tool results and media, as input items.

import type { Note } from '../../core/context.ts'
import { isObject, type JsonObject } from '../../core/json.ts'
import type { MediaPart, SystemMessage, ToolResultPart, UserMessage } from '../../core/message.ts'
import { emptyResultText, mediaStandIn, summaryLabel, systemLabel } from '../shared/injected-text.ts'
import { dataUrl, acceptsMedia } from '../shared/media.ts'
import { cleanText } from '../shared/text.ts'
import type { Target } from '../wire.ts'
import type { ReplyScope } from './reply-scope.ts'
import { answeredKey, isOpenAI, type Item, messageItem, protocolId, typeOf, withoutClientFields } from './types.ts'

export function writeSystem(message: SystemMessage, at: string, target: Target, notes: Note[]): Item[] {
  const text = message.parts
    .map((part) => cleanText(part.text, at, notes))
    .filter((text) => text !== '')
    .join('\n\n')
  if (text === '') return []
  if (target.capabilities.midSystem && !target.quirks.alternate)
    return [messageItem(target.capabilities.systemRole ?? 'system', text)]
  notes.push({
    kind: 'changed',
    what: 'system message to user message',
    why: 'the model supports none in the middle',
    at,
  })
  return [messageItem('user', `${systemLabel}\n${text}`)]
}

/** `chained`: the provider has what came before. */
export function writeUser(message: UserMessage, at: string, scope: ReplyScope, chained: boolean): Item[] {
  const { target, notes } = scope
  const items: Item[] = []
  let content: JsonObject[] = []
  const say = (text: string) => {
    if (text !== '') content.push({ type: 'input_text', text: cleanText(text, at, notes) })
  }
  const drop = (what: string, why: string) => notes.push({ kind: 'dropped', what, why, at })
  const flush = () => {
    if (content.length > 0) items.push(messageItem('user', simplest(content, target)))
    content = []
  }

  for (const part of message.parts) {
    switch (part.type) {
      case 'text':
        say(part.text)
        break
      case 'media': {
        const media = writeMedia(part, target.capabilities.media, target)
        if (media) content.push(media)
        else {
          say(mediaStandIn(part.mediaType, part.name))
          notes.push({ kind: 'changed', what: `${part.mediaType} to text`, why: 'the target does not support it', at })
        }
        break
      }
      case 'compaction':
        if (part.text) say(`${summaryLabel}\n${part.text}`)
        else drop('compaction', 'it has no words that can be sent')
        break
      case 'opaque': {
        const { data } = part
        if (!part.kind.startsWith(`${protocolId}/`) || !isObject(data) || !isOpenAI(target.provider)) {
          drop(part.kind, 'another wire has no word for it')
        } else if (typeOf(data).startsWith('input_')) content.push(data)
        else if (typeOf(data) === 'item_reference') drop(part.kind, 'it represents an item that only the provider has')
        else if (!chained && answeredKey(data) !== undefined && !scope.isAsked(answeredKey(data) ?? '')) {
          drop(part.kind, 'the call that it answers is not sent')
        } else {
          flush()
          items.push({ ...withoutClientFields(data, target.provider), type: typeOf(data) })
        }
      }
    }
  }
  flush()
  return items
}

/**
 * A plain string if that is enough; with cache marks always the long form, so that a moved mark changes nothing else.
 */
function simplest(content: JsonObject[], target: Target): string | JsonObject[] {
  const text = content.length === 1 ? content[0]?.text : undefined
  return typeof text === 'string' && !target.capabilities.cacheMarks ? text : content
}

// A tool result as an output. It can contain images and files; the wire has no flag for a failure.

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
      why: later ? 'a tool result cannot contain it' : 'the target does not support it',
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
  const index = inside.findIndex((part) => part.type === 'input_text')
  inside[index] = { type: 'input_text', text: errorPrefix + first }
}

function followsText(part: MediaPart): string {
  return `[${part.mediaType}${part.name ? ` ${JSON.stringify(part.name)}` : ''}, in the next message]`
}

// Media as content of user messages and of tool outputs: both use the same parts here.

/** The content part for a medium, or undefined if the target does not support it. */
function writeMedia(part: MediaPart, patterns: readonly string[], target: Target): JsonObject | undefined {
  if (!acceptsMedia(patterns, part.mediaType)) return undefined
  const { data } = part
  const isImage = part.mediaType.startsWith('image/')
  switch (data.kind) {
    case 'base64': {
      const url = dataUrl(part.mediaType, data.base64)
      if (isImage) return { type: 'input_image', image_url: url, detail: 'auto' }
      return { type: 'input_file', filename: part.name ?? defaultName(part.mediaType), file_data: url }
    }
    case 'url':
      if (!target.capabilities.mediaUrls) return undefined
      if (isImage) return { type: 'input_image', image_url: data.url, detail: 'auto' }
      return { type: 'input_file', file_url: data.url }
    case 'file':
      if (data.provider !== target.provider) return undefined
      if (isImage) return { type: 'input_image', file_id: data.fileId, detail: 'auto' }
      return { type: 'input_file', file_id: data.fileId }
    case 'blob':
      return undefined
  }
}

/** The server reads the type of a file from its name, so a file without one gets one. */
function defaultName(mediaType: string): string {
  const subtype = mediaType.slice(mediaType.indexOf('/') + 1)
  const extension = subtype === 'plain' ? 'txt' : subtype === 'markdown' ? 'md' : /^[a-z0-9]{1,5}$/.exec(subtype)?.[0]
  return extension ? `file.${extension}` : 'file'
}
