import assert from 'node:assert/strict'
import test from 'node:test'
import { safeType } from '../../web/chat/media-type.ts'

test('a link to bytes of the log has a type that no browser runs', () => {
  for (const type of ['image/png', 'audio/wav', 'video/mp4', 'application/pdf', 'text/plain', 'IMAGE/JPEG'])
    assert.equal(safeType(type), type.toLowerCase())
  for (const type of [
    'text/html',
    'image/svg+xml',
    'application/xhtml+xml',
    'text/html;x=image/png',
    'image/png,<b>',
    '',
  ])
    assert.equal(safeType(type), 'application/octet-stream')
})
