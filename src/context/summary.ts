// A summary in words: what a model is asked for one, and one without any model for when that fails. The request for a
// summary must itself fit, so the history is written as text, each message as long as there is room for it.

import { callsOf, textOf, type Message } from '../core/message.ts'
import { mediaStandIn } from '../wires/shared/injected-text.ts'
import { estimateMessage, estimateTokens } from './count.ts'
import type { CompactionSettings } from '../settings/policy.ts'
import type { View } from './view.ts'
import { startOfLast } from './window.ts'

export const usualBudget = 2000
const usualKeep = 20
/** How much of what the model reads may stay beside a summary. */
const keptShare = 0.25

export const summaryPrompt = `You keep the memory of a conversation between a user and an assistant with tools.
Write down what someone who continues with it must know: what the user wants and has said to mind, what was decided and why,
what was done and found (names, paths, numbers and identifiers exactly as they are), what is still open, and what was tried and failed.
Where a summary of earlier parts is given, bring it up to date instead of writing a new one: keep what still holds.
Answer with the summary alone, in plain text. Do not answer or continue the conversation.`

/** Where the stretch ends that a summary is to represent: an index of the view, or nothing if there is too little. */
export function stretchEnd(view: View, { keep = usualKeep }: CompactionSettings, limit: number): number | undefined {
  const sizes = view.messages.map(estimateMessage)
  const byCount = startOfLast(view.messages, keep)
  const bySize = Number.isFinite(limit) ? startOfLast(view.messages, limit * keptShare, sizes) : 0
  const end = Math.max(byCount, bySize)
  const fresh = view.places.slice(0, end).some((place) => place >= 0)
  return fresh ? end : undefined
}

/** What the summarising model is given to read, in at most `room` tokens. */
export function historyAsText(messages: readonly Message[], previous: string | undefined, room: number): string {
  const head = previous === undefined ? [] : [`Summary of what came before:\n${previous}`]
  for (const length of [8000, 3000, 1000, 300, 100]) {
    const lines = messages.flatMap((message) => linesOf(message, length))
    const text = [...head, 'The conversation:', ...lines].join('\n\n')
    if (estimateTokens(text) <= room) return text
  }
  const lines = messages.flatMap((message) => linesOf(message, 100))
  return shortened([...head, 'The conversation:', ...lines].join('\n\n'), Math.max(200, Math.floor(room * 2)))
}

/** A summary without a model: what was asked, which tools were used, what was answered last. */
export function plainSummary(messages: readonly Message[], previous: string | undefined, budget: number): string {
  const tools = new Map<string, number>()
  for (const message of messages) for (const { name } of callsOf(message)) tools.set(name, (tools.get(name) ?? 0) + 1)
  const asked = messages.flatMap((message) => (message.role === 'user' ? [textOf(message.parts).trim()] : []))
  const told = messages.flatMap((message) => (message.role === 'assistant' ? [textOf(message.parts).trim()] : []))
  const length = Math.max(60, Math.floor((budget * 3) / (asked.filter(Boolean).length + 6)))
  const lines = [
    previous === undefined ? '' : shortened(previous, budget),
    `${messages.length} earlier messages are not shown here; this was put together without a model.`,
    ...asked.filter((text) => text !== '').map((text) => `The user said: ${shortened(text, length)}`),
    tools.size === 0 ? '' : `Tools were used: ${[...tools].map(([name, count]) => `${name} ×${count}`).join(', ')}.`,
    ...told
      .filter((text) => text !== '')
      .slice(-3)
      .map((text) => `The assistant said: ${shortened(text, length)}`),
  ]
  return shortened(lines.filter((line) => line !== '').join('\n'), Math.max(400, budget * 4))
}

function linesOf(message: Message, length: number): string[] {
  const role = { system: 'System', user: 'User', assistant: 'Assistant', tool: 'Tool' }[message.role]
  return message.parts.flatMap((part): string[] => {
    switch (part.type) {
      case 'text':
      case 'refusal':
        return part.text.trim() === '' ? [] : [`${role}: ${shortened(part.text, length)}`]
      case 'compaction':
        return part.text ? [`Earlier summary: ${part.text}`] : []
      case 'media':
        return [`${role}: ${mediaStandIn(part.mediaType, part.name)}`]
      case 'tool-call':
        return [`Assistant calls ${part.name} with ${shortened(part.malformed ?? JSON.stringify(part.input), length)}`]
      case 'tool-result': {
        const text = part.output.map((one) => (one.type === 'text' ? one.text : mediaStandIn(one.mediaType, one.name)))
        return [`${part.name} ${part.failed ? 'failed' : 'answered'}: ${shortened(text.join('\n'), length)}`]
      }
      case 'server-tool':
        return [`The provider ran ${part.name}: ${shortened(JSON.stringify(part.output ?? part.input ?? {}), length)}`]
      default:
        return []
    }
  })
}

/** Both ends, because results say what they are at the beginning and how they went at the end. */
function shortened(text: string, length: number): string {
  if (text.length <= length) return text
  const half = Math.floor(length / 2)
  return `${text.slice(0, half).toWellFormed()} … ${text.slice(-half).toWellFormed()}`
}
