// One sentence that tells the model how to retrieve what is no longer in the request: at the first fold of a view, or
// at its summary. It appears once, so that it costs little and never moves (P4).

import type { Message, TextPart, ToolResultPart } from '../core/message.ts'
import type { View } from './view.ts'

export const recallName = 'recall'

const atFold = 'The tool `recall` reads the whole result of a tool use by its number.'
const atSummary = 'The tool `recall` finds what this summary leaves out.'

/** `isFold` identifies messages that are folds. */
export function mentionRecall(view: View, isFold: (message: Message) => boolean): View {
  const index = view.messages.findIndex((message) => isFold(message) || isSummary(message))
  const message = view.messages[index]
  if (!message) return view
  return { ...view, messages: view.messages.with(index, withMention(message)) }
}

function isSummary({ parts }: Message): boolean {
  return parts.length === 1 && parts[0]?.type === 'compaction' && parts[0].from === undefined
}

const mentioning = new WeakMap<Message, Message>()

function withMention(message: Message): Message {
  let changed = mentioning.get(message)
  if (!changed) {
    changed = addMention(message)
    mentioning.set(message, changed)
  }
  return changed
}

function addMention(message: Message): Message {
  if (message.role === 'tool')
    return { ...message, parts: message.parts.map((part, i) => (i === 0 ? mentionInResult(part) : part)) }
  if (message.role !== 'user') return message
  const [first, ...rest] = message.parts
  if (first?.type === 'text') return { ...message, parts: [mentionInText(first), ...rest] }
  if (first?.type !== 'compaction') return message
  return { ...message, parts: [{ ...first, text: `${first.text ?? ''}\n\n${atSummary}` }, ...rest] }
}

function mentionInResult(result: ToolResultPart): ToolResultPart {
  return { ...result, output: result.output.map((part) => (part.type === 'text' ? mentionInText(part) : part)) }
}

function mentionInText(part: TextPart): TextPart {
  return { ...part, text: `${atFold}\n${part.text}` }
}
