// What a tool returned, in the form sent to the model. Of a long text the beginning and the end are shown: `value` has
// all of it in the log.

import { errorMessage } from '../../core/error.ts'
import { isObject, type Json } from '../../core/json.ts'
import { inTextSlices } from '../../core/slices.ts'
import type { MediaPart, TextPart, ToolResultPart } from '../../core/message.ts'

export type ToolOutcome = Pick<ToolResultPart, 'output' | 'value' | 'failed'>

/** In bytes; a longer text is shown in part. */
const wholeLimit = 64 * 1024
const headSize = 24 * 1024
const tailSize = 8 * 1024

export function readValue(name: string, value: unknown): ToolOutcome {
  if (value === undefined) return failedOutcome(`${name} returned nothing.`)
  if (typeof value === 'string') return { output: [shownText(value)], value }
  if (isParts(value)) return partsOutcome(value)
  if (isGiven(value)) return { ...partsOutcome(value.output), value: value.value }
  try {
    const text = JSON.stringify(value)
    if (text === undefined) return failedOutcome(`${name} returned a ${typeof value}, which cannot be written as JSON.`)
    return { output: [shownText(text)], value: JSON.parse(text) as Json }
  } catch (error) {
    const why = errorMessage(error)
    return failedOutcome(`${name} returned something that cannot be written as JSON: ${why}`)
  }
}

export function failedOutcome(text: string): ToolOutcome {
  return { output: [shownText(text)], failed: true, ...(isLong(text) && { value: text }) }
}

export interface Limited {
  part: ToolResultPart
  /** How many bytes were left out. */
  cut: number
}

/**
 * A result with at most `most` bytes of value, and as many of output. A note says how much was cut. A very long one is
 * read in slices: everything else continues in between.
 */
export async function limitResult(part: ToolResultPart, most: number): Promise<Limited> {
  const value = await limitValue(part.value, most)
  const output = await limitOutput(part.output, most)
  const cut = value.cut + output.cut
  if (cut === 0) return { part, cut }
  const note = `[Note] ${cut} bytes of this result were not kept: ${most} bytes are kept of a result.`
  const limited = { ...part, output: [...output.stored, { type: 'text' as const, text: note }] }
  return { part: value.cut > 0 ? { ...limited, value: value.stored ?? '' } : limited, cut }
}

async function limitValue(value: Json | undefined, most: number): Promise<{ stored?: string; cut: number }> {
  if (value === undefined) return { cut: 0 }
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const size = await bytesIn(text)
  if (size <= most) return { cut: 0 }
  const stored = await beginningOf(text, most)
  return { stored, cut: size - (await bytesIn(stored)) }
}

async function limitOutput(
  output: ToolResultPart['output'],
  most: number,
): Promise<{ stored: ToolResultPart['output']; cut: number }> {
  const stored: ToolResultPart['output'] = []
  let [size, cut] = [0, 0]
  for (const part of output) {
    const bytes = await sizeOf(part)
    if (size + bytes <= most) {
      stored.push(part)
      size += bytes
    } else if (part.type === 'text') {
      const text = await beginningOf(part.text, most - size)
      if (text !== '') stored.push({ ...part, text })
      cut += bytes - (await bytesIn(text))
      size = most
    } else cut += bytes
  }
  return { stored, cut }
}

async function sizeOf(part: TextPart | MediaPart): Promise<number> {
  if (part.type === 'text') return bytesIn(part.text)
  return part.data.kind === 'base64' ? part.data.base64.length : 0
}

async function bytesIn(text: string): Promise<number> {
  let bytes = 0
  await inTextSlices(text, (slice) => {
    bytes += Buffer.byteLength(slice)
  })
  return bytes
}

/** Through bytes: a slice of a string would keep the whole string in memory. */
async function beginningOf(text: string, bytes: number): Promise<string> {
  const pieces: string[] = []
  let left = bytes
  await inTextSlices(text.slice(0, bytes), (slice) => {
    if (left === 0) return
    const whole = Buffer.from(slice)
    pieces.push(whole.subarray(0, left).toString())
    left = Math.max(0, left - whole.length)
  })
  // The last character may be cut.
  const last = pieces.pop() ?? ''
  return [...pieces, last.replace(/\uFFFD+$/, '')].join('')
}

function partsOutcome(parts: (TextPart | MediaPart)[]): ToolOutcome {
  const texts = parts.filter((part) => part.type === 'text')
  if (!texts.some((part) => isLong(part.text))) return { output: parts }
  return {
    output: parts.map((part) => (part.type === 'text' ? shownText(part.text) : part)),
    value: texts.map((part) => part.text),
  }
}

function shownText(text: string): TextPart {
  if (!isLong(text)) return { type: 'text', text }
  const head = Math.min(headSize, Math.floor((text.length * 3) / 8))
  const tail = Math.min(tailSize, Math.floor(text.length / 8))
  const left = text.length - head - tail
  const gap = `[… ${left} of ${text.length} characters are not shown; ask for less at a time to see them …]`
  return {
    type: 'text',
    text: [text.slice(0, head).toWellFormed(), gap, text.slice(-tail).toWellFormed()].join('\n'),
  }
}

function isLong(text: string): boolean {
  return text.length > wholeLimit || (text.length > wholeLimit / 3 && Buffer.byteLength(text) > wholeLimit)
}

/** What the model reads and what the program stores, if these differ. */
function isGiven(value: unknown): value is { output: (TextPart | MediaPart)[]; value: Json } {
  return isObject(value) && value['type'] === 'tool-result' && 'value' in value && isParts(value['output'])
}

function isParts(value: unknown): value is (TextPart | MediaPart)[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(
      (part) =>
        isObject(part) &&
        ((part['type'] === 'text' && typeof part['text'] === 'string') ||
          (part['type'] === 'media' && typeof part['mediaType'] === 'string' && isObject(part['data']))),
    )
  )
}
