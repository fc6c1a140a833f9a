// When the bytes of a reply that passes through are sent: the end of it once it is in the log.

import assert from 'node:assert/strict'
import test from 'node:test'
import { passThrough } from '../../src/server/doors/pass-through.ts'

/** A reply of these pieces, as it passes; each is read when the test asks for it. */
async function passingReply(pieces: readonly string[], whole = false) {
  const verbatim = { provider: 'p', protocol: 'openai-chat', path: '/x', headers: {}, body: Buffer.from('{}'), whole }
  const unread = pieces.map((piece) => Buffer.from(piece))
  const reader = {
    read: async () => {
      const value = unread.shift()
      return value ? { done: false, value } : { done: true }
    },
    cancel: async () => {},
  }
  const body = { getReader: () => reader, cancel: reader.cancel }
  const headers = new Headers({ 'content-type': whole ? 'application/json' : 'text/event-stream' })
  const answer = { status: 200, headers, body, text: async () => '' }
  const find = async () => ({ transport: {} })
  const passes = passThrough(verbatim, find as never, { ends: /\[DONE\]/ })
  const { transport } = await passes.endpoint('p/m', undefined)
  const heard = transport.observe?.(answer, verbatim.body)
  const sent: string[] = []
  const start = async () =>
    (await passes.reply)?.start({
      write: (piece) => void sent.push(Buffer.from(piece as Uint8Array).toString()),
      end: () => void sent.push('end'),
      fail: () => void sent.push('failed'),
    })
  return { passes, read: () => heard?.body?.getReader().read(), sent, start }
}

test('what comes before the end of a reply is sent at once, and the end when the reply is in the log', async () => {
  const { passes, read, sent, start } = await passingReply(['data: {"id":"abcd"}\n\nda', 'ta: [DONE]\n\n', '\n'])
  await read()
  assert.equal(passes.shown(), true)
  await start()
  assert.deepEqual(sent.splice(0), ['data: {"id":"abcd"}\n\nda'])
  for (let i = 0; i < 3; i++) await read()
  assert.deepEqual(sent.splice(0), ['ta: '])
  assert.equal(passes.replyId(), 'abcd')
  passes.ended()
  assert.deepEqual(sent, ['[DONE]\n\n\n', 'end'])
})

test('of a reply that is not a stream nothing is sent before it is in the log', async () => {
  const { passes, read, sent, start } = await passingReply(['{"id":"ab', 'cd"}'], true)
  for (let i = 0; i < 3; i++) await read()
  passes.shown()
  await start()
  assert.deepEqual(sent, [])
  assert.equal(passes.replyId(), 'abcd')
  passes.ended()
  assert.deepEqual(sent, ['{"id":"abcd"}', 'end'])
})
