// The searchable text of a message: user and reply texts, and the arguments and results of tools, each as a separate
// document. Reasoning and system text are not included. The index identifies a document only by its entry and its
// position in this list: a change of what this function returns needs a migration that rebuilds the index.

import type { Json } from '../../core/json.ts'
import { textOf, type Message, type Part } from '../../core/message.ts'
import type { HitKind } from '../store.ts'
import { isDense } from './tokenize.ts'

export interface SearchDocument {
  kind: HitKind
  tool?: string
  text: string
}

/** Anything beyond this in one message is in the log but cannot be searched: about 250 MB of plain text. */
export const maxDocuments = 4096

export function documentsOf(message: Message): SearchDocument[] {
  const documents: SearchDocument[] = []
  for (const document of wholeDocuments(message)) {
    for (const text of cut(document.text)) {
      if (documents.length === maxDocuments) return documents
      documents.push({ ...document, text })
    }
  }
  return documents
}

function* wholeDocuments(message: Message): Generator<SearchDocument> {
  switch (message.role) {
    case 'user':
      yield { kind: 'user', text: textOf(message.parts) }
      break
    case 'assistant':
      yield { kind: 'reply', text: textsOf(message.parts) }
      for (const part of message.parts) yield* toolDocuments(part)
      break
    case 'tool':
      for (const part of message.parts) yield* toolDocuments(part)
  }
}

function textsOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === 'text' || part.type === 'refusal' ? [part.text] : [])).join('\n')
}

function* toolDocuments(part: Part): Generator<SearchDocument> {
  switch (part.type) {
    case 'tool-call':
      yield { kind: 'input', tool: part.name, text: part.malformed ?? flatten(part.input) }
      break
    case 'tool-result': {
      const text = textOf(part.output)
      yield { kind: 'output', tool: part.name, text: text === '' ? flatten(part.value) : text }
      break
    }
    case 'server-tool':
      yield { kind: 'input', tool: part.name, text: flatten(part.input) }
      yield { kind: 'output', tool: part.name, text: flatten(part.output) }
  }
}

/** JSON as lines of `name: value`. Without recursion: a tool can return any depth. */
function flatten(json: Json | undefined): string {
  const lines: string[] = []
  const open: { name: string; value: Json | undefined }[] = [{ name: '', value: json }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { name, value } = next
    if (value === undefined || value === null) continue
    if (typeof value !== 'object') {
      lines.push(name === '' ? String(value) : `${name}: ${value}`)
    } else {
      const inner = Array.isArray(value) ? value.map((item) => ({ name, value: item })) : namedValues(value)
      for (let i = inner.length - 1; i >= 0; i--) open.push(inner[i] ?? { name, value: null })
    }
  }
  return lines.join('\n')
}

function namedValues(object: { [key: string]: Json | undefined }): { name: string; value: Json | undefined }[] {
  return Object.entries(object).map(([name, value]) => ({ name, value }))
}

/**
 * Long texts are indexed in pieces: a tsvector has at most 1 MB and 16,383 positions. Scripts without spaces have a
 * word per character, and get smaller pieces.
 */
function* cut(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + 65_536, text.length)
    if (end - start > 16_000 && isDense(text.slice(start, end))) end = start + 16_000
    if (end < text.length) {
      const space = text.lastIndexOf(' ', end)
      if (space > end - 200 && space > start) end = space + 1
    }
    const piece = text.slice(start, end)
    if (piece.trim() !== '') yield piece
    start = end
  }
}
