// A search as people type it: words that must all match, "phrases", and prefix*. Nothing else has a meaning, so that no
// text can be a syntax error. A word that the index splits into several (get_time, 東京) is a phrase of them.

import { isoTime } from '../store-errors.ts'
import type { SearchQuery } from '../store.ts'
import { tokenList } from './tokenize.ts'

/** Consecutive words; with `prefix` the last one may continue. */
export interface Term {
  words: string[]
  prefix: boolean
}

export function parseQuery(text: string): Term[] {
  const terms: Term[] = []
  for (const [, phrase, word] of text.matchAll(/"([^"]*)"?|([^\s"]+)/g)) {
    const words = tokenList(phrase ?? word ?? '')
    if (words.length === 0) continue
    const last = words.at(-1) ?? ''
    terms.push({ words, prefix: word !== undefined && word.endsWith('*') && last.length >= shortestPrefix })
  }
  return terms.slice(0, mostTerms)
}

/** Whether the words at this position begin a match; returns how many words it takes, or 0. */
export function matchAt(term: Term, words: readonly string[], index: number): number {
  for (const [i, wanted] of term.words.entries()) {
    const word = words[index + i]
    if (word === undefined) return 0
    const open = term.prefix && i === term.words.length - 1
    if (open ? !word.startsWith(wanted) : word !== wanted) return 0
  }
  return term.words.length
}

/** Whether the text matches all of them. */
export function matchesAll(terms: readonly Term[], text: string): boolean {
  const words = tokenList(text)
  return terms.every((term) => words.some((_, index) => matchAt(term, words, index) > 0))
}

/** The time range of a hit, as texts that sort like times. */
export function timeSpan(query: Pick<SearchQuery, 'after' | 'before'>): { after: string; before: string } {
  return {
    after: query.after === undefined ? '' : isoTime(query.after, 'The beginning of a search'),
    before: query.before === undefined ? '~' : isoTime(query.before, 'The end of a search'),
  }
}

/** The minimum length of a prefix: shorter ones match so much of a large index that they take seconds. */
const shortestPrefix = 3
const mostTerms = 32
