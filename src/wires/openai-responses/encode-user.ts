// System and user messages in the middle of a history, as input items.

import type { Note } from '../../core/context.ts'
import { isObject, type JsonObject } from '../../core/json.ts'
import type { SystemMessage, UserMessage } from '../../core/message.ts'
import type { Target } from '../wire.ts'
import { cleanText } from '../shared/text.ts'
import { mediaStandIn, summaryLabel, systemLabel } from '../shared/injected-text.ts'
import { writeMedia } from './encode-media.ts'
import type { ReplyScope } from './reply-scope.ts'
import { answeredKey, isOpenAI, messageItem, protocolId, typeOf, withoutClientFields, type Item } from './types.ts'

export function writeSystem(message: SystemMessage, at: string, target: Target, notes: Note[]): Item[] {
  const text = message.parts
    .map((part) => cleanText(part.text, at, notes))
    .filter((words) => words !== '')
    .join('\n\n')
  if (text === '') return []
  if (target.capabilities.midSystem && !target.quirks.alternate)
    return [messageItem(target.capabilities.systemRole ?? 'system', text)]
  notes.push({ kind: 'changed', what: 'system message to user message', why: 'the model takes none in the middle', at })
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
          notes.push({ kind: 'changed', what: `${part.mediaType} to text`, why: 'the target cannot take it', at })
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
