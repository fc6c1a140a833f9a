// The words of documents in PostgreSQL's binary form of a list of tsvectors: it is parsed in a third of the time of the
// text form. A tsvector has at most 255 positions of a word, and 16,383 as the position of all after it.

import type { FilteredDocument } from '../search/filter-words.ts'
import { tokenList } from '../search/tokenize.ts'
import { filterLexeme } from './tsquery.ts'

const mostPlaces = 255
const lastPlace = 16_383

/** The type's OID in every PostgreSQL. */
const tsvectorType = 3614

export function wordVectors(documents: readonly Pick<FilteredDocument, 'text' | 'filters'>[]): Buffer {
  const bytes = new Bytes()
  // Dimensions, the null flag, the type of the elements; then the length and the first index.
  for (const field of [documents.length > 0 ? 1 : 0, 0, tsvectorType]) bytes.int32(field)
  if (documents.length > 0) for (const field of [documents.length, 1]) bytes.int32(field)
  for (const { text, filters } of documents) {
    const words = placesOf(text)
    bytes.counted(() => {
      bytes.int32(filters.length + words.size)
      for (const filter of filters) bytes.lexeme(filterLexeme(filter), [])
      for (const [word, places] of words) bytes.lexeme(word, places)
    })
  }
  return bytes.all()
}

function placesOf(text: string): Map<string, number[]> {
  const words = new Map<string, number[]>()
  for (const [i, word] of tokenList(text).entries()) {
    const place = Math.min(i + 1, lastPlace)
    const places = words.get(word)
    if (!places) words.set(word, [place])
    else if (places.length < mostPlaces && places.at(-1) !== place) places.push(place)
  }
  return words
}

class Bytes {
  #buffer = Buffer.allocUnsafe(16_384)
  #length = 0

  all(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  int32(value: number): void {
    this.#makeRoom(4)
    this.#length = this.#buffer.writeInt32BE(value, this.#length)
  }

  /** What `write` writes, preceded by its length. */
  counted(write: () => void): void {
    const start = this.#length
    this.int32(0)
    write()
    this.#buffer.writeInt32BE(this.#length - start - 4, start)
  }

  lexeme(word: string, places: readonly number[]): void {
    this.#makeRoom(word.length * 3 + 3 + places.length * 2)
    this.#length += this.#buffer.write(word, this.#length)
    this.#length = this.#buffer.writeUInt8(0, this.#length)
    this.#length = this.#buffer.writeUInt16BE(places.length, this.#length)
    for (const place of places) this.#length = this.#buffer.writeUInt16BE(place, this.#length)
  }

  #makeRoom(more: number): void {
    if (this.#length + more <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#buffer.length, this.#length + more))
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
  }
}
