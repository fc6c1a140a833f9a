// Finds a tool result by the number that its fold shows.

import type { Message, Part, ToolCallPart, ToolMessage, ToolResultPart } from '../core/message.ts'
import { resultNumbers } from './fold-text.ts'
import { findToolTurns } from './tool-turns.ts'
import { wholeView } from './view.ts'

export interface NumberedResult {
  call?: ToolCallPart
  result: ToolResultPart
}

/** Searched in the history as it is sent, where results are in the order of their calls. */
export function numberedResult(history: readonly Message[], number: string): NumberedResult | undefined {
  const first = history.findIndex((message) => message.role !== 'system')
  const { messages, places } = wholeView(history.slice(Math.max(0, first)), Math.max(0, first))
  const place = Number.parseInt(number, 10)
  for (const { start, end } of findToolTurns(messages)) {
    if (!places.slice(start, end).includes(place)) continue
    const numbers = resultNumbers(messages.slice(start + 1, end) as ToolMessage[], places.slice(start + 1, end))
    for (const [result, resultNumber] of numbers) {
      if (resultNumber !== number) continue
      const parts: readonly Part[] = messages[start]?.parts ?? []
      const call = parts.find((part) => part.type === 'tool-call' && part.callId === result.callId)
      return { result, ...(call?.type === 'tool-call' && { call }) }
    }
  }
  return undefined
}
