// Short ways to say for whom a context is written, and to read what comes back.

import type { Context, Note } from '../../../src/core/context.ts'
import { fold, type Folded } from '../../../src/core/fold.ts'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { Message, Origin } from '../../../src/core/message.ts'
import type { Options } from '../../../src/settings/options.ts'
import type { Capabilities, DecoderOptions, EndCause, Quirks, Target } from '../../../src/wires/wire.ts'
import { openaiChat } from '../../../src/wires/openai-chat/index.ts'

export interface Wanted {
  provider?: string
  model?: string
  options?: Options
  quirks?: Quirks
  capabilities?: Partial<Capabilities>
}

export function target(wanted: Wanted = {}): Target {
  return {
    provider: wanted.provider ?? 'openai',
    model: wanted.model ?? 'gpt-4o',
    options: wanted.options ?? {},
    quirks: wanted.quirks ?? {},
    capabilities: { ...openaiChat.capabilities, ...wanted.capabilities },
  }
}

export function context(messages: Message[], more: Partial<Context> = {}): Context {
  return { system: [], messages, tools: [], cacheAfter: [], ...more }
}

export function sent(
  messages: Message[],
  wanted: Wanted = {},
  more: Partial<Context> = {},
): { messages: Json; body: JsonObject; notes: Note[] } {
  const { body, notes } = openaiChat.encode(context(messages, more), target(wanted))
  return { messages: body.messages ?? [], body, notes }
}

export const origin: Origin = { protocol: 'openai-chat', provider: 'openai', model: 'gpt-4o' }

export function decoded(
  chunks: readonly Json[],
  more: { origin?: Origin; options?: DecoderOptions; cause?: EndCause } = {},
): Folded & { done: boolean } {
  const from = more.origin ?? origin
  const decoder = openaiChat.decoder(from, more.options)
  const events = chunks.flatMap((chunk) => decoder.push(chunk))
  const { done } = decoder
  events.push(...decoder.end(more.cause))
  return { ...fold(events, from), done }
}

/** A chunk with one delta. */
export function delta(fields: JsonObject, finish: string | null = null): Json {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'gpt-4o',
    choices: [{ index: 0, delta: fields, finish_reason: finish }],
  }
}

/** A fragment of a tool call. */
export function fragment(fields: JsonObject): Json {
  return delta({ tool_calls: [fields] })
}
