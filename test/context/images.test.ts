// Tokens and limits of images and files.

import assert from 'node:assert/strict'
import test from 'node:test'
import { refuse } from '../../src/runtime/prepare.ts'
import type { MediaPart, Message } from '../../src/core/message.ts'
import { imageTokens, pixelsOf } from '../../src/context/images.ts'
import { catalogue } from '../../src/providers/catalogue.ts'
import { resolveWith } from '../../src/providers/resolve-with.ts'
import { rows } from '../../src/providers/rows.ts'
import { allWires } from '../../src/wires/all.ts'
import { prepare } from '../../src/index.ts'

/** A picture of this size, as far as its first bytes go. */
function picture(width: number, height: number, type = 'png', size = 0): MediaPart {
  const bytes = Buffer.alloc(Math.max(33, size))
  switch (type) {
    case 'png':
      Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').copy(bytes)
      bytes.writeUInt32BE(width, 16)
      bytes.writeUInt32BE(height, 20)
      break
    case 'gif':
      bytes.write('GIF89a', 'latin1')
      bytes.writeUInt16LE(width, 6)
      bytes.writeUInt16LE(height, 8)
      break
    case 'jpeg':
      Buffer.from('ffd8ffe000040000ffc0001108', 'hex').copy(bytes)
      bytes.writeUInt16BE(height, 13)
      bytes.writeUInt16BE(width, 15)
      break
    default:
      bytes.write('RIFF....WEBPVP8X', 'latin1')
      bytes.writeUIntLE(width - 1, 24, 3)
      bytes.writeUIntLE(height - 1, 27, 3)
  }
  return { type: 'media', mediaType: `image/${type}`, data: { kind: 'base64', base64: bytes.toString('base64') } }
}

function asking(...media: MediaPart[]): Message[] {
  return media.flatMap((part, i): Message[] => [
    { role: 'user', parts: [part, { type: 'text', text: `What is in picture ${i}?` }] },
    {
      role: 'assistant',
      parts: [{ type: 'text', text: 'A cat.' }],
      native: [],
      origin: { protocol: 'elsewhere', provider: 'elsewhere', model: 'm' },
      stop: { reason: 'done' },
    },
  ])
}

const again: Message = { role: 'user', parts: [{ type: 'text', text: 'And now?' }] }

function endpointOf(provider: string, model: string, protocol?: string) {
  const wanted = { provider, model, keyless: true, env: {}, rows, ...(protocol && { protocol }) }
  const protocolOf = (id: string) => allWires().find((one) => one.id === id) ?? assert.fail()
  return resolveWith(wanted, protocolOf, catalogue)
}

test('the tokens of a picture follow from its pixels, by the rule of each provider', () => {
  const expected: [string, string, number, number, number][] = [
    ['anthropic', 'claude-sonnet-4-5', 200, 200, 54],
    ['anthropic', 'claude-sonnet-4-5', 4000, 4000, 1600],
    ['anthropic', 'claude-opus-5-5', 2000, 1000, 2667],
    ['openai', 'gpt-4o', 1024, 1024, 765],
    ['openai', 'gpt-4o', 2048, 4096, 1105],
    ['openai', 'gpt-5.6', 1024, 1024, 1230],
    ['openai', 'gpt-5-mini', 1024, 1024, 1660],
    ['google', 'gemini-2.5-flash', 300, 300, 258],
    ['google', 'gemini-2.5-flash', 1536, 1536, 1032],
    ['google', 'gemini-3.8-flash', 4000, 3000, 1120],
    ['mistral', 'mistral-medium-latest', 784, 100, 100],
    ['xai', 'grok-4.7', 448, 448, 512],
  ]
  for (const [provider, model, width, height, tokens] of expected) {
    const rule = endpointOf(provider, model).capabilities.imageTokens
    for (const type of ['png', 'jpeg', 'gif', 'webp']) {
      assert.equal(imageTokens(picture(width, height, type), rule), tokens, `${provider}/${model} ${type}`)
    }
  }
})

