// Export and import by command.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { readFile as readText } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { newHome } from '../cli/command-line.ts'
import { noTerminal, openTerminal } from '../cli/pseudo-terminal.ts'

const hasPipes = process.platform !== 'win32'

test('a conversation moves from one store to another unchanged', async (t) => {
  const { synapse, folder } = newHome(t)
  await synapse(['--offline', '-m', 'anthropic', 'What is 17 + 25?'])
  await synapse(['--offline', '-c', '-m', 'openai/gpt-5.6', 'What did I say first?'])
  const [id = ''] = (await synapse(['log'])).out.split(' ')
  const file = join(folder, 'chat.jsonl')
  assert.equal((await synapse(['export', id.slice(0, 20), '-o', file])).code, 0)
  const there = ['--db', join(folder, 'there.db')]
  const imported = await synapse(['import', file, ...there])
  assert.equal(imported.code, 0, imported.err)
  assert.ok(imported.out.startsWith(id))
  assert.equal((await synapse(['export', id, ...there])).out, readFileSync(file, 'utf8'))
  const twice = await synapse(['import', file, ...there])
  assert.equal(twice.code, 2)
  assert.match(twice.err, /already exists.*--copy/)
  assert.equal(
    (await synapse(['import', '--copy', '--label', 'second', '-', ...there], { input: readFileSync(file, 'utf8') }))
      .code,
    0,
  )
  assert.equal((await synapse(['log', ...there])).out.trimEnd().split('\n').length, 2)
  // And it continues there.
  const { out } = await synapse(['--offline', '--conversation', id, 'What did I say first?', ...there])
  assert.match(out, /What is 17 \+ 25\?/)
})

test('one bad file among several: nothing at all is imported', async (t) => {
  const { synapse, folder } = newHome(t)
  await synapse(['--offline', 'Hello'])
  const lines = (await synapse(['export', '--all'])).out.trimEnd().split('\n')
  writeFileSync(join(folder, 'good.jsonl'), `${lines.join('\n')}\n`)
  writeFileSync(join(folder, 'bad.jsonl'), `${lines.with(1, lines[1]?.replace('Hello', 'Hullo') ?? '').join('\n')}\n`)
  const db = ['--db', join(folder, 'there.db')]
  const { code, err } = await synapse(['import', 'good.jsonl', 'bad.jsonl', ...db])
  assert.equal(code, 2)
  assert.match(err, /bad\.jsonl: Line 2 is not what was exported/)
  assert.equal((await synapse(['log', ...db])).out, '')

  writeFileSync(join(folder, 'cut.jsonl'), lines.join('\n').slice(0, -30))
  const cut = await synapse(['import', 'cut.jsonl', ...db])
  assert.equal(cut.code, 1)
  assert.match(cut.err, /the file was cut off there/)
  assert.match(cut.out, /2 entries/)
})

test('an existing conversation is refused, and the rest of a backup is imported', async (t) => {
  const { synapse, folder } = newHome(t)
  for (const question of ['one', 'two', 'three']) await synapse(['--offline', question])
  const ids = (await synapse(['log'])).out.trimEnd().split('\n')
  assert.equal((await synapse(['export', '--all', '-o', 'all.jsonl'])).err, '3 conversations exported to all.jsonl.\n')
  const db = ['--db', join(folder, 'there.db')]
  await synapse(['export', ids[1]?.slice(0, 36) ?? '', '-o', 'two.jsonl'])
  await synapse(['import', 'two.jsonl', ...db])
  const { code, out, err } = await synapse(['import', 'all.jsonl', ...db])
  assert.equal(code, 2)
  assert.equal(out.trimEnd().split('\n').length, 2)
  assert.match(
    err,
    /^synapse: Conversation \S+ already exists\.[^\n]*\n2 conversations imported\. 1 conversation existed already\.\n$/,
  )
  assert.deepEqual((await synapse(['log', ...db])).out.trimEnd().split('\n'), ids)
})

