import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { newHome } from './command-line.ts'

test('without a key the emulator answers, with a tool call, and says that it is no model', async (t) => {
  const { synapse } = newHome(t)
  const { code, out, err } = await synapse(['What time is it?'])
  assert.equal(code, 0)
  assert.match(out, /offline emulator.*clock answered/)
  assert.match(err, /not a model/)
  assert.match(err, /→ clock/)
})

test('a question can come through a pipe, alone or after the words', async (t) => {
  const { synapse } = newHome(t)
  assert.match((await synapse([], { input: 'What time is it?\n' })).out, /clock answered/)
  const both = await synapse(['What did I say first?'], { input: 'the quick brown fox' })
  assert.match(both.out, /the quick brown fox/)
})

test('-c continues the last conversation, even with another provider', async (t) => {
  const { synapse } = newHome(t)
  await synapse(['-m', 'anthropic', '--offline', 'My name is Ada.'])
  for (const model of ['openai/gpt-5.6', 'google', 'mistral']) {
    const { out, code } = await synapse(['-c', '-m', model, '--offline', 'What did I say first?'])
    assert.equal(code, 0)
    assert.match(out, /My name is Ada\./, model)
  }
})

test('-c does not continue with a chat that was opened and left again', async (t) => {
  const { synapse } = newHome(t)
  await synapse(['--offline', 'My name is Ada.'])
  await synapse(['chat', '--offline'])
  assert.match((await synapse(['-c', '--offline', 'What is my name?'])).out, /Ada/)
  await synapse(['chat', '--offline'])
  assert.match((await synapse(['inspect', 'last'])).out, /Ada/)
})

test('--json prints every event as a line of JSON and nothing else', async (t) => {
  const { synapse } = newHome(t)
  const { out, err } = await synapse(['--json', 'What time is it?'])
  const events = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string })
  assert.equal(events[0]?.type, 'run-start')
  assert.equal(events.at(-1)?.type, 'run-end')
  assert.equal(err, '')
})

test('log lists conversations and shows one with calls, arguments and results', async (t) => {
  const { synapse } = newHome(t)
  await synapse(['What is 17 + 25?'])
  const listed = await synapse(['log'])
  assert.match(listed.out, /What is 17 \+ 25\?/)
  const [id = ''] = listed.out.split(' ')
  const shown = await synapse(['log', id])
  assert.match(shown.out, /→ add \{"a":17,"b":25\}/)
  assert.match(shown.out, /← add: 42/)
  assert.equal((await synapse(['log', 'last'])).out, shown.out)
  const lines = (await synapse(['log', id, '--json'])).out.trimEnd().split('\n')
  assert.equal(lines.length, 4)
})

test('a prompt of ten megabytes that no model reads is one clear sentence, and is stored', async (t) => {
  const { synapse } = newHome(t)
  const { code, err } = await synapse(['--offline', 'Summarise this.'], { input: 'x'.repeat(10_000_000) })
  assert.equal(code, 1)
  assert.match(err, /context window/)
  assert.equal(err.trimEnd().split('\n').length, 1)
  const [id = ''] = (await synapse(['log'])).out.split(' ')
  assert.ok((await synapse(['log', id])).out.length > 10_000_000)
})

test('control sequences from a model never reach the terminal', async (t) => {
  const { synapse } = newHome(t)
  const { out } = await synapse(['What did I say first? \u001B]0;owned\u0007\u001B[2J'])
  assert.ok(!out.includes('\u001B') && !out.includes('\u0007'))
})

