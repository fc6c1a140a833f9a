// How texts and queries are split into words.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc, { character } from '../property.ts'
import { parseQuery } from '../../src/store/search/query.ts'
import { snippetOf } from '../../src/store/search/snippet.ts'
import { indexText, tokenList, tokensOf } from '../../src/store/search/tokenize.ts'

const words = (text: string) => Array.from(tokensOf(text), (found) => found.word)

test('words are split the same way in every script', () => {
  const table: [string, string[]][] = [
    ['Hello, WORLD!', ['hello', 'world']],
    ['get_time({"a":1.5})', ['get', 'time', 'a', '1', '5']],
    ["it's", ['it', 's']],
    ['Crème brûlée', ['creme', 'brulee']],
    ['東京 Tower', ['東', '京', 'tower']],
    ['한국어', ['한국어']],
    ['हिन्दी', ['हिन्दी']],
    ['ﬁne ½', ['fine', '1', '2']],
    ['𝐁𝐨𝐥𝐝 İstanbul', ['bold', 'istanbul']],
    ['x'.repeat(100), ['x'.repeat(64)]],
    ['', []],
  ]
  for (const [text, expected] of table) assert.deepEqual(words(text), expected, text)
})

test('an index that splits at ASCII marks sees the same words', () => {
  const runs = fc.array(fc.nat(140)).map((lengths) => lengths.map((length) => 'x'.repeat(length)).join(' '))
  const text = fc.oneof(fc.string({ unit: character }), fc.string(), fc.stringMatching(/^[a-zA-Z0-9 _.]{0,200}$/), runs)
  fc.assert(
    fc.property(text, (given) => {
      const seen = indexText(given).split(/[^a-z0-9\u0080-\u{10ffff}]+/u)
      assert.deepEqual(
        seen.filter((word) => word !== ''),
        words(given),
      )
      assert.deepEqual(tokenList(given), words(given))
    }),
  )
})

test('a query is words, phrases and prefixes, and never an error', () => {
  assert.deepEqual(parseQuery('big "red fox" jump* get_time'), [
    { words: ['big'], prefix: false },
    { words: ['red', 'fox'], prefix: false },
    { words: ['jump'], prefix: true },
    { words: ['get', 'time'], prefix: false },
  ])
  assert.deepEqual(parseQuery('ju* "jump*" -- ""'), [
    { words: ['ju'], prefix: false },
    { words: ['jump'], prefix: false },
  ])
  fc.assert(
    fc.property(fc.string({ unit: character }), (text) => {
      for (const term of parseQuery(text)) assert.ok(term.words.length > 0)
    }),
  )
})

test('a snippet shows the match, and its marks lie on it', () => {
  const text = `${'long before '.repeat(30)}the needle\nis here${' long after'.repeat(30)}`
  const { snippet, marks } = snippetOf(text, parseQuery('"needle is"'))
  assert.ok(snippet.length < 250 && snippet.startsWith('…') && snippet.endsWith('…'), snippet)
  assert.deepEqual(
    marks.map(([start, end]) => snippet.slice(start, end)),
    ['needle is'],
  )
})
