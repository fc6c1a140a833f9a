// The contract of a transcript format: importing and exporting conversations.
//
// Every imported message keeps its original form in `source`, so that writing the same format again gives the same
// JSON; a message from here, or from another format, is written from its parts.

import type { Note, ToolSpec } from '../../core/context.ts'
import { badInput, type SynapseError } from '../../core/error.ts'
import { fold } from '../../core/fold.ts'
import type { Json } from '../../core/json.ts'
import type { Message, Origin, Reply, Source, TextPart } from '../../core/message.ts'
import type { DecoderOptions, Wire } from '../wire.ts'

export interface Transcript {
  messages: Message[]
  system?: TextPart[]
  tools?: ToolSpec[]
  notes: Note[]
}

export interface TranscriptFormat {
  id: string
  /** Whether the JSON (for JSONL: the array of its lines) is in this format. Cheap: checks a few elements. */
  recognise(json: Json): boolean
  /** Takes the bare list of the format, or an object that contains it, such as a whole request body. */
  read(json: Json): Transcript
  /** Returns the bare list of the format: messages, items, contents or lines. */
  write(messages: Message[]): Json
}

/** The error for JSON that is not in the expected format; `path` as in `$.messages[3].content`. */
export function unreadable(format: string, path: string, expected: string): SynapseError {
  return badInput(`This is not a readable ${format} transcript: ${path} should be ${expected}.`)
}

/** A reply from the chunks of its wire, read by the wire's own decoder. */
export function decodeReply(
  wire: Wire,
  chunks: readonly Json[],
  origin: Origin,
  callId: NonNullable<DecoderOptions['callId']>,
): Reply {
  const decoder = wire.decoder(origin, { callId })
  return fold([...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()], origin).reply
}

/** Marks the messages that were made from one original message. */
export function withSource<M extends Message>(format: string, value: Json, messages: M[]): M[] {
  return messages.map((message, index) => {
    const source: Source = { format, index, of: messages.length, ...(index === 0 && { value }) }
    return { ...message, source }
  })
}

/** Writes messages: complete groups from this format unchanged, the others by `make`. */
export function writeBySource(messages: readonly Message[], format: string, make: (run: Message[]) => Json[]): Json[] {
  const values: Json[] = []
  let fresh: Message[] = []
  for (let i = 0; i < messages.length;) {
    const source = wholeSource(messages, i, format)
    if (source) {
      if (fresh.length > 0) values.push(...make(fresh))
      fresh = []
      values.push(source.value)
      i += source.of
    } else {
      fresh.push(messages[i] as Message)
      i++
    }
  }
  if (fresh.length > 0) values.push(...make(fresh))
  return values
}

function wholeSource(
  messages: readonly Message[],
  start: number,
  format: string,
): { value: Json; of: number } | undefined {
  const source = messages[start]?.source
  if (!source || source.format !== format || source.index !== 0 || source.value === undefined) return undefined
  for (let i = 1; i < source.of; i++) {
    const next = messages[start + i]?.source
    if (!next || next.format !== format || next.index !== i || next.of !== source.of) return undefined
  }
  return { value: source.value, of: source.of }
}