const mistakes: [string, string[], Record<string, string>, number, RegExp][] = [
  ['an unknown provider', ['-m', 'antropic/x', 'hi'], {}, 2, /antropic.*anthropic/s],
  ['a missing key', ['-m', 'anthropic/claude-opus-5', 'hi'], {}, 2, /ANTHROPIC_API_KEY/],
  ['an unknown option', ['--modell', 'x', 'hi'], {}, 2, /--modell/],
  ['no question at all', [], {}, 2, /No question/],
  ['nothing to continue', ['-c', 'hi'], {}, 2, /no conversation to continue/],
  ['an unknown conversation', ['log', 'nope'], {}, 2, /no conversation nope/],
  ['a wrong number', ['log', '--limit', 'many'], {}, 2, /--limit.*many/],
  ['the last conversation of an empty store', ['log', 'last'], {}, 2, /no conversations yet/],
  ['a deletion without an id', ['delete', 'last'], {}, 2, /by its id/],
  ['an empty id', ['log', ''], {}, 2, /conversation id is empty/],
  ['an empty id to continue with', ['--conversation', '', 'hi'], {}, 2, /conversation id is empty/],
  ['an empty path', ['--db', '', 'hi'], {}, 2, /--db takes a file path/],
  ['a word too many', ['doctor', 'my.db'], {}, 2, /Unexpected argument "my\.db"/],
  ['a question to a chat', ['chat', 'hello'], {}, 2, /Unexpected argument "hello"/],
  ['events of a chat', ['chat', '--json'], {}, 2, /--json is for a single question/],
  ['a value that begins with a dash', ['-s', '-x', 'hi'], {}, 2, /'-s' argument is ambiguous\..* '--system=-XYZ'/],
  ['a time beyond all calendars', ['keys', 'create', '--expires', '1e300'], {}, 2, /--expires.*1e300/],
  ['a key with a line break', ['-m', 'openai', 'hi'], { OPENAI_API_KEY: 'a b' }, 2, /OPENAI_API_KEY/],
]

for (const [what, args, env, expected, words] of mistakes) {
  test(`${what} is one clear sentence and exit code ${expected}`, async (t) => {
    const { synapse } = newHome(t)
    const { code, out, err } = await synapse(args, { env })
    assert.equal(code, expected)
    assert.equal(out, '')
    assert.match(err, words)
    assert.equal(err.trimEnd().split('\n').length, 1, err)
  })
}

test('a broken database file is named and not changed, and no new one is created', async (t) => {
  const { synapse, folder } = newHome(t)
  const file = join(folder, 'broken.db')
  writeFileSync(file, 'this is no database, but somebody may need it')
  const { code, err } = await synapse(['--db', file, 'hi'])
  assert.equal(code, 1)
  assert.ok(err.includes(file))
  assert.equal(err.trimEnd().split('\n').length, 1, err)
  assert.equal(readFileSync(file, 'utf8'), 'this is no database, but somebody may need it')
})

test('a folder that cannot be written is one clear sentence', async (t) => {
  const { synapse, folder } = newHome(t)
  const closed = join(folder, 'closed')
  mkdirSync(closed)
  chmodSync(closed, 0o500)
  writeFileSync(join(folder, 'a-file'), '')
  // Root may write into any folder, but not into one that is a file.
  const file = join(process.getuid?.() === 0 ? join(folder, 'a-file') : closed, 'chats.db')
  const { code, err } = await synapse(['--db', file, 'hi'])
  assert.equal(code, 1)
  assert.ok(err.includes(folder), err)
  assert.equal(err.trimEnd().split('\n').length, 1, err)
})

test('--version and --help need nothing and write nothing', async (t) => {
  const { synapse } = newHome(t)
  for (const flag of ['--version', '-V']) {
    assert.match((await synapse([flag], { process: true })).out, /^\d+\.\d+\.\d+\n$/)
  }
  assert.match((await synapse(['--help'])).out, /synapse chat|chat /)
  assert.match((await synapse(['convert', '--help'])).out, /--to/)
  assert.match((await synapse(['help', 'convert'])).out, /--to/)
})

test('an empty argument never names the only conversation', async (t) => {
  const { synapse } = newHome(t)
  await synapse(['--offline', 'Hello'])
  assert.equal((await synapse(['delete', '--yes', ''])).code, 2)
  assert.match((await synapse(['log'], { env: { SYNAPSE_DB: '' } })).out, /Hello/)
})

test('piped input that is not text is refused, not sent as garbage', async (t) => {
  const { synapse } = newHome(t)
  const { code, err } = await synapse(['What is this?'], { input: 'PNG\u0000\u0001' })
  assert.equal(code, 2)
  assert.match(err, /piped input is not text\. Give images and PDFs with -a\.\n$/)
})

test('--resume reports that there is nothing to resume', async (t) => {
  const { synapse } = newHome(t)
  await synapse(['--offline', 'Hello'])
  const { code, out, err } = await synapse(['--resume', '--offline'])
  assert.deepEqual({ code, out }, { code: 0, out: '' })
  assert.match(err, /Nothing to resume/)
})
