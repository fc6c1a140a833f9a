// Pieces of a reply that are not plain strings on this wire: content lists, audio, and server tools.

import { isObject, type Json } from '../../core/json.ts'
import type { MediaPart, Part, ReasoningPart, RefusalPart, ServerToolPart, TextPart } from '../../core/message.ts'
import { mediaFromUrl } from '../shared/media.ts'
import { protocolId } from './types.ts'

export function contentPart(part: Json): Exclude<Part, { type: 'tool-call' | 'tool-result' }> {
  if (typeof part === 'string') return { type: 'text', text: part }
  if (!isObject(part)) return { type: 'opaque', kind: `${protocolId}/content`, data: part, from: 0 }
  return readText(part.type, part) ?? readImage(part.image_url) ?? opaque(part.type, part)
}

function readText(
  type: Json | undefined,
  part: { [key: string]: Json | undefined },
): TextPart | RefusalPart | ReasoningPart | undefined {
  if (typeof part.text === 'string' && (type === 'text' || type === 'output_text' || type === undefined)) {
    return { type: 'text', text: part.text }
  }
  if (type === 'refusal' && typeof part.refusal === 'string') return { type: 'refusal', text: part.refusal }
  if (type === 'thinking') {
    const thoughts = Array.isArray(part.thinking) ? part.thinking : [part.thinking]
    const words = thoughts.map((thought) => (isObject(thought) ? thought.text : thought))
    return { type: 'reasoning', text: words.filter((word) => typeof word === 'string').join('') }
  }
  return undefined
}

function readImage(image: Json | undefined): MediaPart | undefined {
  const url = isObject(image) ? image.url : image
  return typeof url === 'string' ? { ...mediaFromUrl(url, 'image/png'), from: 0 } : undefined
}

function opaque(type: Json | undefined, data: Json): Part & { type: 'opaque' } {
  return { type: 'opaque', kind: `${protocolId}/${typeof type === 'string' ? type : 'content'}`, data, from: 0 }
}

/** The wire does not name the audio format: the request did. Its first bytes show it. */
export function audioPart(audio: Json | undefined): MediaPart | undefined {
  if (!isObject(audio) || typeof audio.data !== 'string' || audio.data === '') return undefined
  const base64 = audio.data
  const known = audioHeads.find(([head]) => base64.startsWith(head))
  return { type: 'media', mediaType: known?.[1] ?? 'audio/pcm', data: { kind: 'base64', base64 } }
}

const audioHeads: readonly (readonly [string, string])[] = [
  ['UklGR', 'audio/wav'],
  ['SUQz', 'audio/mpeg'],
  ['//', 'audio/mpeg'],
  ['T2dnUw', 'audio/ogg'],
  ['ZkxhQw', 'audio/flac'],
]

/** A tool that Groq ran: its `type` is the tool's name. */
export function executedTool(entry: Json): ServerToolPart {
  const tool = isObject(entry) ? entry : {}
  const name = typeof tool.type === 'string' ? tool.type : typeof tool.name === 'string' ? tool.name : 'tool'
  return {
    type: 'server-tool',
    name,
    ...(tool.arguments !== undefined && { input: parsed(tool.arguments) }),
    ...(tool.output !== undefined && tool.output !== null && { output: tool.output }),
  }
}

/** A tool that OpenRouter ran is reported among the reasoning. */
export function serverCall(entry: Json): ServerToolPart | undefined {
  if (!isObject(entry) || entry.type !== 'reasoning.server_tool_call') return undefined
  return {
    type: 'server-tool',
    name: typeof entry.tool_name === 'string' ? entry.tool_name : 'tool',
    ...(entry.arguments !== undefined && { input: parsed(entry.arguments) }),
    ...(entry.result !== undefined && entry.result !== null && { output: entry.result }),
  }
}

function parsed(value: Json): Json {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value) as Json
  } catch {
    return value
  }
}
