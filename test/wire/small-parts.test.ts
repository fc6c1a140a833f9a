// Media types, pieces of text, events of a decoder, and lists of models.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/core/json.ts'
import type { Part } from '../../src/core/message.ts'
import {
  createDecoding,
  endReply,
  growPart,
  startPart,
  startReply,
  takeEvents,
} from '../../src/wires/shared/decoding.ts'
import { mediaFromUrl, acceptsMedia } from '../../src/wires/shared/media.ts'
import { googleModels, openaiModels } from '../../src/wires/shared/model-forms.ts'
import { openaiErrorBody } from '../../src/wires/shared/openai-rules.ts'
import { splitText } from '../../src/wires/shared/text.ts'

test('a medium is accepted by its type or by its family, and a data URL is its bytes', () => {
  assert.equal(acceptsMedia(['image/*', 'audio/wav'], 'image/png'), true)
  assert.equal(acceptsMedia(['image/*', 'audio/wav'], 'audio/wav'), true)
  assert.equal(acceptsMedia(['image/*', 'audio/wav'], 'audio/mp3'), false)
  assert.equal(acceptsMedia(['image/png'], 'image/pngx'), false)
  assert.equal(acceptsMedia([], 'image/png'), false)
  const read = (url: string) => mediaFromUrl(url, 'image/*')
  assert.deepEqual(read('https://a/b.png'), {
    type: 'media',
    mediaType: 'image/*',
    data: { kind: 'url', url: 'https://a/b.png' },
  })
  assert.deepEqual(read('data:image/png;base64,QQ=='), {
    type: 'media',
    mediaType: 'image/png',
    data: { kind: 'base64', base64: 'QQ==' },
  })
  assert.deepEqual(read('data:;base64,QQ==').mediaType, 'image/*')
  assert.deepEqual(read('data:text/plain;charset=utf-8;base64,QQ==').mediaType, 'text/plain')
  assert.equal(read('data:text/plain,QQ==').data.kind, 'url')
})

test('a text is split into pieces of at most a size, and never inside a pair of surrogates', () => {
  const split = (text: string, size: number) => [...splitText(text, size)]
  assert.deepEqual(split('abcde', 2), ['ab', 'cd', 'e'])
  assert.deepEqual(split('abcd', 2), ['ab', 'cd'])
  assert.deepEqual(split('', 2), [])
  assert.deepEqual(split('a👋b', 2), ['a', '👋', 'b'])
  assert.deepEqual(split('👋👋', 2), ['👋', '👋'])
  assert.deepEqual(split('a👋', 2), ['a', '👋'])
  assert.deepEqual(split('ab\ud800', 3), ['ab\ud800'], 'at the end nothing follows')
  assert.equal(split('👋', 1).join(''), '👋', 'a size of one ends too')
  assert.deepEqual(split('a\udbff\udfffb', 2), ['a', '\udbff\udfff', 'b'])
  assert.deepEqual(split('a\udfffb', 2), ['a\udfff', 'b'])
})

test('a reply is announced once, a single delta is one event, and only what is known ends it', () => {
  const origin = { protocol: 'p', provider: 'p', model: 'm' }
  const state = createDecoding(origin, undefined)
  startReply(state)
  startReply(state)
  assert.deepEqual(takeEvents(state), [{ type: 'reply-start', origin }])
  const part: Part = { type: 'text', text: '' }
  assert.deepEqual([startPart(state, part), startPart(state, part)], [0, 1])
  growPart(state, 1, 'a')
  assert.deepEqual(
    takeEvents(state).map((event) => event.type),
    ['part-start', 'part-start', 'part-delta'],
  )
  growPart(state, 1, 'b')
  growPart(state, 0, 'c')
  assert.deepEqual(takeEvents(state), [
    { type: 'part-delta', index: 1, text: 'b' },
    { type: 'part-delta', index: 0, text: 'c' },
  ])
  const stop = { reason: 'done' } as const
  assert.deepEqual(endReply(state, { stop, native: [], notes: [] }), [{ type: 'reply-end', origin, stop, native: [] }])
  assert.deepEqual(takeEvents(state), [])
})

test('a model is listed with its maker if its name has one, and an error in the shape of its provider', () => {
  assert.deepEqual(openaiModels.one('acme/x', 'p'), { id: 'acme/x', object: 'model', created: 0, owned_by: 'acme' })
  assert.equal((openaiModels.one('x', 'p') as JsonObject)['owned_by'], 'p')
  assert.equal((googleModels.one('x', 'p') as JsonObject)['name'], 'models/x')
  const issue = { rule: 'r', status: 400, message: 'No.' }
  const usual = { message: 'No.', type: 'invalid_request_error', param: null, code: null }
  assert.deepEqual(openaiErrorBody(issue), { error: usual })
  assert.deepEqual(openaiErrorBody({ ...issue, type: 't', param: 'p', code: 'c' }), {
    error: { message: 'No.', type: 't', param: 'p', code: 'c' },
  })
  assert.deepEqual(openaiErrorBody(issue, { provider: 'openrouter' }), { error: { message: 'No.', code: 400 } })
  assert.deepEqual(openaiErrorBody(issue, { provider: 'llama.cpp' }), {
    error: { code: 400, message: 'No.', type: 'invalid_request_error' },
  })
  assert.deepEqual(openaiErrorBody(issue, { provider: 'xai' }), { error: 'No.' })
  assert.deepEqual(openaiErrorBody({ ...issue, code: 'c' }, { provider: 'xai' }), { code: 'c', error: 'No.' })
  assert.deepEqual(openaiErrorBody({ ...issue, type: 'invalid_request_error' }, { provider: 'xai' }), { error: usual })
})
