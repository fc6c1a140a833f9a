// Text files in a fence of their own.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MediaPart } from '../../src/core/message.ts'
import { inlineTextFiles } from '../../src/run/text-files.ts'
import { onePixel, reply, user } from '../histories.ts'

test('text files are sent as text in a fence that is longer than any in them, if the model does not take them', () => {
  const file = (text: string | Buffer, mediaType: string, name?: string): MediaPart => ({
    type: 'media',
    mediaType,
    data: { kind: 'base64', base64: Buffer.from(text).toString('base64') },
    ...(name !== undefined && { name }),
  })
  const shown = (part: MediaPart, media: string[] = []) => {
    const [first] = inlineTextFiles(user(part), media).parts
    return first?.type === 'text' ? first.text : undefined
  }
  assert.equal(shown(file('a\n\n', 'text/plain')), 'text/plain:\n```\na\n```')
  assert.equal(shown(file('a', 'text/plain', 'a.txt')), 'a.txt:\n```\na\n```')
  assert.equal(shown(file('``', 'text/plain', 'x')), 'x:\n```\n``\n```')
  assert.equal(shown(file('```', 'text/plain', 'x')), 'x:\n````\n```\n````')
  assert.equal(shown(file('````` ```', 'text/plain', 'x')), 'x:\n``````\n````` ```\n``````')
  assert.equal(shown(file('<svg/>', 'image/svg+xml', 'x')), 'x:\n```\n<svg/>\n```')
  assert.equal(shown(file('a', 'text/plain'), ['text/*']), undefined)
  for (const type of ['image/png', 'audio/wav', 'video/mp4', 'application/pdf'])
    assert.equal(shown(file('a', type)), undefined, type)
  assert.equal(shown(file('a\0b', 'text/plain')), undefined)
  assert.equal(shown(file(Buffer.from([0xff, 0xfe, 0x41]), 'text/plain')), undefined)
  const plain = user('a')
  assert.equal(inlineTextFiles(plain, []), plain)
  const answered = reply('a')
  assert.equal(inlineTextFiles(answered, []), answered)
  const picture = user('a', onePixel)
  assert.equal(inlineTextFiles(picture, []), picture)
})
