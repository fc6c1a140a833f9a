// The calls of another provider's server tools, and the sources that its answer cites, as text that every model reads.

import type { Note } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Reply, ServerToolPart } from '../../core/message.ts'
import { flatCall, flatResult, flatResultLabel, sourcesLabel } from './injected-text.ts'

/** The call and its output as labelled text; undefined if neither is known. */
export function serverToolText({ name, input, output }: ServerToolPart): string | undefined {
  if (output === undefined) return input === undefined ? undefined : flatCall(name, input)
  const result = flatResult(flatResultLabel, name, JSON.stringify(readable(output)), false)
  return `${flatCall(name, input ?? {})}\n${result}`
}

/**
 * Without what is useless to a model and would cost thousands of tokens: what only its provider can decrypt, and the
 * HTML of Google's search suggestions.
 */
function readable(value: Json): Json {
  if (Array.isArray(value)) return value.map(readable)
  if (!isObject(value)) return value
  const fields = Object.entries(value).filter(
    ([field]) => !field.startsWith('encrypted_') && field !== 'search_suggestions',
  )
  return Object.fromEntries(fields.map(([field, inner]) => [field, readable(inner ?? null)]))
}

/** The reply with the sources of its citations listed after its last text, because citations are data of one wire. */
export function withSources(reply: Reply, at: string, notes: Note[]): Reply {
  if (!reply.parts.some((part) => part.type === 'text' && part.citations)) return reply
  const cited = reply.parts.flatMap((part) => (part.type === 'text' ? (part.citations ?? []) : []))
  if (cited.length === 0) return reply
  const sources = new Map<string, string | undefined>()
  for (const citation of cited) {
    if (typeof citation === 'string') sources.set(oneLine(citation), undefined)
    else collect(citation, undefined, sources)
  }
  if (sources.size === 0) {
    notes.push({ kind: 'dropped', what: 'citations', why: 'they name no source that another model can read', at })
    return reply
  }
  const why = 'the wire does not accept citations of another provider'
  notes.push({ kind: 'changed', what: 'citations to a list of sources in the text', why, at })
  const lines = [...sources].map(([source, title]) => (title ? `- ${title}: ${source}` : `- ${source}`))
  const last = reply.parts.findLastIndex((part) => part.type === 'text')
  const parts = reply.parts.map((part, index) => {
    if (index !== last || part.type !== 'text') return part
    return { ...part, text: `${part.text}\n\n${sourcesLabel}\n${lines.join('\n')}` }
  })
  return { ...reply, parts }
}

/** Adds each address with its title, or only a title; returns whether it found one. */
function collect(value: Json, outer: string | undefined, sources: Map<string, string | undefined>): boolean {
  if (Array.isArray(value)) return value.map((item) => collect(item, outer, sources)).includes(true)
  if (!isObject(value)) return false
  const title = firstText(value, ['title', 'document_title', 'filename', 'file_name'])
  const address = firstText(value, ['url', 'uri'])
  if (address !== undefined) {
    sources.set(address, title ?? outer ?? sources.get(address))
    return true
  }
  if (
    collect(
      Object.values(value).map((inner) => inner ?? null),
      title ?? outer,
      sources,
    )
  )
    return true
  if (title !== undefined) sources.set(title, undefined)
  return title !== undefined
}

function firstText(value: JsonObject, fields: readonly string[]): string | undefined {
  for (const field of fields) {
    const text = value[field]
    if (typeof text === 'string' && text.trim() !== '') return oneLine(text)
  }
  return undefined
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
