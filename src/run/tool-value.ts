// What a tool returned, as the model gets it. A long text is shown from both ends: `value` keeps it whole in the log.

import { isObject, type Json } from '../core/json.ts'
import type { MediaPart, TextPart, ToolResultPart } from '../core/message.ts'

export type ToolOutcome = Pick<ToolResultPart, 'output' | 'value' | 'failed'>

/** In bytes; what is longer is shown in part. */
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
    const why = error instanceof Error ? error.message : String(error)
    return failedOutcome(`${name} returned something that cannot be written as JSON: ${why}`)
  }
}

export function failedOutcome(text: string): ToolOutcome {
  return { output: [shownText(text)], failed: true, ...(isLong(text) && { value: text }) }
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

/** What the model reads and what the program keeps, where these differ. */
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
