// What a chat format has no field for, written as text instead of being lost.

import type { MediaPart, Part, Reply, TextPart, ToolResultPart } from '../../core/message.ts'
import { flatCall, flatResult, flatResultLabel, mediaStandIn, summaryLabel } from './injected-text.ts'

export function replyAsText(reply: Reply): Reply {
  return { ...reply, parts: reply.parts.map(partAsText) }
}

function partAsText(part: Part): Part {
  switch (part.type) {
    case 'compaction':
      return { type: 'text', text: `${summaryLabel}\n${part.text ?? ''}` }
    case 'media':
      return { type: 'text', text: mediaStandIn(part.mediaType, part.name) }
    case 'server-tool': {
      const asked = flatCall(part.name, part.input ?? {})
      if (part.output === undefined) return { type: 'text', text: asked }
      const given = flatResult(flatResultLabel, part.name, JSON.stringify(part.output), false)
      return { type: 'text', text: `${asked}\n${given}` }
    }
    default:
      return part
  }
}

/** The output of a result if the format cannot mark a failed one. */
export function outputAsText(result: ToolResultPart): (TextPart | MediaPart)[] {
  const [first, ...rest] = result.output
  if (!result.failed || (first?.type === 'text' && first.text.startsWith('Error: '))) return result.output
  if (first?.type === 'text') return [{ ...first, text: `Error: ${first.text}` }, ...rest]
  return [{ type: 'text', text: 'Error: ' }, ...result.output]
}
