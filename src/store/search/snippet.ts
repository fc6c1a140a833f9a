// The text around the first match, and the positions of the matches in it. Made from the message itself: the index does
// not store the text a second time, and every store shows the same.

import { matchAt, type Term } from './query.ts'
import type { SearchDocument } from './search-text.ts'
import type { Hit } from '../store.ts'
import { tokensOf, type Token } from './tokenize.ts'

const before = 60
const length = 240

export function hitOf(
  source: { conversationId: string; title: string | null | undefined; entryId: string; at: string },
  document: SearchDocument,
  terms: readonly Term[],
): Hit {
  return {
    conversationId: source.conversationId,
    ...(typeof source.title === 'string' && { title: source.title }),
    entryId: source.entryId,
    kind: document.kind,
    ...(document.tool !== undefined && { tool: document.tool }),
    at: source.at,
    ...snippetOf(document.text, terms),
  }
}

export function snippetOf(text: string, terms: readonly Term[]): { snippet: string; marks: [number, number][] } {
  const words = [...tokensOf(text)]
  const ranges = matches(words, terms)
  const first = ranges[0]
  const from = first ? wordStart(text, words, first[0]) : 0
  const to = Math.min(text.length, from + length)
  const lead = from > 0 ? '…' : ''
  const snippet = lead + text.slice(from, to).replaceAll(/\s/g, ' ').toWellFormed() + (to < text.length ? '…' : '')
  const marks: [number, number][] = []
  for (const [start, end] of ranges) {
    const last = marks.at(-1)
    const mark: [number, number] = [start - from + lead.length, end - from + lead.length]
    if (end <= to && (!last || mark[0] >= last[1])) marks.push(mark)
  }
  return { snippet, marks }
}

function matches(words: readonly Token[], terms: readonly Term[]): [number, number][] {
  const ranges: [number, number][] = []
  const plain = words.map(({ word }) => word)
  for (const [index, word] of words.entries()) {
    let matched = 0
    for (const term of terms) matched = Math.max(matched, matchAt(term, plain, index))
    const last = words[index + matched - 1]
    if (matched > 0 && last) ranges.push([word.start, last.end])
  }
  return ranges
}

/** A little before the match, at the beginning of a word if one is near. */
function wordStart(text: string, words: readonly Token[], match: number): number {
  const wanted = match - before
  if (wanted <= 0) return 0
  for (const word of words) if (word.start >= wanted && word.start <= match) return word.start
  return Math.min(wanted, text.length)
}
