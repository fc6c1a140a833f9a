// No string of the log reaches a terminal as it is: every string field of every kind of part, through every command
// that prints, on a real pseudo-terminal.

import assert from 'node:assert/strict'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { exportFormats } from '../../src/cli/export-lines.ts'
import { printable, styleFor } from '../../src/cli/terminal.ts'
import { escapedJson } from '../../src/core/json.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { writeTranscript } from '../../src/transcripts/index.ts'
import { newHome, type Home } from './command-line.ts'
import { hostileLog, obeyed, shown } from './hostile-log.ts'
import { keys, noTerminal, openTerminal } from './pseudo-terminal.ts'

const { archive, messages, fields } = hostileLog()
const { id } = archive.conversation

async function hostileHome(home: Home): Promise<void> {
  const store = await openSqliteStore(join(home.folder, 'log.db'))
  await store.importConversation('local', archive)
  await store.close()
  writeFileSync(join(home.folder, 'transcript.json'), JSON.stringify(writeTranscript(messages, 'synapse')))
}

/** What a terminal would obey, but for a line end, a tab, and the one sequence that clears the line of a progress. */
function obeyedIn(screen: string): string[] {
  const own = screen.replaceAll('\u001B[K', '')
  const found = own.match(/[[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]--[\t\n\r]]/gv) ?? []
  return [...new Set([...found, ...(screen.includes('\rover') ? ['\r'] : [])])].map((one) => JSON.stringify(one))
}

/** Of `obeyed`, without what the line editor itself may send. */
const sequences = [
  '\u001B]',
  '\u0007',
  '\u001B[2J',
  '\u001B[31m',
  '\u009B',
  '\u0085',
  '\b',
  '\u007F',
  '\u202E',
  '\u2066',
]
sequences.push('\u061C', '\u2028', '\u2029', '\rover')

function assertNot(screen: string, bad: string): void {
  const at = screen.indexOf(bad)
  assert.equal(at, -1, `${JSON.stringify(bad)} in ${JSON.stringify(screen.slice(Math.max(0, at - 200), at + 50))}`)
}

const db = ['--db', 'log.db']
const printing: Record<string, { args: string[]; shows?: RegExp; code?: number }> = {
  log: { args: ['log'], shows: /title␛/ },
  'log ID': { args: ['log', id], shows: /mediaType␛\]52/ },
  'log --json': { args: ['log', '--json'] },
  'log ID --json': { args: ['log', id, '--json'], shows: /\\u009b31m\\u0085/ },
  inspect: { args: ['inspect', id], shows: /findable/ },
  'inspect --json': { args: ['inspect', id, '--json'], shows: /\\u202e/ },
  'inspect --body': { args: ['inspect', id, '--body'], shows: /\\u202e/ },
  'inspect --diff': { args: ['inspect', id, '--diff'], code: 2 },
  usage: { args: ['usage'], shows: /exchange\.provider␛/ },
  'usage --json': { args: ['usage', '--json'] },
  search: { args: ['search', 'findable'], shows: /findable/ },
  'search --json': { args: ['search', 'findable', '--json'], shows: /\\u009b/ },
  doctor: { args: ['doctor'] },
  'doctor --json': { args: ['doctor', '--json'] },
  'convert to a provider': { args: ['convert', 'transcript.json', '--to', 'openai/gpt-5.6'], shows: /\\u202e/ },
  'convert to a format': { args: ['convert', 'transcript.json', '--to', 'anthropic-messages'], shows: /\\u202e/ },
  check: { args: ['check', 'transcript.json', '--for', 'openai/gpt-5.6'] },
  'check --json': { args: ['check', 'transcript.json', '--for', 'openai/gpt-5.6', '--json'] },
  import: { args: ['import', 'transcript.json'] },
  ask: { args: ['--offline', '--conversation', id, 'What did I say first?'] },
  'ask --json': { args: ['--offline', '--json', '--conversation', id, 'What did I say first?'] },
}

for (const format of exportFormats) {
  const shows = format === 'markdown' ? /mediaType␛\\\]52/ : undefined
  printing[`export --format ${format}`] = { args: ['export', id, '--format', format], ...(shows && { shows }) }
}

/** Commands that have no store. */
const withoutStore = new Set(['convert to a provider', 'convert to a format', 'check', 'check --json'])

test('the hostile log has every kind of part and many fields', () => {
  assert.ok(fields.size >= 60, `${fields.size} fields`)
  for (const field of ['user(media).mediaType', 'results(tool-result).output(media).name', 'reply(opaque).kind'])
    assert.ok(
      [...fields].some((one) => one.includes(field.slice(field.indexOf('(')))),
      field,
    )
})