test('the estimate of a request has the tokens of its pictures', () => {
  const estimate = (part: MediaPart) =>
    prepare({ messages: asking(part).slice(0, 1), provider: 'google', model: 'gemini-2.5-flash' }).estimate.input
  assert.equal(estimate(picture(1536, 1536)) - estimate(picture(100, 100)), 3 * 258)
})

for (const { name, media, left, why } of [
  { name: 'one that is too long', media: [picture(9000, 10), picture(10, 10)], left: [1], why: /9000 pixels/ },
  {
    name: 'one with too many bytes',
    media: [picture(10, 10, 'png', 9_000_000), picture(10, 10)],
    left: [1],
    why: /more bytes/,
  },
  {
    name: 'the oldest of many, when some are large',
    media: Array.from({ length: 21 }, () => picture(2500, 2500)),
    left: Array.from({ length: 10 }, (_, i) => 11 + i),
    why: /more of them than/,
  },
  {
    name: 'none of many that are small',
    media: Array.from({ length: 60 }, () => picture(100, 100)),
    left: Array.from({ length: 60 }, (_, i) => i),
    why: undefined,
  },
  {
    name: 'the oldest beyond a hundred',
    media: Array.from({ length: 101 }, () => picture(100, 100)),
    left: Array.from({ length: 50 }, (_, i) => 51 + i),
    why: /more of them than/,
  },
]) {
  test(`text replaces images that the provider would refuse: ${name}`, () => {
    const model = 'claude-sonnet-4-5'
    const { body, notes } = prepare({ messages: [...asking(...media), again], provider: 'anthropic', model })
    const messages = body['messages'] as { content: { type: string; text?: string }[] }[]
    const shown = messages.flatMap(({ content }) =>
      content[0]?.type === 'image' ? [Number(/\d+/.exec(content[1]?.text ?? '')?.[0])] : [],
    )
    assert.deepEqual(shown, left)
    assert.deepEqual(refuse('anthropic-messages', body, { provider: 'anthropic', model }), [])
    const gone = notes.filter((note) => note.rule === 'fit')
    assert.equal(gone.length, media.length - left.length)
    for (const note of gone) assert.match(note.why, why ?? /never/)
    if (gone.length > 0) assert.match(JSON.stringify(messages), /\[image\/png, not shown\]/)
  })
}

test('a longer history keeps the gaps of a shorter one until the next step', () => {
  const media = Array.from({ length: 40 }, () => picture(2500, 2500))
  const prefixes = [21, 25, 30].map((count) => {
    const messages = [...asking(...media.slice(0, count)), again]
    const { body } = prepare({ messages, provider: 'anthropic', model: 'claude-opus-5' })
    return JSON.stringify(body['messages']).slice(0, 3000)
  })
  assert.equal(new Set(prefixes).size, 1)
})

test('a page of a PDF counts as the provider counts it', () => {
  const data = { kind: 'base64', base64: Buffer.from('%PDF-1.7 one page').toString('base64') } as const
  const messages: Message[] = [{ role: 'user', parts: [{ type: 'media', mediaType: 'application/pdf', data }] }]
  const tokens = (provider: string, model: string) => prepare({ provider, model, messages }).estimate.input
  assert.ok(tokens('anthropic', 'claude-opus-5') >= 1600)
  for (const [model, page] of [
    ['gemini-2.5-flash', 258],
    ['gemini-3.1-pro-preview', 560],
  ] as const) {
    const found = tokens('google', model)
    assert.ok(found >= page && found < page + 30, `${model}: ${found}`)
  }
})

test('an image that cannot be read, or is stored elsewhere, has no known size', () => {
  const broken = (base64: string): MediaPart => ({
    type: 'media',
    mediaType: 'image/png',
    data: { kind: 'base64', base64 },
  })
  for (const base64 of ['', 'AAAA', Buffer.from('<svg/>').toString('base64')]) {
    assert.equal(pixelsOf(broken(base64)), undefined)
  }
  assert.equal(pixelsOf({ type: 'media', mediaType: 'image/png', data: { kind: 'url', url: 'u' } }), undefined)
})
