import assert from 'node:assert/strict'
import test from 'node:test'
import { specificWords } from '../../src/context/specific-words.ts'

/** Each text, and what has to be among its words. */
const samples: [text: string, words: string[]][] = [
  ['see src/billing/tax.ts and applyVat', ['src/billing/tax.ts', 'applyVat']],
  ['Call +49 30 90182040 before 17 March 2026.', ['+49 30 90182040', '17 March 2026']],
  ['It was 1,249.50 EUR, see https://status.example.com/i/8831.', ['1,249.50', 'https://status.example.com/i/8831']],
  ['Written by Oyelaran Adebayo in Lofoten.', ['Oyelaran Adebayo', 'Lofoten']],
  ['{ "city": "Antofagasta", "owner": "Kim" }', ['Antofagasta', 'Kim']],
  ['Owner: Priya', ['Priya']],
  ['他们报告的平均盐度为41.7。', ['41.7']],
  ['采用的方法：双盲对照。合同到3月17日为止。', ['双盲对照', '合同到3月17日为止']],
]

for (const [text, words] of samples) {
  test(`the specific words of "${text}" are found`, () => {
    const found = specificWords(text)
    assert.deepEqual(
      words.filter((word) => !found.has(word)),
      [],
      [...found].join(' | '),
    )
  })
}

test('a long Chinese sentence is kept in pieces that contain its terms', () => {
  const found = [...specificWords('第二个地点由海豚科技有限公司负责日常维护工作')]
  assert.ok(
    found.some((piece) => piece.includes('海豚科技有限公司')),
    found.join(' | '),
  )
})

test('ordinary words, single digits and signs are not specific', () => {
  assert.deepEqual([...specificWords('The usual checks were made + 3 times, and nothing was found.')], [])
})

/** Each text, and all of its words. */
const exact: [text: string, words: string[]][] = [
  ['Look at /srv/a1.ts. Then at ./src/b_c/, or @me.', ['/srv/a1.ts', 'src/b_c']],
  ['Ends with README.md. It was v1.2.', ['README.md', 'v1.2']],
  ['the end.Next sentence', ['end.Next']],
  ['1,000 and 1,00 and 1,0000', ['1,000', '00', '0000']],
  ['findAll and mapZip, made by Kim in a Lofoten', ['findAll', 'mapZip', 'Kim']],
  ['a_b _a b_ ~ a~b a-b', ['a_b']],
  ['x'.repeat(198) + '_1', ['x'.repeat(198) + '_1']],
  ['x'.repeat(199) + '_1', []],
]

for (const [text, words] of exact) {
  test(`the specific words of "${text.slice(0, 60)}" end where they do, without a full stop`, () => {
    assert.deepEqual([...specificWords(text)], words)
  })
}
