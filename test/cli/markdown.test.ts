// Markdown on a terminal: the same however it is cut into chunks, no line wider than the terminal, nothing lost.

import assert from 'node:assert/strict'
import test from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { markdownWriter } from '../../src/cli/markdown.ts'
import { columnsOf, printable, styleFor } from '../../src/cli/terminal.ts'

const colours = styleFor({ isTTY: true } as NodeJS.WriteStream, {})

function rendered(text: string, { width = 60, chunk = Infinity } = {}): string {
  let out = ''
  const writer = markdownWriter({ width: () => width, style: colours, write: (piece) => (out += printable(piece)) })
  for (let at = 0; at < text.length; at += chunk) writer.push(text.slice(at, at + chunk))
  writer.end()
  return out
}

const plain = (text: string, options = {}) => stripVTControlCharacters(rendered(text, options))

const story = `# A heading with **strong** words

A paragraph that is long enough to be broken at the width of the terminal, with \`code\`, *soft* and [a link](https://example.com/x) in it.

- one item that is so long that it has to be broken, and hangs under its own first word
  1. deeper
- [x] done

> quoted words

| model | price |
| :---- | ----: |
| gpt-5.6 | 1.25 |
| claude | 15 |

\`\`\`ts
const a = 'b' // why
\`\`\`

2 * 3 * 4 = 24 and snake_case_name stay as they are.
中文的句子没有空格但是也必须在终端的宽度处换行而且不能超出边界所以这里要写得很长很长很长。
`

test('headings, lists, quotes, tables, code and links are shown as such', () => {
  const lines = plain(story).split('\n')
  for (const line of [
    'A heading with strong words',
    '• one item that is so long that it has to be broken, and',
    '  hangs under its own first word',
    '  1. deeper',
    '☑ done',
    '│ quoted words',
    'model    price',
    '───────  ─────',
    'gpt-5.6   1.25',
    'claude      15',
    "  const a = 'b' // why",
    '2 * 3 * 4 = 24 and snake_case_name stay as they are.',
  ]) {
    assert.ok(lines.includes(line), `${line}\nin\n${lines.join('\n')}`)
  }
  assert.match(plain(story), /a link\s+\(https:\/\/example\.com\/x\)/)
  assert.doesNotMatch(plain(story), /\*\*|```|\]\(/)
})

test('the output is the same however the text is split', () => {
  for (const width of [24, 60, 200]) {
    const whole = rendered(story, { width })
    for (const chunk of [1, 2, 3, 7, 50])
      assert.equal(plain(story, { width, chunk }), stripVTControlCharacters(whole), `${width} ${chunk}`)
  }
})

test('no line is wider than the terminal, with wide characters too, and no word is broken that fits', () => {
  for (const width of [24, 40, 80]) {
    for (const line of plain(story, { width, chunk: 5 }).split('\n')) {
      // Code keeps its lines, as it may be copied.
      if (!line.includes('const a')) assert.ok(columnsOf(line) <= width, `${columnsOf(line)} > ${width}: ${line}`)
    }
  }
  assert.match(
    plain('said numbers said numbers said numbers said', { width: 22 }),
    /^said numbers said\nnumbers said numbers\nsaid\n$/,
  )
})

test('words are printed while the line continues; an open mark is held back', () => {
  let out = ''
  const writer = markdownWriter({ width: () => 80, style: colours, write: (piece) => (out += piece) })
  writer.push('Some words are **strong')
  assert.equal(stripVTControlCharacters(out), 'Some words are')
  writer.push('** and more ')
  assert.equal(stripVTControlCharacters(out).trimEnd(), 'Some words are strong and more')
  writer.push('[no link] 2 * 3 ')
  assert.equal(stripVTControlCharacters(out).trimEnd(), 'Some words are strong and more [no link] 2 * 3')
  writer.push('*never closed')
  writer.end()
  assert.equal(stripVTControlCharacters(out), 'Some words are strong and more [no link] 2 * 3 *never closed\n')
})

test('nothing in an answer reaches the terminal as a control sequence', () => {
  const hostile =
    '# \u001B]0;title\u0007 **\u001B[31mred\u001B[0m**\n\n```sh\n\u001B[2J\n```\n| \u001B[1m |\n| - |\n[x](\u001B]8;;evil)'
  const out = rendered(hostile)
  const own = [1, 2, 3, 4, 22, 23, 24, 32, 33, 36, 39]
  const others = own.reduce((text, code) => text.replaceAll(`\u001B[${code}m`, ''), out)
  assert.ok(!others.includes('\u001B') && !others.includes('\u0007'), JSON.stringify(others))
})
