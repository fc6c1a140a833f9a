// OpenRouter's `reasoning_details`: a list of entries that is streamed in pieces and must be sent back complete and in
// order. Text and signature of one entry come in separate pieces, matched by type and index.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'

/** Adds the entries of one delta. Entries of the same delta are never merged: a complete reply arrives in one. */
export function addDetails(details: JsonObject[], delta: readonly Json[]): void {
  const before = details.length
  for (const entry of delta) {
    if (!isObject(entry)) continue
    const open = details.slice(0, before).findLast((known) => continues(known, entry))
    if (open) join(open, entry)
    else details.push({ ...entry })
  }
}

/** The readable text in a delta's entries. */
export function detailsText(delta: readonly Json[]): string {
  let text = ''
  for (const entry of delta) {
    if (!isObject(entry)) continue
    if (typeof entry.text === 'string') text += entry.text
    else if (typeof entry.summary === 'string') text += entry.summary
  }
  return text
}

/**
 * The entries that may be sent back. Ciphertext and signatures are valid only for the model that made them, and
 * Anthropic and Gemini refuse thinking text without its signature even from the same model (checked 2026-11).
 */
export function replayableDetails(details: readonly Json[], sameModel: boolean): JsonObject[] {
  return details.filter(isObject).filter((entry) => {
    const signed = typeof entry.signature === 'string' && entry.signature !== ''
    if (!sameModel && (signed || entry.type === 'reasoning.encrypted')) return false
    const wantsSignature = entry.format === 'anthropic-claude-v1' || entry.format === 'google-gemini-v1'
    return !(wantsSignature && entry.type === 'reasoning.text' && !signed)
  })
}

const streamed: ReadonlySet<Json | undefined> = new Set(['reasoning.text', 'reasoning.summary'])

function continues(known: JsonObject, entry: JsonObject): boolean {
  if (known.type !== entry.type || known.index !== entry.index) return false
  if (streamed.has(entry.type))
    return typeof known.id !== 'string' || typeof entry.id !== 'string' || known.id === entry.id
  return typeof known.id === 'string' && known.id === entry.id && known.data === entry.data
}

function join(open: JsonObject, entry: JsonObject): void {
  for (const [field, value] of Object.entries(entry)) {
    const known = open[field]
    const grows = field === 'text' || field === 'summary'
    if (grows && typeof known === 'string' && typeof value === 'string') open[field] = known + value
    else if (value !== null || known === undefined) open[field] = value
  }
}
