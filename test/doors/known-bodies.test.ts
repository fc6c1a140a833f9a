// A body that continues an earlier one is parsed as if it were the first.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test from 'node:test'
import type { Json } from '../../src/core/json.ts'
import { parseBody } from '../../src/server/doors/known-bodies.ts'
import { tokenPrefix } from '../../src/wires/shared/sealed-token.ts'
import fc from '../property.ts'

const text = 'A message that is long enough to be remembered, with "quotes", a \\ and – other – letters. '.repeat(4)
const turns = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => ({
    role: (from + i) % 2 ? 'assistant' : 'user',
    content: text + (from + i),
  }))

/** Bodies of at least 16 KB are remembered. */
const first = turns(0, 60)

function parsed(body: string | Uint8Array, field = 'messages'): ReturnType<typeof parseBody> {
  return parseBody(Buffer.from(body as string), field, true)
}

function itemsOf(body: string, field = 'messages'): Json[] {
  return parsed(body, field).value[field] as Json[]
}

test('the elements of an earlier body are the same objects, and the rest is as it was sent', () => {
  const before = itemsOf(JSON.stringify({ model: 'one', messages: first }))
  const body = JSON.stringify({ model: 'one', messages: [...first, ...turns(60, 62)], stream: true, top_p: 0.5 })
  const { value } = parsed(body)
  assert.deepEqual(value, JSON.parse(body))
  assert.deepEqual(Object.keys(value), ['model', 'messages', 'stream', 'top_p'])
  assert.equal((value['messages'] as Json[])[59], before[59])
})

test('a body that is not to be kept is not remembered', () => {
  const body = Buffer.from(JSON.stringify({ model: 'private', messages: first }))
  const one = parseBody(body, 'messages', false).value['messages'] as Json[]
  const two = parseBody(body, 'messages', false).value['messages'] as Json[]
  assert.deepEqual(two, one)
  assert.notEqual(two[0], one[0])
})

test('only the 64 most recent bodies are held', () => {
  const bodyOf = (n: number) => JSON.stringify({ model: `model ${n}`, messages: first })
  const before = Array.from({ length: 65 }, (_, n) => itemsOf(bodyOf(n))[0])
  assert.equal(itemsOf(bodyOf(1))[0], before[1])
  assert.notEqual(itemsOf(bodyOf(0))[0], before[0])
})

test('the bodies that are held have 32 MB together, and the oldest are given up first', () => {
  const large = JSON.stringify([{ role: 'user', content: 'x'.repeat(11_000_000) }])
  const bodyOf = (n: number) => `{"model":"large ${n}","messages":${large}}`
  const before = [0, 1].map((n) => itemsOf(bodyOf(n))[0])
  assert.equal(itemsOf(bodyOf(0))[0], before[0])
  assert.equal(itemsOf(bodyOf(1))[0], before[1])
  const third = itemsOf(bodyOf(2))[0]
  assert.notEqual(itemsOf(bodyOf(0))[0], before[0])
  assert.equal(itemsOf(bodyOf(2))[0], third)
})

test('the digest of a body, and whether it has a token, do not depend on the bodies before it', () => {
  const digestOf = (text: string, body: string) => createHash('sha256').update(text).update(body).digest('base64url')
  const bodyOf = (to: number, more: object) => JSON.stringify({ model: 'm', messages: turns(0, to), ...more })
  const token = `${tokenPrefix}${'A'.repeat(44)}`
  const bodies = [
    bodyOf(60, {}),
    bodyOf(62, { top_p: 1 }),
    bodyOf(62, { top_p: 1 }),
    bodyOf(62, { user: token }),
    bodyOf(64, {}),
    JSON.stringify({ model: 'm', messages: [...turns(0, 64), { role: 'assistant', content: token }] }),
    JSON.stringify({
      model: 'm',
      messages: [...turns(0, 64), { role: 'assistant', content: token }, ...turns(65, 67)],
    }),
    bodyOf(66, {}),
  ]
  for (const [i, body] of bodies.entries()) {
    const { digest, hasToken } = parsed(body)
    for (const text of ['/v1/one\n', i % 3 === 0 ? '/v1/other\n' : '/v1/one\n'])
      assert.equal(digest(text), digestOf(text, body))
    assert.equal(hasToken, body.includes(tokenPrefix))
  }
})

test('the place of a field is found wherever it is', () => {
  for (const body of [
    `{"model" : "a/b", "messages": ${JSON.stringify(first)} }`,
    `{"messages": ${JSON.stringify(first)} , "model":"a/b"}`,
    `{"messages": ${JSON.stringify([...first, ...turns(60, 62)])} , "n": 1, "model":"a/b", "stream":true}`,
    '{"tools":[{"model":"no"}],"model":"a/b"}',
  ]) {
    const { bytes, fields } = parsed(body)
    const { start, end } = fields.get('model') ?? {}
    assert.equal(bytes.toString('utf8', start, end), '"a/b"')
  }
  assert.equal(parsed('{"model":"a","model":"b"}').fields.size, 0)
  assert.equal(parsed('{"mod\\u0065l":"a"}').fields.size, 0)
})

test('what follows a known beginning is parsed strictly', () => {
  const beginning = JSON.stringify({ n: 1, messages: first }).slice(0, -2)
  const added = JSON.stringify(turns(60, 62)).slice(1, -1)
  assert.equal(itemsOf(`${beginning}]}`).length, 60)
  for (const rest of [`]}`, ` , ${added} ]}`, `,${added}],"m":{}}`, ' \n]}', `],"messages":[]}`, `],"input":[1]}`]) {
    assert.deepEqual(parsed(beginning + rest).value, JSON.parse(beginning + rest), rest)
  }
  assert.deepEqual(itemsOf(`${beginning}],"mess\\u0061ges":[2]}`), [2])
  for (const rest of [
    ',]}',
    ',,1]}',
    `,${added}`,
    '',
    ']',
    ']}}',
    '}]}',
    ' 1]}',
    ',\u00a01]}',
    ',\ufeff1]}',
    ',1]}x',
  ]) {
    assert.throws(() => parsed(beginning + rest), /The body is not JSON/, rest)
  }
  const broken = Buffer.concat([Buffer.from(`${beginning},"`), Buffer.from([0xff]), Buffer.from('"]}')])
  assert.throws(() => parsed(broken), /The body is not JSON/)
  const deep = `${beginning},${'['.repeat(600)}${']'.repeat(600)}]}`
  assert.throws(() => parsed(deep), /nested more than 500 levels/)
  const number = JSON.stringify({ input: [...first, 12] }).slice(0, -2)
  assert.equal(itemsOf(`${number}]}`, 'input')[60], 12)
  assert.equal(itemsOf(`${number}3]}`, 'input')[60], 123)
})

test('any growing list is parsed as JSON.parse does', () => {
  const fields = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 })
  fc.assert(
    fc.property(
      fields,
      fc.array(fc.array(fc.jsonValue(), { maxLength: 3 }), { maxLength: 4 }),
      fields,
      fc.constantFrom('messages', 'input', 'contents'),
      fc.constantFrom(undefined, 1),
      (head, added, tail, field, space) => {
        const list: unknown[] = [...first]
        for (const items of [[], ...added]) {
          list.push(...items)
          const body = JSON.stringify({ ...head, [field]: list, ...tail }, null, space)
          assert.deepEqual(parsed(body, field).value, JSON.parse(body))
        }
      },
    ),
    { numRuns: 60 },
  )
})
