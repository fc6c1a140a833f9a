// Which words of a text are specific enough to be kept in a fold.

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

/** For each rule: texts, and all of their words. */
const rules: Record<string, Record<string, string[]>> = {
  'a number to call begins with a plus and a digit, and has at least eight characters': {
    '+49 1234': ['+49 1234'],
    '+491234': ['491234'],
    '+49 (30) 901-820': ['+49 (30) 901-820'],
    '+ 49 30 901820': ['49', '30', '901820'],
    'x +49 30 901820 y': ['+49 30 901820'],
    '1+49 30 901820': ['+49 30 901820'],
  },
  'a date is a day, a month with a capital, and perhaps a year of four digits': {
    '3 May': ['3 May'],
    '17 March 2026x': ['17 March 2026'],
    '17 March 20261': ['17 March', '20261'],
    '17 Ärger 2026': ['17 Ärger 2026'],
    '17 march 2026': ['17', '2026'],
    '123 March 2026': ['123', '2026'],
    '3x March': ['3x'],
    '3 Ma': [],
    '3 of them': [],
  },
  'letters with accents, Greek and Cyrillic are letters of a word, signs between them are not': {
    'À1 ×1 ÷1 ÿ1': ['À1', 'ÿ1'],
    'ა1 ᄀ1': ['ა1'],
    'Ω1 я2': ['Ω1', 'я2'],
    'x×y1': ['y1'],
    'a÷b_c': ['b_c'],
    Größe_1: ['Größe_1'],
    xÉy: [],
    éA: [],
    '\x7fa1\x7f': ['a1'],
    '\x80a1\x80': ['a1'],
  },
  'a URL includes its scheme, and a colon ends any other word': {
    'ftp://x': ['ftp://x'],
    'a://b': ['a://b'],
    'see http://a.b/c1, d': ['http://a.b/c1'],
    'http:// x_y': ['x_y'],
    'a:b1': ['b1'],
  },
  'a comma is part of a number before exactly three digits, and nowhere else': {
    '1,234,567.89': ['1,234,567.89'],
    '9,999': ['9,999'],
    '12,345 67': ['12,345', '67'],
    '1,23': ['23'],
    ',123': ['123'],
    'a,123': ['123'],
    '1,2345': ['2345'],
    '1,2349': ['2349'],
    '1,2340': ['2340'],
    '1,23a': ['23a'],
    '1,a23': ['a23'],
    '1,2a3': ['2a3'],
    '1,0,0': [],
    '1/234': ['1/234'],
    '1,/23': ['/23'],
    '1,:23': ['23'],
  },
  'signs around a word are not part of it, and a relative path loses what points to its folder': {
    '--a1--': ['a1'],
    '@a1@': ['a1'],
    '.a1.': ['a1'],
    '/a1/': ['/a1'],
    '~a1~': ['~a1~'],
    '../a/b': ['a/b'],
    './a1': ['a1'],
    '.a1/': ['a1'],
    '-/a1': ['/a1'],
    './/ab': ['/ab'],
    'a.b/': ['a.b'],
    './': [],
    '..': [],
    './ab': [],
    '.a': [],
  },
  'a word with a digit is specific if it has another digit or letter': {
    a1: ['a1'],
    A1: ['A1'],
    '1a': ['1a'],
    '12': ['12'],
    '09': ['09'],
    '1~2': ['1~2'],
    'a.1': ['a.1'],
    '1': [],
    '1-': [],
    '1.': [],
    '.1': [],
    _1: [],
    '1_': [],
    '1~': [],
    '/1': [],
  },
  'a word of two letters is specific with an inner underscore, at sign or capital': {
    a_b: ['a_b'],
    'a@b': ['a@b'],
    aB: ['aB'],
    abC: ['abC'],
    zA: ['zA'],
    aZ: ['aZ'],
    _ab: [],
    ab_: [],
    '@ab': [],
    'ab@': [],
    AB: [],
    ABc: [],
    Ab: [],
    'a-b': [],
    'ab-cd': [],
    'ab~cd': [],
    '_-_': [],
    'a_-': [],
  },
  'a word of two letters is specific with a slash, or an extension of at most five letters': {
    'ab/c': ['ab/c'],
    'a/b': ['a/b'],
    '/ab': ['/ab'],
    'a.b': ['a.b'],
    'é.b': ['é.b'],
    'ab.cdefg': ['ab.cdefg'],
    'a.b.': ['a.b'],
    'ab.cdefgh': [],
    'abc.def.ghijklmno': [],
    'ab.~': ['ab.~'],
    '~.ab': ['~.ab'],
    'a.~': [],
    'ab.': [],
    '.ab': [],
    'ab/': [],
    '/a': [],
    '-/-': [],
    'a/-': [],
  },
  'up to three capitalised words with single spaces between them are one name': {
    'Kim Lee': ['Kim Lee'],
    'Kim Lee Park': ['Kim Lee Park'],
    'Kim Lee Park Choi': ['Kim Lee Park', 'Choi'],
    'Kim Lee Park Choi Cho': ['Kim Lee Park', 'Choi Cho'],
    'Kim Lee-Park': ['Kim Lee'],
    'Kim Le': ['Kim Le'],
    'Kim Le1': ['Kim Le'],
    'Kim Lee1 Bob Dan': ['Kim Lee', '1 Bob', 'Dan'],
    'Kim Éa': ['Kim Éa'],
    'Àb Éc': ['Àb Éc'],
    'Þb Zz': ['Þb Zz'],
    'Ab Az': ['Ab Az'],
    'in Zürich Nord, Bern': ['Zürich Nord'],
    'Kim Lee a1': ['Kim Lee', 'a1'],
    'Kim a_b': ['a_b'],
    'Kim L': [],
    'Kim lee': [],
    'Kim  Lee': [],
    'Kim-Lee': [],
    'KIm Lee': [],
    'Kim LEe': [],
    'Kim ßa': [],
    'ßa Kim': [],
    Kim: [],
  },
  'one capitalised word is a name after a small word, after a label, or alone in quotation marks': {
    'by Kim': ['Kim'],
    'az Kim': ['Kim'],
    'za Kim': ['Kim'],
    'by: Kim': ['Kim'],
    'BY: Kim': ['Kim'],
    'by Ki': ['Ki'],
    'by Kiß': ['Kiß'],
    'by Kiñ': ['Kiñ'],
    'by Ki×': ['Ki'],
    'by Ñandu': ['Ñandu'],
    'by Kim. Lee': ['Kim'],
    'by Kim, Lee': ['Kim'],
    'by Kim- Lee': ['Kim'],
    '"Kim"': ['Kim'],
    'by K': [],
    'x Kim': [],
    'A Kim': [],
    'aZ Kim': ['aZ'],
    'bY Kim': ['bY'],
    'By. Kim': [],
    'by:Kim': [],
    'by  Kim': [],
    'by(Kim)': [],
    'by -Kim-': [],
    'by KIm': [],
    'by ßan': [],
    '"Kim': [],
    'Kim"': [],
    "'Kim'": [],
    '"Kim-"': [],
  },
  'a term is two ideographs, katakana or hangul or more, and ends at a joining character': {
    双盲: ['双盲'],
    双盲的对照: ['双盲', '对照'],
    的双盲: ['双盲'],
    '双盲 对照': ['双盲', '对照'],
    双盲abc: ['双盲'],
    ab双盲: ['双盲'],
    '\u3400\u3400': ['\u3400\u3400'],
    '\u9fff\u9fff': ['\u9fff\u9fff'],
    '\u30a0\u30a0': ['\u30a0\u30a0'],
    '\u30ff\u30ff': ['\u30ff\u30ff'],
    '\uac00\uac00': ['\uac00\uac00'],
    '\ud7af\ud7af': ['\ud7af\ud7af'],
    '\u33ff\u33ff': [],
    '\ua000\ua000': [],
    '\u309f\u309f': [],
    '\u3100\u3100': [],
    '\uabff\uabff': [],
    '\ud7b0\ud7b0': [],
    双: [],
    的: [],
    双的盲: [],
  },
  'a number inside a term is part of it, and one with a point is a word of its own too': {
    双3: ['双3'],
    双盲3月: ['双盲3月'],
    双盲12: ['双盲12'],
    '双盲3.5月': ['3.5', '双盲3.5月'],
    '合同3,5:7月': ['3,5:7', '合同3,5:7月'],
    '双盲1.': ['双盲1'],
    双3的4盲: ['双3', '4盲'],
    '12双盲': ['12', '双盲'],
    '3双盲': ['双盲'],
    '3双': [],
  },
  'a term of more than twelve characters is split where it may be joined, or else after twelve': {
    一二三四五六七八九十百千: ['一二三四五六七八九十百千'],
    一让二: ['一让二'],
    一二三四五六七八九十百千万: ['一二三四五六七八九十百千'],
    一二三四五让六七八九十百千万: ['一二三四五', '六七八九十百千万'],
    一二三四五六让七八九十百千万让亿: ['一二三四五六', '七八九十百千万'],
    让一二三四五六七八九十百千万亿: ['一二三四五六七八九十百千', '万亿'],
    一二三四五六七八九十百千让: ['一二三四五六七八九十百千'],
    一二三四五六七八九十百千让万亿: ['一二三四五六七八九十百千', '万亿'],
    一二三四五六七八九十百千万亿兆京垓秭穰沟涧正载极: ['一二三四五六七八九十百千', '万亿兆京垓秭穰沟涧正载极'],
  },
}

for (const [rule, texts] of Object.entries(rules)) {
  test(rule, () => {
    for (const [text, words] of Object.entries(texts)) assert.deepEqual([...specificWords(text)], words, text)
  })
}

test('words are found once, in the order of the text, and added to those that are known', () => {
  assert.deepEqual([...specificWords('b2 a1 b2')], ['b2', 'a1'])
  assert.deepEqual([...specificWords('a1 c3', new Set(['c3']))], ['c3', 'a1'])
  assert.deepEqual([...specificWords('')], [])
})
