// A chat through pipes: no terminal, so plain output and one message per line.

import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { newHome } from './command-line.ts'

const escape = '\u001B'

test('every slash command works through a pipe, in plain text', async (t) => {
  const { synapse, folder } = newHome(t)
  const { code, out, err } = await synapse(['chat', '--offline', '-m', 'anthropic'], {
    input: [
      '/history',
      'What is 17 + 25?',
      '/context',
      '/inspect',
      '/inspect body',
      '/usage',
      '/fork',
      'What did I say first?',
      '/undo',
      'How many messages?',
      '/retry openai/gpt-5.6',
      '/edit What is 3 + 4?',
      '/tree',
      '/fork fork-1',
      '/fork 99',
      '/resume',
      '/tools off clock',
      '/models opus-5',
      '/model mistral',
      '/search "17 + 25"',
      'One.',
      'Two.',
      '/compact',
      '/context',
      '/undo',
      '/export openai-chat chat.json',
      '/export openai-chat chat.json',
      '/nonsense',
      '/modle x',
      '/help',
      '/quit',
      'never read',
    ].join('\n'),
  })
  assert.equal(code, 0, err)
  assert.ok(!out.includes(escape), 'no colours and no movements')
  const seen = (words: RegExp) => assert.match(out, words)
  seen(/No messages yet/)
  seen(
    /→ add \{"a":17,"b":25\}\n← add 42\n\[offline emulator\] add answered: 42\nanthropic\/claude-opus-5 · 2 requests/,
  )
  seen(/4 messages in the log: 4 sent/)
  seen(/0 +user +\d+ +sent +What is 17 \+ 25\?/)
  seen(/Everything sent at \S+ is unchanged; new content starts at byte [\d,]+ of [\d,]+, at messages\[3\]/)
  seen(/"max_tokens": \d+/)
  seen(/provider +requests +tokens in +cached +tokens out +cost/)
  seen(/named fork-1/)
  seen(/Nothing to resume/)
  seen(/Undone.*What did I say first\?/)
  seen(/openai\/gpt-5\.6 · .* out/)
  seen(/→ add \{"a":3,"b":4\}/)
  seen(/├ +5 {2}user: What did I say first\?/)
  seen(/← here/)
  seen(/no message or named position "99"/)
  seen(/off {2}clock/)
  seen(/anthropic\/claude-opus-5 +1M +\$5\.00/)
  seen(/Continuing with mistral\./)
  seen(/A summary by the model now represents the first \d+ messages/)
  seen(/8 messages in the log: \d summarised, \d sent/)
  seen(/Summary undone/)
  seen(/Exported to chat\.json as openai-chat/)
  seen(/chat\.json already exists/)
  seen(/Unknown command \/nonsense/)
  seen(/Unknown command \/modle\. Did you mean \/model/)
  seen(/\/retry \[PROVIDER\/MODEL\]/)
  assert.ok(!out.includes('never read'))
  assert.equal((JSON.parse(readFileSync(join(folder, 'chat.json'), 'utf8')) as unknown[]).length, 8)
})

test('a failed answer in a pipe is exit code 1, and nothing is asked without a message', async (t) => {
  const { synapse } = newHome(t)
  const env = { OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:1/v1', OPENAI_COMPATIBLE_API_KEY: 'k' }
  const { code } = await synapse(['chat', '--offline', '-m', 'anthropic/claude-opus-5'], { input: '\n\n"""\n' })
  assert.equal(code, 0)
  const { code: failed, out } = await synapse(['chat', '-m', 'openai-compatible/m', '-o', 'stream=false'], {
    env,
    input: '/model nobody/x\nhello\n',
  })
  assert.match(out, /There is no provider "nobody"/)
  assert.match(out, /127\.0\.0\.1/)
  assert.equal(failed, 1)
})

test('an export from a chat contains its images, in every format of the command', async (t) => {
  const { synapse, folder } = newHome(t)
  const image = Buffer.concat([Buffer.from('\u0089PNG\r\n\u001A\n', 'latin1'), Buffer.alloc(5000, 7)])
  writeFileSync(join(folder, 'image.png'), image)
  await synapse(['--offline', '-a', 'image.png', 'Look.'])
  const lines = ['/export openai-chat chat.json', '/export html', '/export html chat.html', '/export codex', '/export']
  lines.push('/export htlm')
  const input = [...lines, '/quit', ''].join('\n')
  const { out, err } = await synapse(['chat', '-c', '--offline'], { input })
  for (const file of ['chat.json', 'chat.html']) {
    assert.ok(readFileSync(join(folder, file), 'utf8').includes(image.toString('base64')), file)
  }
  assert.match(out, /Exported to [\w-]+\.html as html\./)
  assert.match(out, /Exported to [\w-]+\.jsonl as codex\./)
  assert.match(out, /[\w-]+\.jsonl already exists/)
  assert.match(out + err, /Unknown format "htlm"\. The formats are archive, markdown, html, /)
  assert.ok(!existsSync(join(folder, 'htlm')))
})

test('a chat without messages leaves no conversation, and one whose question was undone stays', async (t) => {
  const { synapse } = newHome(t)
  await synapse(['chat', '--offline'], { input: '/help\n/quit\n' })
  assert.equal((await synapse(['log'])).out, '')
  await synapse(['chat', '--offline'], { input: 'Hello\n/undo\n/quit\n' })
  assert.match((await synapse(['log'])).out, /Hello/)
})
