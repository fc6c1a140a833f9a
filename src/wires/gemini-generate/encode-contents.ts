// Messages as contents. Everything between two replies becomes one user content, function responses first: the API
// joins neighbours of one role itself (checked 2026-11 on recorded requests), and joined is what every model takes.
//
// Nothing is joined over a reply, not even over one that could not be sent: the contents of a shorter history must
// stay a prefix of those of a longer one (P4). For the same reason a reply after a reply gets a "Continue." between.

import type { Context } from '../../core/context.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import type { Message, Reply, SystemMessage, ToolResultPart, UserMessage } from '../../core/message.ts'
import { takesMedia } from '../shared/media.ts'
import { cleanText } from '../shared/text.ts'
import { normaliseTurns, turnOf, wireList, type Turn } from '../shared/turns.ts'
import { continueText, emptyResultText, mediaStandIn, systemLabel } from '../shared/injected-text.ts'
import { encodeReply, mediaPart, opaquePart, summaryPart, textPart, type Writing } from './encode-reply.ts'
import type { GeminiContent, GeminiPart } from './types.ts'

/** `whole`: a request, with what the wire misses at either end. `bare`: these messages and no more. */
export function encodeContents(context: Context, write: Writing, extent: 'whole' | 'bare'): GeminiContent[] {
  const turns: Turn<GeminiPart>[] = []
  let stretch: Said[] = []
  const endStretch = () => {
    const turn = stretchOf(stretch)
    if (turn.items.length > 0) turns.push(turn)
    stretch = []
  }

  const said = (message: Exclude<Message, Reply>, at: string) => encodeSaid(message, at, write)
  const replied = (reply: Reply, at: string) => replyTurn(reply, at, write)
  for (const [index, message] of context.messages.entries()) {
    if (message.role !== 'assistant') {
      stretch.push(write.cached(message, index, said))
      continue
    }
    endStretch()
    const turn = write.cached(message, index, replied)
    if (turn.items.length === 0) continue
    const before = turns.at(-1)
    if (extent === 'whole' && before?.role === 'assistant') turns.push(between(turn, write))
    turns.push(turn)
  }
  endStretch()

  const turnRules = { text: (text: string): GeminiPart => ({ text }), join: [] }
  const ends = extent === 'whole' ? { startWithUser: true, endWithUser: 'G-5' } : {}
  return wireList(normaliseTurns(turns, { ...turnRules, ...ends }, write.notes), ({ role, items }) => [
    { role: role === 'assistant' ? 'model' : 'user', parts: items },
  ])
}

function replyTurn(reply: Reply, at: string, write: Writing): Turn<GeminiPart> {
  const items = encodeReply(reply, at, write)
  if (items.length === 0) {
    write.notes.push({ kind: 'dropped', what: 'assistant message', why: 'nothing in it can be sent', at })
  }
  return turnOf('assistant', items, at)
}

/** What one message between two replies gives to the content that they become. */
interface Said {
  at: string
  responses: GeminiPart[]
  media: GeminiPart[]
  rest: GeminiPart[]
  /** What became of it, together with those after it. */
  turn?: { of: readonly Said[]; turn: Turn<GeminiPart> }
}

function stretchOf(said: readonly Said[]): Turn<GeminiPart> {
  const known = said[0]?.turn
  if (known?.of.length === said.length && known.of.every((one, i) => one === said[i])) return known.turn
  const items = [
    ...said.flatMap(({ responses }) => responses),
    ...said.flatMap(({ media }) => media),
    ...said.flatMap(({ rest }) => rest),
  ]
  const turn = turnOf('user', items, said[0]?.at ?? '')
  if (said[0]) said[0].turn = { of: said, turn }
  return turn
}

function between(reply: Turn<GeminiPart>, { notes }: Writing): Turn<GeminiPart> {
  const what = `user message ${JSON.stringify(continueText)}`
  notes.push({ kind: 'added', what, why: 'the wire wants roles to take turns', at: reply.at, rule: 'G-11' })
  return (reply.opening ??= turnOf('user', [{ text: continueText }], ''))
}

function encodeSaid(message: Exclude<Message, Reply>, at: string, write: Writing): Said {
  if (message.role === 'tool') {
    const results = message.parts.map((part) => encodeResult(part, at, write))
    const responses = results.map(({ response }) => response)
    return { at, responses, media: results.flatMap(({ media }) => media), rest: [] }
  }
  const rest = message.role === 'user' ? encodeUser(message, at, write) : encodeSystem(message, at, write)
  if (rest.length === 0) {
    write.notes.push({ kind: 'dropped', what: `${message.role} message`, why: 'nothing in it can be sent', at })
  }
  return { at, responses: [], media: [], rest }
}

function encodeUser(message: UserMessage, at: string, write: Writing): GeminiPart[] {
  return message.parts.flatMap((part): GeminiPart[] => {
    switch (part.type) {
      case 'text':
        return textPart(part.text, at, write)
      case 'media':
        return [mediaPart(part, at, write)]
      case 'compaction':
        return summaryPart(part, at, write)
      default:
        return opaquePart(part, at, write)
    }
  })
}

function encodeSystem(message: SystemMessage, at: string, write: Writing): GeminiPart[] {
  const text = message.parts.map((part) => part.text).join('\n')
  if (text === '') return []
  const why = 'a system message cannot stand inside the history'
  write.notes.push({ kind: 'changed', what: 'system message to user text', why, at, rule: 'G-1' })
  return textPart(`${systemLabel}\n${text}`, at, write)
}

/** One function response, and the media of it that the response itself cannot hold. */
function encodeResult(part: ToolResultPart, at: string, write: Writing): { response: GeminiPart; media: GeminiPart[] } {
  const texts: string[] = []
  const inside: GeminiPart[] = []
  const media: GeminiPart[] = []
  for (const output of part.output) {
    if (output.type === 'text') {
      if (output.text !== '') texts.push(cleanText(output.text, at, write.notes))
      continue
    }
    const written = mediaPart(output, at, write)
    if (written.text !== undefined) {
      texts.push(mediaStandIn(output.mediaType, output.name))
    } else if (takesMedia(write.target.capabilities.resultMedia, output.mediaType)) {
      inside.push(written)
    } else {
      texts.push(followingText(output.mediaType, output.name))
      media.push(written)
      const what = `${output.mediaType} of a tool result to a part after the results`
      write.notes.push({ kind: 'changed', what, why: 'a function response cannot hold it', at })
    }
  }
  const text = texts.length > 0 || inside.length > 0 ? texts.join('\n') : emptyResultText
  const id = write.resultId(part.callId)
  const response: JsonObject = {
    ...(id !== undefined && { id }),
    name: write.resultName(part),
    // Must be an object; `output` and `error` are the keys that models are taught.
    response: part.failed ? { error: text } : { output: text },
    ...(inside.length > 0 && { parts: inside satisfies Json[] }),
  }
  return { response: { functionResponse: response }, media }
}

function followingText(mediaType: string, name: string | undefined): string {
  return `[${mediaType}${name ? ` ${JSON.stringify(name)}` : ''}, follows below]`
}
