// Text files reach every provider as text, wherever the wire has no place for a file of that type.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { MediaPart, UserMessage } from '../../src/core/message.ts'
import { prepare } from '../../src/runtime/prepare.ts'
import { inlineTextFiles } from '../../src/run/request/text-files.ts'
import { onePixel, reply } from '../histories.ts'

const file = (name: string | undefined, mediaType: string, content: string | Buffer): MediaPart => ({
  type: 'media',
  mediaType,
  ...(name !== undefined && { name }),
  data: { kind: 'base64', base64: Buffer.from(content).toString('base64') },
})

const user = (...parts: UserMessage['parts']): UserMessage => ({ role: 'user', parts })

const targets = [
  ['anthropic', 'claude-opus-5'],
  ['openai', 'gpt-5.6'],
  ['google', 'gemini-3-pro'],
  ['mistral', 'mistral-large-latest'],
  ['deepseek', 'deepseek-chat'],
  ['groq', 'llama-3.3-70b-versatile'],
  ['ollama', 'qwen3'],
] as const

for (const [provider, model] of targets) {
  test(`${provider} gets every text file, whatever its type`, () => {
    const files = [
      file('main.py', 'text/x-python', 'content of main.py'),
      file('conf.json', 'application/json', 'content of conf.json'),
      file('rows.csv', 'text/csv', 'content of rows.csv'),
      file('deploy.yaml', 'application/yaml', 'content of deploy.yaml'),
      file('Makefile', 'application/octet-stream', 'content of Makefile'),
    ]
    const { body } = prepare({ provider, model, messages: [user(...files, { type: 'text', text: 'Read them.' })] })
    const text = JSON.stringify(body)
    for (const { name = '', data } of files) {
      const base64 = data.kind === 'base64' ? data.base64 : ''
      assert.ok(text.includes(`content of ${name}`) || text.includes(base64), `${name} is not in the request`)
    }
    assert.doesNotMatch(text, /not shown/)
  })
}

test('a file that is not text stays a file, and is never put into the prompt', () => {
  const binary = file('data.bin', 'application/octet-stream', Buffer.from([0x61, 0x00, 0x62]))
  const invalid = file('old.txt', 'text/plain', Buffer.from([0xff, 0xfe, 0xfd]))
  const image = file('dot.png', 'image/png', 'claims to be an image')
  const message = user(binary, invalid, image)
  assert.equal(inlineTextFiles(message, []), message)
})

test('the same message gives the same object, so that a cached prefix stays equal', () => {
  const message = user(file('a.txt', 'text/plain', 'a'))
  assert.equal(inlineTextFiles(message, []), inlineTextFiles(message, []))
})

test('text files are sent as text in a fence that is longer than any in them, if the model does not take them', () => {
  const shown = (part: MediaPart, media: string[] = []) => {
    const [first] = inlineTextFiles(user(part), media).parts
    return first?.type === 'text' ? first.text : undefined
  }
  assert.equal(shown(file(undefined, 'text/plain', 'a\n\n')), 'text/plain:\n```\na\n```')
  assert.equal(shown(file('a.txt', 'text/plain', 'a')), 'a.txt:\n```\na\n```')
  assert.equal(shown(file('x', 'text/plain', '``')), 'x:\n```\n``\n```')
  assert.equal(shown(file('x', 'text/plain', '```')), 'x:\n````\n```\n````')
  assert.equal(shown(file('x', 'text/plain', '````` ```')), 'x:\n``````\n````` ```\n``````')
  assert.equal(
    shown(file('a.md', 'text/markdown', '````\ncode\n````')),
    'a.md:\n`````\n````\ncode\n````\n`````',
    'a fence in a file does not end the fence around it',
  )
  assert.equal(shown(file('x', 'image/svg+xml', '<svg/>')), 'x:\n```\n<svg/>\n```')
  assert.equal(shown(file(undefined, 'text/plain', 'a'), ['text/*']), undefined)
  for (const type of ['image/png', 'audio/wav', 'video/mp4', 'application/pdf'])
    assert.equal(shown(file(undefined, type, 'a')), undefined, type)
  assert.equal(shown(file(undefined, 'text/plain', 'a\0b')), undefined)
  assert.equal(shown(file(undefined, 'text/plain', Buffer.from([0xff, 0xfe, 0x41]))), undefined)
  const plain = user({ type: 'text', text: 'a' })
  assert.equal(inlineTextFiles(plain, []), plain)
  const answered = reply('a')
  assert.equal(inlineTextFiles(answered, []), answered)
  const picture = user({ type: 'text', text: 'a' }, onePixel)
  assert.equal(inlineTextFiles(picture, []), picture)
})
