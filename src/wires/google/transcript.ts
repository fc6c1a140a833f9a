// What the two Gemini formats have in common: results between user parts, files at Google, and how a file is written.

import type { Context } from '../../core/context.ts'
import type { Json } from '../../core/json.ts'
import type { MediaPart, Message, ToolMessage, ToolResultPart, UserMessage } from '../../core/message.ts'
import type { Encoding } from '../shared/pieces.ts'
import { writeBySource } from '../shared/transcript.ts'
import type { Target, Wire } from '../wire.ts'

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

const provider = 'google'
const everything = ['image/*', 'audio/*', 'video/*', 'application/*', 'text/*']

/** Messages as the items of a file: those of this format unchanged, the others by `encode`. */
export function writeItems(
  messages: readonly Message[],
  { id, capabilities }: Pick<Wire, 'id' | 'capabilities'>,
  encodingFor: (context: Context, target: Target, keepThoughts: boolean) => Encoding,
  encode: (context: Context, encoding: Encoding) => Json[],
): Json[] {
  const ours = messages.map((message) =>
    message.role === 'assistant' && message.origin.protocol === id
      ? { ...message, origin: { ...message.origin, provider } }
      : message,
  )
  // A file may contain what a model would refuse.
  const target: Target = {
    provider,
    model: '',
    options: {},
    quirks: {},
    capabilities: { ...capabilities, media: everything, resultMedia: everything, signedCalls: false },
  }
  const empty = { system: [], tools: [], cacheAfter: [] }
  // Ids are collected over the whole conversation: a result may be new while its call is not.
  const encoding = encodingFor({ ...empty, messages: ours }, target, true)
  return writeBySource(ours, id, (run) => encode({ ...empty, messages: run }, encoding))
}
