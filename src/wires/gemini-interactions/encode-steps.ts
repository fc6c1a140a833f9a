// Messages as steps. Steps are flat, so nothing has to be merged, and a longer history always begins with the steps of
// a shorter one (P4).

import type { Context } from '../../core/context.ts'
import type { Message, ToolResultPart } from '../../core/message.ts'
import { isText, resultPieces, systemPieces, userPieces, type Writing } from '../shared/pieces.ts'
import { emptyResultText } from '../shared/injected-text.ts'
import { normaliseTurns, turnOf, wireList, type Turn } from '../shared/turns.ts'
import { encodeReply } from './encode-reply.ts'
import { textContent, userInput, type Content, type Step } from './types.ts'

/**
 * `whole`: a stateless request, with missing turns added at either end. `from`: the rest of a chain. `bare`: these
 * messages and no more.
 */
export type Extent = 'whole' | 'bare' | { from: number }

export function encodeSteps(context: Context, write: Writing, extent: Extent): Step[] {
  const first = typeof extent === 'object' ? extent.from : 0
  const turns: Turn<Step>[] = []
  /** Media of the results so far, to be shown after the last of them. */
  let media: Content[] = []
  let shownFrom: string[] = []
  const showMedia = () => {
    if (media.length === 0) return
    turns.push(turnOf('user', [userInput(media)], '', shownFrom))
    media = []
    shownFrom = []
  }

  const written = (message: Message, at: string) => writeMessage(message, at, write)
  for (let index = first; index < context.messages.length; index++) {
    const message = context.messages[index] as Message
    if (message.role !== 'tool') showMedia()
    const turn = write.cached(message, index, written)
    turns.push(turn)
    if (!turn.media) continue
    media.push(...turn.media)
    shownFrom.push(...turn.from)
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
  const content = message.role === 'user' ? userPieces(message, at, write) : systemPieces(message, at, write)
  return turnOf('user', content.length > 0 ? [userInput(content)] : [], at)
}

/** One result, and its media that a result cannot contain. */
function encodeResult(part: ToolResultPart, at: string, write: Writing): { step: Step; media: Content[] } {
  const { inside, after } = resultPieces(part, at, write)
  const texts = inside.flatMap((piece) => (isText(piece) ? [piece.text] : []))
  const isPlain = texts.length === inside.length
  return {
    step: {
      type: 'function_result',
      call_id: write.wireId(part.callId),
      name: write.resultName(part),
      result: isPlain ? texts.join('\n') || emptyResultText : inside,
      ...(part.failed && { is_error: true }),
    },
    media: after,
  }
}