test('a file that cannot be read is named, and a pipe as what it is', async (t) => {
  const { synapse, folder } = newHome(t)
  const db = ['--db', join(folder, 'there.db')]
  // Its beginning cannot be read by anyone.
  const unreadable = '/proc/self/mem'
  if (existsSync(unreadable)) {
    const { code, err } = await synapse(['import', unreadable, ...db])
    assert.equal(code, 2)
    assert.match(err, /^synapse: \/proc\/self\/mem cannot be read \(EIO\)\.\n$/)
  }
  const piped = await synapse(['import', '-', ...db], { input: 'oops' })
  assert.equal(piped.code, 2)
  assert.match(piped.err, /^synapse: standard input: This is not JSON/)
})

test('Markdown, HTML, transcripts and a redacted archive come out; a failed export leaves no file', async (t) => {
  const { synapse, folder } = newHome(t)
  await synapse(['--offline', '-m', 'openai', 'My mail is ada@example.org. What is 17 + 25?'])
  const [id = ''] = (await synapse(['log'])).out.split(' ')
  assert.match((await synapse(['export', id, '--format', 'markdown'])).out, /\*\*→ add\*\*/)
  assert.match((await synapse(['export', id, '--format', 'html'])).out, /^<!doctype html>/)
  assert.match((await synapse(['export', id, '--format', 'openai-chat'])).out, /"tool_calls"/)
  const lines = (await synapse(['export', id, '--format', 'claude-code'])).out.trimEnd().split('\n')
  for (const line of lines) assert.equal(typeof JSON.parse(line), 'object')
  for (const format of ['archive', 'markdown', 'html', 'openai-chat']) {
    const { out, code } = await synapse(['export', id, '--format', format, '--redact'])
    assert.equal(code, 0)
    assert.ok(!out.includes('ada@example.org') && out.includes('[hidden]'), format)
  }
  assert.equal((await synapse(['export', id, '--format', 'pdf'])).code, 2)
  const nowhere = await synapse(['export', id, '-o', join(folder, 'missing', 'x.jsonl')])
  assert.equal(nowhere.code, 2)
  assert.match(nowhere.err, /cannot be written/)
  assert.ok(readdirSync(folder).every((name) => !name.endsWith('.part')))
})

test(
  'an export to a link or a pipe is written to its target, and leaves it in place',
  { skip: !hasPipes },
  async (t) => {
    const { synapse, folder } = newHome(t)
    await synapse(['--offline', 'Hello'])
    const [id = ''] = (await synapse(['log'])).out.split(' ')
    const [file, link, pipe] = ['chat.md', 'link.md', 'pipe'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ]
    writeFileSync(file, 'before')
    symlinkSync(file, link)
    assert.equal((await synapse(['export', id, '--format', 'markdown', '-o', link])).code, 0)
    assert.ok(lstatSync(link).isSymbolicLink())
    assert.match(readFileSync(file, 'utf8'), /Hello/)
    spawnSync('mkfifo', [pipe])
    const [read, { code, err }] = await Promise.all([
      readText(pipe, 'utf8'),
      synapse(['export', id, '--format', 'markdown', '-o', pipe]),
    ])
    assert.equal(code, 0, err)
    assert.equal(read, readFileSync(file, 'utf8'))
    assert.ok(lstatSync(pipe).isFIFO())
  },
)

test('other formats become new conversations', async (t) => {
  const { synapse, folder } = newHome(t)
  const chat = [
    { role: 'user', content: 'What is the capital of France?' },
    { role: 'assistant', content: 'Paris.' },
  ]
  writeFileSync(join(folder, 'chat.json'), JSON.stringify(chat))
  const { code, out, err } = await synapse(['import', 'chat.json'])
  assert.equal(code, 0, err)
  assert.match(out, /What is the capital of France\? {2}2 entries/)
  assert.match((await synapse(['search', 'paris'])).out, /Paris\./)
  const mistakes: [string[], RegExp][] = [
    [['import', 'nothing.json'], /There is no file nothing\.json/],
    [['import'], /Name the file/],
    [['import', '.'], /is a folder/],
    [['--offline', '-a', '.', 'hi'], /\. is a folder, not a file/],
    [['trust'], /in or above \S+, and no agent/],
    [['import', 'chat.json', '--from', 'word'], /Unknown format "word"/],
    [['export'], /Name one conversation/],
    [['export', 'nope'], /no conversation nope/],
  ]
  for (const [args, words] of mistakes) {
    const wrong = await synapse(args)
    assert.equal(wrong.code, 2, args.join(' '))
    assert.match(wrong.err, words)
    assert.equal(wrong.err.trimEnd().split('\n').length, 1)
  }
})

