// What goes along with a question: options, files, tools.

import assert from 'node:assert/strict'
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { withFiles } from '../../src/cli/attachments.ts'
import { readOptions } from '../../src/cli/run-options.ts'
import { newHome } from './command-line.ts'

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

test('-f, -a, -t, -T, -o and --policy reach the request', async (t) => {
  const { synapse, folder } = newHome(t)
  writeFileSync(join(folder, 'notes.md'), 'The word is heron.\n')
  writeFileSync(join(folder, 'picture.txt'), png)
  // Larger than what is kept inside a message, so it takes the way through the blobs.
  writeFileSync(join(folder, 'big.pdf'), Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(200_000, 7)]))
  const files = ['-f', 'notes.md', '-a', 'picture.txt', '-a', 'big.pdf', '-T', 'add', '--policy', 'full']
  const options = ['-o', 'maxOutput=321', '-o', 'temperature=0.5', '-o', 'body.metadata={"user_id":"u"}']
  const asked = await synapse(['--offline', '-m', 'anthropic/claude-sonnet-4-6', ...files, ...options, 'Hello?'])
  assert.equal(asked.code, 0, asked.err)
  assert.match(asked.out, /It has 2 attachments/)
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
  const twice = await synapse(['--offline', '-m', 'anthropic', '-T', 'add', '-T', 'add', 'Hello?'])
  assert.match(twice.out, /tools that I am offered \(add\)/, twice.err)
  const none = await synapse(['--offline', '--no-tools', 'What are your tools?'])
  assert.match(none.out, /offered no tools/)
  const only = await synapse(['--offline', '-f', 'notes.md'])
  assert.match(only.out, /heron/, 'a file alone is a question')
})

test('a wrong option, file, tool or policy is one clear sentence, and nothing is stored', async (t) => {
  const { synapse, folder } = newHome(t)
  const [notes, picture] = [join(folder, 'notes.md'), join(folder, 'picture')]
  writeFileSync(notes, 'text')
  writeFileSync(picture, png)
  writeFileSync(join(folder, 'huge'), '')
  truncateSync(join(folder, 'huge'), 3 * 1024 ** 3)
  assert.throws(
    () => readOptions(['temprature=1']),
    /^SynapseError: options\.temprature: unknown key "temprature"; did you mean temperature\?$/,
  )
  assert.throws(() => readOptions(['temperature=hot']), /temperature: must be a number, not "hot"/)
  assert.throws(() => readOptions(['effort=huge']), /effort: unknown value "huge"; known are none, minimal/)
  assert.throws(() => readOptions(['maxOutput=1.5']), /maxOutput: must be a whole number, not 1\.5/)
  assert.throws(() => readOptions(['answerSchema=[]']), /answerSchema: must be a map/)
  assert.throws(() => withFiles('', ['nope.md'], []), /no file nope\.md/)
  assert.throws(() => withFiles('', [picture], []), /not text.*-a/)
  assert.throws(() => withFiles('', [], [notes]), /not an image.*-f/)
  assert.throws(() => withFiles('', [], ['https://example.com/x']), /the URL must end in/)
  const mistakes: [string[], RegExp][] = [
    [['-o', 'maxOutput'], /key=value/],
    [['-a', 'nope.png'], /no file nope\.png/],
    [['-a', '/dev/zero'], /\/dev\/zero is larger than 64 MB/],
    [['-f', '/dev/zero'], /\/dev\/zero is larger than 64 MB/],
    [['-f', 'huge'], /huge is larger than 64 MB/],
    [['--folder', '/nope'], /--folder takes a folder, but \/nope is not one/],
    [['-T', 'hammer'], /no tool "hammer".*clock, add/],
    [['--policy', 'thrifty'], /policy: must be one of economy, .*, not "thrifty"/],
    [['--protocol', 'smoke-signals'], /does not support/],
  ]
  for (const [args, words] of mistakes) {
    const { code, out, err } = await synapse(['--offline', ...args, 'hi'])
    assert.equal(code, 2, err)
    assert.equal(out, '')
    assert.match(err, words)
    assert.equal(err.trimEnd().split('\n').length, 1, err)
  }
  assert.match((await synapse(['log'])).err, /No conversations yet/)
})
