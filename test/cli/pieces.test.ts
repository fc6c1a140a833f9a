// The pieces of the command line that are pure.

import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import fc from '../property.ts'
import { callLines } from '../../src/cli/approvals.ts'
import { count, dollars, inShort } from '../../src/cli/format-number.ts'
import { bodyDiff, pathAt, prefixBreak } from '../../src/cli/inspect/prefix-break.ts'
import { createView } from '../../src/cli/show.ts'
import { table } from '../../src/cli/table.ts'
import { clip, columnsOf, neutral, styleFor } from '../../src/cli/terminal.ts'
import { wrapText } from '../../src/cli/wrap.ts'
import { typedMessage } from '../../src/cli/input.ts'
import { isObject, type Json } from '../../src/core/json.ts'

const plainStyle = styleFor(process.stdout, { NO_COLOR: '1' })

function typed(...lines: string[]): string[] {
  const message = typedMessage()
  const whole = lines.flatMap((line) => message.push(line) ?? [])
  return [...whole, ...(message.rest() === undefined ? [] : ['(rest)'])]
}

test('a message continues after a backslash, and between quotes', () => {
  assert.deepEqual(typed('one', 'two'), ['one', 'two'])
  assert.deepEqual(typed('one \\', 'two'), ['one \ntwo'])
  assert.deepEqual(typed('a path \\\\', 'next'), ['a path \\\\', 'next'], 'two backslashes are a backslash')
  assert.deepEqual(typed('"""', 'one \\', '', 'two', '"""', 'three'), ['one \\\n\ntwo', 'three'])
  assert.deepEqual(typed('"""one', 'two"""'), ['one\ntwo'])
  assert.deepEqual(typed('"""one line"""'), ['one line'])
  assert.deepEqual(typed('"""', 'never closed'), ['(rest)'])
})

test('neutral text has no control characters except line breaks and tabs, however it is split', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(0x2100)), fc.nat(), (codes, at) => {
      const text = String.fromCharCode(...codes)
      const safe = neutral(text)
      assert.doesNotMatch(safe, /(?![\t\n])[\p{Cc}\p{Bidi_Control}]/u)
      const cut = at % (text.length + 1)
      assert.equal(neutral(text.slice(0, cut)) + neutral(text.slice(cut)), safe)
    }),
  )
})

test('a call that edits a file is shown as a diff, and every other call with its arguments', () => {
  const shown = (name: string, input: Json) =>
    callLines({ call: { type: 'tool-call', callId: 'c', name, input }, argsHash: '' } as never, plainStyle).join('\n')
  const edit = shown('edit_file', { path: 'a.txt', old_string: 'one\nsame', new_string: 'two\nsame' })
  assert.match(edit, /^Allow this call\? edit_file a\.txt\n/)
  assert.match(edit, /^ *- *one$/m)
  assert.match(edit, /^ *\+ *two$/m)
  assert.equal(shown('run_command', { command: 'ls' }), 'Allow this call? run_command {"command":"ls"}')
})

test('a text is wrapped between words, and its lines are aligned', () => {
  assert.equal(wrapText('one two three four', 24, '  /a  '), '  /a  one two three four')
  assert.equal(wrapText('one two three four five', 24, '  /a  '), '  /a  one two three four\n      five')
  assert.equal(wrapText('any length', Infinity), 'any length')
})

test('a table fits the terminal, even with wide characters', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', 'é', '漢', '🙂', ' ', '한') })
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell), { minLength: 1 }), fc.integer({ min: 40, max: 120 }), (rows, width) => {
      const narrow = rows.map(([a, b]) => [clip(a, 10), b])
      for (const line of table([{ head: 'a' }, { head: 'b', grows: true }], narrow, width, plainStyle)) {
        assert.ok(columnsOf(line) <= width, line)
      }
    }),
  )
})

test('numbers are written for people', () => {
  assert.deepEqual([0, 999, 1000, 1234567].map(count), ['0', '999', '1,000', '1,234,567'])
  assert.deepEqual([999, 1000, 12_345, 128_000, 1_047_576].map(inShort), ['999', '1k', '12k', '128k', '1M'])
  assert.deepEqual([0, 0.000_12, 0.0123, 0.5, 12.345].map(dollars), ['$0', '$0.00012', '$0.012', '$0.50', '$12.35'])
})

