// A request body as the prompt that the model reads: one segment per tool, system block and content block, in the order
// tools, system, messages. Prompt caches compare these, and tokens are counted over them.
//
// A segment is the body's own JSON, so that any byte that a client changes is a different prefix here too. Only what
// the model never sees is removed: cache marks, ids and states of items, empty fields, a string that represents one
// text block.

import { createHash } from 'node:crypto'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { listIn, objectIn, textIn } from './json-fields.ts'

/** The size of an image is not on the wire; providers charge about this much for one (checked 2026-11). */
const mediaTokens = 1600

export type CountTokens = (text: string) => number

/**
 * The token count of the emulator. A consistent estimate matters more here than one near a real tokenizer, because tests
 * add, subtract and compare its numbers.
 */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4)
}

export interface Segment {
  place: 'tools' | 'system' | 'messages'
  role: string
  text: string
  /** Its images and files, which have a fixed count. */
  media: number
  /** A cache mark comes after it, with this lifetime if it names one. */
  mark?: { ttl?: string }
  /** The last segment of its message. */
  last: boolean
}

export interface Prompt {
  segments: Segment[]
  /** Settings that change the meaning of everything. */
  settings: string
  /** Settings that change the meaning of the messages, but not of tools and system (Anthropic). */
  messageSettings: string
  /** Only marked positions are cached, none automatically (OpenAI). */
  explicitOnly?: boolean
  /** The lifetime of marks without one (OpenAI). */
  ttl?: string
}

export function promptTokens(prompt: Prompt, count: CountTokens): number {
  return prompt.segments.reduce((sum, segment) => sum + segmentTokens(segment, count), 0)
}

export function segmentTokens(segment: Segment, count: CountTokens): number {
  return count(segment.text) + segment.media * mediaTokens
}

/** The prompt of a list of chat messages. */
export function chatPrompt(body: JsonObject): Prompt {
  const segments = listIn(body.tools).map((tool) => segment('tools', 'tools', tool))
  for (const message of listIn(body.messages)) {
    if (!isObject(message)) continue
    const { role, content, tool_calls: calls, ...rest } = message
    const place = role === 'system' || role === 'developer' ? 'system' : 'messages'
    const head = Object.values(rest).some((value) => !isEmpty(value)) ? [rest] : []
    const pieces = [...head, ...blocksOf(content, 'text'), ...listIn(calls)]
    segments.push(...withEnd(pieces.map((piece) => segment(place, textIn(role), piece))))
  }
  return {
    segments,
    settings: JSON.stringify([
      body.response_format ?? null,
      body.reasoning_effort ?? null,
      body.verbosity ?? null,
      body.service_tier ?? null,
    ]),
    messageSettings: '',
    ...cacheOptions(body),
  }
}

export function cacheOptions(body: JsonObject): Pick<Prompt, 'explicitOnly' | 'ttl'> {
  const options = objectIn(body.prompt_cache_options)
  return {
    ...(options.mode === 'explicit' && { explicitOnly: true }),
    ...(typeof options.ttl === 'string' && { ttl: options.ttl }),
  }
}

export function segment(place: Segment['place'], role: string, piece: Json): Segment {
  let media = 0
  const ciphertext = isObject(piece) && piece.type === 'redacted_thinking'
  const text = JSON.stringify(piece, (key, value: unknown) => {
    if (markKeys.has(key) || isEmpty(value)) return undefined
    if (typeof value !== 'string' || ciphertext || !isMedia(key, value)) return value
    media++
    return `sha256:${createHash('sha256').update(value).digest('hex')}`
  })
  const mark = isObject(piece) ? markOf(piece.cache_control ?? piece.prompt_cache_breakpoint) : undefined
  return { place, role, text: `${role} ${text}`, media, last: place !== 'messages', ...(mark && { mark }) }
}

const markKeys = new Set(['cache_control', 'prompt_cache_breakpoint'])

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0)
}

/** Base64 long enough to be a file; a short one counts like any text. */
function isMedia(key: string, value: string): boolean {
  if (value.length < 512) return false
  if (value.startsWith('data:')) return true
  return (
    (key === 'data' || key === 'bytes' || key === 'file_data' || /^\d+$/.test(key)) &&
    /^[A-Za-z0-9+/_-]{64}/.test(value)
  )
}

export function markOf(mark: Json | undefined): { ttl?: string } | undefined {
  if (!isObject(mark)) return undefined
  return typeof mark.ttl === 'string' ? { ttl: mark.ttl } : {}
}

export function withEnd(segments: Segment[]): Segment[] {
  const last = segments.at(-1)
  if (last) last.last = true
  return segments
}

export function blocksOf(content: Json | undefined, textType: string): Json[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: textType, text: content }]
  return listIn(content)
}
