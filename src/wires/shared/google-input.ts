// What the two Gemini formats have in common: results between user parts, and files at Google.

import type { MediaPart, ToolMessage, ToolResultPart, UserMessage } from '../../core/message.ts'

/** Results and other user parts, each run of them as a separate message. */
export function inRuns(
  parts: readonly (ToolResultPart | UserMessage['parts'][number])[],
): (UserMessage | ToolMessage)[] {
  const messages: (UserMessage | ToolMessage)[] = []
  for (const part of parts) {
    const last = messages.at(-1)
    if (part.type === 'tool-result') {
      if (last?.role === 'tool') last.parts.push(part)
      else messages.push({ role: 'tool', parts: [part] })
    } else if (last?.role === 'user') last.parts.push(part)
    else messages.push({ role: 'user', parts: [part] })
  }
  return messages.length > 0 ? messages : [{ role: 'user', parts: [] }]
}

/** Files at Google are not accessible to others. */
export function fileAt(uri: string): MediaPart['data'] {
  return /^gs:|^https:\/\/generativelanguage\.googleapis\.com\//.test(uri)
    ? { kind: 'file', fileId: uri, provider: 'google' }
    : { kind: 'url', url: uri }
}