test('the prefix breaks where the bodies first differ, and marks do not count', () => {
  const body = (system: string, ...texts: string[]): Json => ({
    model: 'm',
    system: [{ type: 'text', text: system, cache_control: { type: 'ephemeral' } }],
    messages: texts.map((text) => ({ role: 'user', content: [{ type: 'text', text }] })),
    tools: [],
  })
  assert.equal(prefixBreak(body('s', 'a'), body('s', 'a')), undefined)
  const appended = prefixBreak(body('s', 'a'), body('s', 'a', 'b'))
  assert.deepEqual([appended?.at, appended?.appended], ['messages[1]', true])
  const changed = prefixBreak(body('s', 'ab', 'c'), body('s', 'aé', 'c', 'd'))
  assert.deepEqual([changed?.at, changed?.appended], ['messages[0].content[0].text', false])
  assert.equal(prefixBreak(body('s'), body('t'))?.at, 'system[0].text')
  // Something after the list has changed too, so it is more than an addition.
  const both = prefixBreak({ messages: [1], tools: [1] }, { messages: [1, 2], tools: [2] })
  assert.equal(both?.appended, false)
  const marked: Json = { messages: [{ text: 'a', cache_control: { type: 'ephemeral' } }] }
  assert.equal(prefixBreak({ messages: [{ text: 'a' }, 'b'] }, { messages: [{ text: 'a' }, 'b'] }), undefined)
  assert.equal(prefixBreak(marked, { messages: [{ text: 'a' }] }), undefined)
})

test('a place in a JSON text is the place of the value that the parser finds there', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = JSON.parse(JSON.stringify({ top: value })) as Json
      const text = JSON.stringify(json)
      let from = 0
      walk(json, '')
      function walk(node: Json, path: string): void {
        if (Array.isArray(node)) node.forEach((one, i) => walk(one, `${path}[${i}]`))
        else if (isObject(node)) {
          for (const [key, one] of Object.entries(node)) walk(one ?? null, `${path}${key && `.${key}`}`)
        } else {
          const leaf = JSON.stringify(node)
          for (from = text.indexOf(leaf, from); from >= 0; from = text.indexOf(leaf, from + 1)) {
            if (pathAt(text, from + 1) === path.replace(/^\./, '')) return
          }
          assert.fail(`${path} is nowhere in ${text}`)
        }
      }
    }),
  )
})

test('the diff of two bodies contains both of them', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5)), fc.array(fc.nat(5)), (before, now) => {
      const lines = bodyDiff(before, now)
      const side = (sign: '-' | '+') =>
        lines.flatMap((line) => (line.sign === ' ' || line.sign === sign ? [line.text] : []))
      const isWhole = !lines.some((line) => line.sign === '…')
      if (lines.length === 0) assert.deepEqual(before, now)
      else if (isWhole) {
        assert.deepEqual(JSON.parse(side('-').join('\n')), before)
        assert.deepEqual(JSON.parse(side('+').join('\n')), now)
      }
    }),
  )
  const long = Array.from({ length: 100 }, (_, i) => i)
  const lines = bodyDiff(long, [...long.slice(0, 50), 'x', ...long.slice(51)])
  assert.deepEqual(
    lines.map(({ sign }) => sign).join(''),
    '…   -+   …',
    'long stretches that are the same are left out',
  )
})

test('a run that waits for its database reports it on the terminal, and not in its answer', () => {
  const [out, err] = [new PassThrough({ encoding: 'utf8' }), new PassThrough({ encoding: 'utf8' })]
  const streams = { out, err } as unknown as Record<'out' | 'err', NodeJS.WriteStream>
  const view = createView({ ...streams, style: plainStyle })
  const message = 'PostgreSQL at db/x cannot be reached (refused).'
  view.show({ type: 'store-waiting', since: '2026-11-16T12:00:00Z', failure: { kind: 'storage', message } })
  view.show({ type: 'store-back', waitedMs: 2500 })
  assert.equal(err.read(), `${message} Waiting for it.\nThe database is back after 2.5 s.\n`)
  assert.equal(out.read(), null)
})
