// When the bytes of a reply that passes through are sent: the end of it once it is in the log.

import assert from 'node:assert/strict'
import test from 'node:test'
import { passThrough } from '../../src/server/doors/pass-through.ts'
import { loadService } from '../../src/wires/list.ts'
import { openaiChatService } from '../../src/wires/openai-chat/service.ts'

/** A reply of these pieces, as it passes; each is read when the test asks for it. */
async function passingReply(pieces: readonly string[], whole = false, { ends } = openaiChatService) {
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
  const passes = passThrough(verbatim, find as never, { ends })
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
  assert.deepEqual(sent.splice(0), [])
  assert.equal(passes.replyId(), 'abcd')
  passes.ended()
  assert.deepEqual(sent, ['ta: [DONE]\n\n\n', 'end'])
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

for (const [wire, last] of Object.entries({
  'openai-chat': 'data: [DONE]\n\n',
  'mistral-chat': 'data: [DONE]\n\n',
  'cohere-chat': 'data:[DONE]\r\n\r\n',
  'anthropic-messages': 'data: {"type":"message_stop"}\n\n',
  'gemini-interactions': 'data: {"event_type": "interaction.completed"}\n\n',
  'gemini-generate': 'data: {"candidates":[{"finishReason":"STOP"}]}\n\n',
  'openai-responses': 'data: {"type":"response.completed"}\n\n',
  'ollama-chat': '{"done": true}\n',
})) {
  test(`a text about the last event of a stream is not taken for it (${wire})`, async () => {
    const piece = `data: ${JSON.stringify({ id: 'abcd', text: `It ends with:\n${last}` })}\n\n`
    const { passes, read, sent, start } = await passingReply([piece, piece, last], false, await loadService(wire))
    await read()
    passes.shown()
    await start()
    for (let i = 0; i < 2; i++) await read()
    assert.equal(sent.join('').slice(0, 2 * piece.length), piece + piece)
    assert.doesNotMatch(sent.join('').slice(2 * piece.length), /[\]}]/)
  })
}

test('a text about the end of streams is sent at once, wherever it is cut', async () => {
  const event = `data: {"id":"abcd","text":"It ends with a line such as data: [DONE] and nothing comes after that line."}\n\n`
  for (let cut = event.indexOf('[DONE]'); cut < event.length; cut++) {
    const pieces = [event.slice(0, cut), event.slice(cut), 'data: [DONE]\n\n']
    const { passes, read, sent, start } = await passingReply(pieces)
    await read()
    passes.shown()
    await start()
    await read()
    assert.equal(sent.join(''), event, `cut at ${cut}`)
    await read()
    assert.equal(sent.join(''), event, 'its own end is held back')
  }
})