for (const [name, { args, shows, code }] of Object.entries(printing)) {
  test(
    `on a terminal, ${name} sends nothing that a terminal obeys`,
    { skip: noTerminal, timeout: 60_000 },
    async (t) => {
      const home = newHome(t)
      await hostileHome(home)
      const screen = openTerminal(t, home, [...args, ...(withoutStore.has(name) ? [] : db)], { env: { NO_COLOR: '1' } })
      const ended = await screen.ended
      assert.deepEqual(obeyedIn(screen.raw), [], screen.raw.slice(0, 2000))
      assert.ok(ended === (code ?? 0) || code === undefined, `${ended}: ${screen.text.slice(0, 500)}`)
      if (shows) assert.match(screen.text, shows)
    },
  )
}

test('what delete asks and says about a title is not obeyed', { skip: noTerminal, timeout: 60_000 }, async (t) => {
  const home = newHome(t)
  await hostileHome(home)
  const screen = openTerminal(t, home, ['delete', id, ...db], { env: { NO_COLOR: '1' } })
  await screen.see(/title␛.*\[y\/N\]/s)
  screen.type(`y${keys.enter}`)
  assert.equal(await screen.ended, 0)
  for (const bad of sequences) assertNot(screen.raw, bad)
})

test(
  'no slash command of a chat sends what is in the log as it is',
  { skip: noTerminal, timeout: 90_000 },
  async (t) => {
    const home = newHome(t)
    await hostileHome(home)
    const args = ['chat', '--offline', '--conversation', id, ...db]
    const screen = openTerminal(t, home, args, { env: { NO_COLOR: '1' }, columns: 200 })
    const prompt = /you> $/
    await screen.see(prompt)
    const lines = ['/history', '/tree', '/context', '/inspect', '/inspect body', '/search findable', '/usage', '/edit']
    for (const line of [...lines, '/retry', '/fork', '/undo']) {
      screen.type(`${line}${keys.enter}`)
      await screen.see(prompt)
    }
    assert.match(screen.text, /mediaType␛\]52/)
    assert.match(screen.text, /control characters: write \/edit and the new words/)
    screen.type('/fork b')
    await screen.see(/fork b$/)
    screen.type(`${keys.tab}${keys.tab}`)
    screen.type(`\u0015/quit${keys.enter}`)
    assert.equal(await screen.ended, 0)
    for (const bad of sequences) assertNot(screen.raw, bad)
  },
)

test('a file or a pipe gets the text of a Markdown export as it is in the log', async (t) => {
  const home = newHome(t)
  await hostileHome(home)
  const { out } = await home.synapse(['export', id, '--format', 'markdown', ...db])
  assert.ok(out.includes(obeyed.slice(0, 20)))
})

test('JSON escapes what a terminal obeys and reads back as the same value', async (t) => {
  assert.deepEqual(JSON.parse(escapedJson({ obeyed }, 2)), { obeyed })
  const home = newHome(t)
  await hostileHome(home)
  const { out } = await home.synapse(['log', id, '--json', ...db])
  const read = out
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { message: unknown }).message)
  assert.deepEqual(read, messages)
  // An archive is sealed over what it escapes, and comes back as it was.
  assert.equal((await home.synapse(['export', id, '-o', 'a.jsonl', ...db])).code, 0)
  assert.equal((await home.synapse(['import', 'a.jsonl', '--db', 'other.db'])).code, 0)
  const back = (await home.synapse(['log', '--json', '--db', 'other.db'])).out
  assert.equal((JSON.parse(back) as { title: string }).title, `title${obeyed}`)
})

test('the printer keeps the styles of this program, and no other sequence', () => {
  const style = styleFor({ isTTY: true } as NodeJS.WriteStream, {})
  for (const paint of Object.values(style)) assert.equal(printable(paint('a')), paint('a'))
  assert.ok(printable(`a${obeyed}`).startsWith(`a${shown.slice(0, 19)}`))
  assert.equal(printable('\u001B[8mhidden\u001B[0m'), '␛[8mhidden␛[0m')
})

test('only the printer and the line editor write to the terminal', () => {
  const root = join(import.meta.dirname, '..', '..', 'src', 'cli')
  const writers = globSync('**/*.ts', { cwd: root }).filter((file) =>
    /(?:stdout|stderr|out|err|stream)\.write\((?!'')|console\./.test(readFileSync(join(root, file), 'utf8')),
  )
  assert.deepEqual(writers.toSorted(), ['input.ts', 'print.ts'])
})
