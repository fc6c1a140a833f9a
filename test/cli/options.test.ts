// What goes along with a question: options, files, tools.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { newHome } from './command-line.ts'

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

test('-f, -a, -t, -T, -o and --policy reach the request', async (t) => {
  const { synapse, folder } = newHome(t)
  writeFileSync(join(folder, 'notes.md'), 'The word is heron.\n')
  writeFileSync(join(folder, 'picture.txt'), png)
  // Larger than what is kept inside a message, so it takes the way through the blobs.
  writeFileSync(join(folder, 'big.pdf'), Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(200_000, 7)]))
  const asked = await synapse([
    '--offline',
    '-m',
    'anthropic/claude-sonnet-4-6',
    ...['-f', 'notes.md', '-a', 'picture.txt', '-a', 'big.pdf', '-t', 'add'],
    ...['-o', 'maxOutput=321', '-o', 'temperature=0.5', '-o', 'body.metadata={"user_id":"u"}', '--policy', 'full'],
    'Hello?',
  ])
  assert.equal(asked.code, 0, asked.err)
  assert.match(asked.out, /It holds 2 of media/)
  assert.match(asked.out, /tools that I am offered \(add\)/)
  const body = JSON.parse((await synapse(['inspect', 'last', '--body'])).out) as {
    messages: { content: { type: string; text?: string; source?: { media_type: string; data: string } }[] }[]
  }
  const [text, image, file, question] = body.messages[0]?.content ?? []
  assert.equal(text?.text, 'notes.md:\n\nThe word is heron.')
  assert.equal(image?.source?.media_type, 'image/png', 'by its bytes, not by its name')
  assert.equal(file?.source?.media_type, 'application/pdf')
  assert.equal(Buffer.from(file?.source?.data ?? '', 'base64').length, 200_009)
  assert.equal(question?.text, 'Hello?')
  const none = await synapse(['--offline', '-T', 'What are your tools?'])
  assert.match(none.out, /offered no tools/)
  const only = await synapse(['--offline', '-f', 'notes.md'])
  assert.match(only.out, /heron/, 'a file alone is a question')
})

test('a wrong option, file, tool or policy is one clear sentence, and nothing is kept', async (t) => {
  const { synapse, folder } = newHome(t)
  writeFileSync(join(folder, 'notes.md'), 'text')
  writeFileSync(join(folder, 'picture'), png)
  const mistakes: [string[], RegExp][] = [
    [['-o', 'temprature=1'], /no option "temprature".*temperature/],
    [['-o', 'temperature=hot'], /from 0 to 2, not "hot"/],
    [['-o', 'effort=huge'], /effort is one of none, minimal/],
    [['-o', 'maxOutput'], /key=value/],
    [['-f', 'nope.md'], /no file nope\.md/],
    [['-f', 'picture'], /not text.*-a/],
    [['-a', 'notes.md'], /no image.*-f/],
    [['-a', 'https://example.com/x'], /cannot be told from its name/],
    [['-t', 'hammer'], /no tool "hammer".*clock, add/],
    [['--policy', 'thrifty'], /no policy "thrifty"/],
    [['--protocol', 'smoke-signals'], /does not speak/],
  ]
  const results = await Promise.all(mistakes.map(([args]) => synapse(['--offline', ...args, 'hi'])))
  for (const [index, { code, out, err }] of results.entries()) {
    assert.equal(code, 2, err)
    assert.equal(out, '')
    assert.match(err, mistakes[index]?.[1] ?? /never/)
    assert.equal(err.trimEnd().split('\n').length, 1, err)
  }
  assert.match((await synapse(['log'])).err, /No conversations yet/)
})
