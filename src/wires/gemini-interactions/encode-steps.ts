// Messages as steps. Steps are flat, so nothing has to be joined, and a longer history always begins with the steps of
// a shorter one (P4).

import type { Context } from '../../core/context.ts'
import type { Message, SystemMessage, ToolResultPart, UserMessage } from '../../core/message.ts'
import { takesMedia } from '../shared/media.ts'
import { cleanText } from '../shared/text.ts'
import { normaliseTurns, turnOf, wireList, type Turn } from '../shared/turns.ts'
import { emptyResultText, mediaStandIn, systemLabel } from '../shared/injected-text.ts'
import { encodeReply, mediaContent, opaqueContent, summaryContent, textContents, type Writing } from './encode-reply.ts'
import { textContent, userInput, type Content, type Step } from './types.ts'

/**
 * `whole`: a request without state, with what the wire misses at either end. `from`: the rest of one that a chain
 * begins. `bare`: these messages and no more.
 */
export type Extent = 'whole' | 'bare' | { from: number }

export function encodeSteps(context: Context, write: Writing, extent: Extent): Step[] {
  const first = typeof extent === 'object' ? extent.from : 0
  const turns: Turn<Step>[] = []
  /** Media of the results so far, to be shown after the last of them. */
  let media: Content[] = []
  const showMedia = () => {
    if (media.length > 0) turns.push(turnOf('user', [userInput(media)], ''))
    media = []
  }

  const written = (message: Message, at: string) => writeMessage(message, at, write)
  for (const [index, message] of context.messages.entries()) {
    if (index < first) continue
    if (message.role !== 'tool') showMedia()
    const turn = write.cached(message, index, written)
    turns.push(turn)
    if (turn.media) media.push(...turn.media)
  }
  showMedia()

  const turnRules = { text: (text: string) => userInput([textContent(text)]), join: [] }
  const ends = extent === 'bare' ? {} : { startWithUser: extent === 'whole', endWithUser: 'G-5' }
  return wireList(normaliseTurns(turns, { ...turnRules, ...ends }, write.notes), (turn) => turn.items)
}

interface Written extends Turn<Step> {
  /** Of results, to be shown after the last of them. */
  media?: Content[]
}

function writeMessage(message: Message, at: string, write: Writing): Written {
  if (message.role === 'tool') {
    const results = message.parts.map((part) => encodeResult(part, at, write))
    const media = results.flatMap((result) => result.media)
    const steps = results.map(({ step }) => step)
    return media.length > 0 ? { ...turnOf('tool', steps, at), media } : turnOf('tool', steps, at)
  }
  if (message.role === 'assistant') return turnOf('assistant', encodeReply(message, at, write), at)
  const content = message.role === 'user' ? encodeUser(message, at, write) : encodeSystem(message, at, write)
  return turnOf('user', content.length > 0 ? [userInput(content)] : [], at)
}

function encodeUser(message: UserMessage, at: string, write: Writing): Content[] {
  return message.parts.flatMap((part): Content[] => {
    switch (part.type) {
      case 'text':
        return textContents(part.text, at, write)
      case 'media':
        return [mediaContent(part, at, write)]
      case 'compaction':
        return summaryContent(part, at, write)
      default:
        return opaqueContent(part, at, write)
    }
  })
}

function encodeSystem(message: SystemMessage, at: string, write: Writing): Content[] {
  const text = message.parts.map((part) => part.text).join('\n')
  if (text === '') return []
  const why = 'a system message cannot stand inside the history'
  write.notes.push({ kind: 'changed', what: 'system message to user text', why, at, rule: 'G-1' })
  return textContents(`${systemLabel}\n${text}`, at, write)
}

/** One result, and the media of it that a result cannot hold. */
function encodeResult(part: ToolResultPart, at: string, write: Writing): { step: Step; media: Content[] } {
  const inside: Content[] = []
  const media: Content[] = []
  for (const output of part.output) {
    if (output.type === 'text') {
      if (output.text !== '') inside.push(textContent(cleanText(output.text, at, write.notes)))
      continue
    }
    const written = mediaContent(output, at, write)
    if (written.type === 'text') {
      inside.push(textContent(mediaStandIn(output.mediaType, output.name)))
    } else if (takesMedia(write.target.capabilities.resultMedia, output.mediaType)) {
      inside.push(written)
    } else {
      const name = output.name === undefined ? '' : ` ${JSON.stringify(output.name)}`
      inside.push(textContent(`[${output.mediaType}${name}, follows below]`))
      media.push(written)
      const what = `${output.mediaType} of a tool result to user input after the results`
      write.notes.push({ kind: 'changed', what, why: 'a function result cannot hold it', at })
    }
  }
  const texts = inside.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []))
  const plain = texts.length === inside.length
  return {
    step: {
      type: 'function_result',
      call_id: write.wireId(part.callId),
      name: write.resultName(part),
      result: plain ? texts.join('\n') || emptyResultText : inside,
      ...(part.failed && { is_error: true }),
    },
    media,
  }
}
