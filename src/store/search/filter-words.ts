// Search filters as words in the index next to the text: then a filtered search stays inside the index, however many
// other owners and conversations share it. Hashed, so that they survive any tokenizer.

import { hash } from 'node:crypto'
import type { Message } from '../../core/message.ts'
import { documentsOf, type SearchDocument } from './search-text.ts'
import type { SearchQuery } from '../store.ts'

export interface FilteredDocument extends SearchDocument {
  filters: string[]
}

/** What the index has of a message, except for its owner and conversation. */
export interface Searchable {
  documents: SearchDocument[]
  /** Of a reply. */
  provider?: string
}

export function searchableOf(message: Message): Searchable {
  return {
    documents: documentsOf(message),
    ...(message.role === 'assistant' && { provider: message.origin.provider }),
  }
}

export function filteredDocuments(
  owner: string,
  conversationId: string,
  { documents, provider }: Searchable,
): FilteredDocument[] {
  const shared = [filterWord('owner', owner), filterWord('conversation', conversationId)]
  if (provider !== undefined) shared.push(filterWord('provider', provider))
  return documents.map((document) => {
    const filters = [...shared, filterWord('kind', document.kind)]
    if (document.tool !== undefined) filters.push(filterWord('tool', document.tool))
    return { ...document, filters }
  })
}

export function queryFilters(owner: string, query: SearchQuery): string[] {
  return [
    filterWord('owner', owner),
    ...(query.conversationId !== undefined ? [filterWord('conversation', query.conversationId)] : []),
    ...(query.kind !== undefined ? [filterWord('kind', query.kind)] : []),
    ...(query.provider !== undefined ? [filterWord('provider', query.provider)] : []),
    ...(query.tool !== undefined ? [filterWord('tool', query.tool)] : []),
  ]
}

export function filterWord(field: 'owner' | 'conversation' | 'provider' | 'tool' | 'kind', value: string): string {
  const key = `${field}${value}`
  const cached = knownWords.get(key)
  if (cached !== undefined) return cached
  const word = `${field}${hash('sha256', value).slice(0, 16)}`
  if (knownWords.size === 1000) knownWords.clear()
  if (value.length < 200) knownWords.set(key, word)
  return word
}

/** The same few occur in document after document. */
const knownWords = new Map<string, string>()