test('search finds messages and tool calls, filtered by kind, tool, provider and time', async (t) => {
  const { synapse } = newHome(t)
  await synapse(['--offline', '-m', 'anthropic', 'What is 17 + 25?'])
  await synapse(['--offline', '-m', 'openai', 'Tell me about the platypus \u001B[2J.'])
  const found = await synapse(['search', 'platypus'])
  assert.equal(found.code, 0)
  assert.match(found.out, /user {2}Tell me about the platypus/)
  assert.ok(!found.out.includes('\u001B'))
  const hits = async (...args: string[]) => {
    const { out } = await synapse(['search', '--json', ...args])
    return out
      .trimEnd()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { kind: string; tool?: string; entryId: string })
  }
  assert.deepEqual(
    (await hits('42', '--tool', 'add')).map(({ kind, tool }) => [kind, tool]),
    [['output', 'add']],
  )
  assert.equal((await hits('25', '--kind', 'user')).length, 1)
  assert.equal((await hits('emulator', '--provider', 'openai')).length, 1)
  assert.equal((await hits('platypus', '--before', '2020-01-01')).length, 0)
  assert.equal((await synapse(['search', 'quetzalcoatl'])).code, 1)
  assert.equal((await synapse(['search'])).code, 2)
  assert.equal((await synapse(['search', 'x', '--kind', 'poem'])).code, 2)
  assert.equal((await synapse(['search', 'x', '--after', 'yesterday'])).code, 2)
})

test('delete removes the text from the file, and asks before', async (t) => {
  const { synapse, folder } = newHome(t)
  const db = ['--db', join(folder, 'chats.db')]
  await synapse(['--offline', 'The secretquokka sleeps.', ...db])
  await synapse(['--offline', 'The harmless platypus swims.', ...db])
  const line = (await synapse(['log', ...db])).out.split('\n').find((one) => one.includes('secretquokka')) ?? ''
  const [id = ''] = line.split(' ')
  const asked = await synapse(['delete', id, ...db])
  assert.equal(asked.code, 2)
  assert.match(asked.err, /--yes/)
  const gone = await synapse(['delete', id, id.slice(0, 30), '--yes', ...db])
  assert.equal(gone.code, 0, gone.err)
  assert.equal(gone.out.trimEnd().split('\n').length, 1, 'named twice, deleted once')
  for (const name of readdirSync(folder).filter((one) => one.startsWith('chats.db'))) {
    assert.ok(!readFileSync(join(folder, name)).includes('ecretquokka'), name)
  }
  assert.match((await synapse(['log', ...db])).out, /platypus/)
  assert.equal((await synapse(['delete', id, '--yes', ...db])).code, 2)
})

test('migrate says what there is to do, and does it', async (t) => {
  const { synapse, folder } = newHome(t)
  const db = ['--db', join(folder, 'chats.db')]
  assert.equal((await synapse(['migrate', '--check', ...db])).code, 1)
  assert.match((await synapse(['migrate', ...db])).out, /now it is \d/)
  const again = await synapse(['migrate', '--check', ...db])
  assert.equal(again.code, 0)
  assert.match(again.out, /up to date/)
})

test('a folder in place of the database is one sentence, and the same exit code for every command', async (t) => {
  const { synapse, folder } = newHome(t)
  for (const command of [['log'], ['migrate'], ['migrate', '--check'], ['doctor'], ['export', '--all']]) {
    assert.deepEqual(await synapse([...command, '--db', folder]), {
      code: 1,
      out: '',
      err: `synapse: ${folder} is a folder. Give the path of a file.\n`,
    })
  }
})

test('on a terminal, migrate shows its steps and how much is done', { skip: noTerminal }, async (t) => {
  const screen = openTerminal(t, newHome(t), ['migrate'])
  await screen.see(/step 1 of (\d+): 0 %/)
  await screen.see(/step 2 of \d+: \d+ %/)
  await screen.see(/now it is \d+ \(\d+ steps in \d+\.\d s\)/)
  assert.equal(await screen.ended, 0)
})
