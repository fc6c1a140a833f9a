// What a search can be narrowed by, as words that go into the index beside the text: then a narrow search stays inside
// the index, however many other owners and conversations share it. Hashed, so that they survive any tokenizer.

import { hash } from 'node:crypto'
import type { SearchDocument } from './search-text.ts'
import type { SearchQuery } from './store.ts'

export function documentFilters(
  owner: string,
  conversationId: string,
  provider: string | undefined,
  document: SearchDocument,
): string[] {
  return [
    filterWord('owner', owner),
    filterWord('conversation', conversationId),
    filterWord('kind', document.kind),
    ...(provider !== undefined ? [filterWord('provider', provider)] : []),
    ...(document.tool !== undefined ? [filterWord('tool', document.tool)] : []),
  ]
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
  return `${field}${hash('sha256', value).slice(0, 16)}`
}
