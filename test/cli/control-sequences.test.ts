// No string of the log reaches a terminal as it is: every string field of every kind of part, through every command
// that prints. Here the streams say that they are a terminal; npm run test:all has the same on a pseudo-terminal.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { printable, styleFor } from '../../src/cli/terminal.ts'
import { escapedJson } from '../../src/core/json.ts'
import { serveEmulator } from '../../src/testing.ts'
import { newHome } from './command-line.ts'
import { obeyed, shown } from './hostile-log.ts'
import {
  assertNothingObeyed,
  comparing,
  db,
  fields,
  hostileHome,
  id,
  messages,
  printingCommands,
  wordsOf,
} from './printing.ts'
import { keys, noTerminal, openTerminal } from './pseudo-terminal.ts'

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

test('the hostile log has every kind of part and many fields', () => {
  assert.ok(fields.size >= 60, `${fields.size} fields`)
  for (const field of ['user(media).mediaType', 'results(tool-result).output(media).name', 'reply(opaque).kind'])
    assert.ok(
      [...fields].some((one) => one.includes(field.slice(field.indexOf('(')))),
      field,
    )
})

for (const name of printingCommands) {
  test(`on a terminal, ${name} sends nothing that a terminal obeys`, async (t) => {
    const home = newHome(t)
    await hostileHome(home)
    const { code, out, err } = await home.synapse(wordsOf(name), { env: { NO_COLOR: '1' }, columns: 80 })
    assertNothingObeyed(name, out + err, code)
  })
}

test('an answer in Markdown that streams sends nothing that a terminal obeys', async (t) => {
  const text = [
    `# heading ${obeyed}`,
    `plain ${obeyed} **bold ${obeyed}** \`code ${obeyed}\` [link ${obeyed}](https://a.example/${obeyed})`,
    `- item ${obeyed}`,
    `> quote ${obeyed}`,
    `| a ${obeyed} | b |\n|---|---|\n| c | ${obeyed} |`,
    `\`\`\`js ${obeyed}\nconst a = "${obeyed}" // ${obeyed}\n\`\`\``,
  ].join('\n\n')
  const emulator = await serveEmulator({ reply: () => ({ parts: [{ type: 'text', text }] }) })
  t.after(() => emulator.close())
  const env = { OPENAI_API_KEY: 'sk-test-key', OPENAI_BASE_URL: `${emulator.url}/openai/v1` }
  const home = newHome(t)
  for (const colour of [{ NO_COLOR: '1' }, { TERM: 'xterm-256color' }]) {
    const { code, out, err } = await home.synapse(['-m', 'openai/gpt-5.6', 'hi'], {
      env: { ...env, ...colour },
      columns: 80,
    })
    assert.equal(code, 0, err)
    assert.match(out, /heading/)
    for (const bad of sequences.filter((one) => one !== '\u001B[31m')) assertNot(out + err, bad)
  }
})

test('answers that compare shows next to each other are not obeyed', { skip: noTerminal }, async (t) => {
  const home = newHome(t)
  await hostileHome(home)
  const screen = openTerminal(t, home, [...comparing, ...db, `Repeat ${obeyed}`], { env: { NO_COLOR: '1' } })
  await screen.see(/Continue with which answer\?/)
  screen.type(keys.enter)
  assert.equal(await screen.ended, 0)
  for (const bad of sequences) assertNot(screen.raw, bad)
})

test('the preview of an untrusted folder sends no control sequences', { skip: noTerminal }, async (t) => {
  const home = newHome(t)
  await hostileHome(home)
  const screen = openTerminal(t, home, ['--offline', '-p', 'evil', 'hi', ...db], { env: { NO_COLOR: '1' } })
  await screen.see(/\[y\/N\]/)
  screen.type(`n${keys.enter}`)
  assert.equal(await screen.ended, 2)
  for (const bad of sequences) assertNot(screen.raw, bad)
})

test('the question and the output of delete send no control sequences of a title', { skip: noTerminal }, async (t) => {
  const home = newHome(t)
  await hostileHome(home)
  const screen = openTerminal(t, home, ['delete', id, ...db], { env: { NO_COLOR: '1' } })
  await screen.see(/title␛.*\[y\/N\]/s)
  screen.type(`y${keys.enter}`)
  assert.equal(await screen.ended, 0)
  for (const bad of sequences) assertNot(screen.raw, bad)
})

test('no slash command of a chat sends log content raw', { skip: noTerminal }, async (t) => {
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
  assert.match(screen.text, /control characters: use \/edit TEXT/)
  screen.type('/fork b')
  await screen.see(/fork b$/)
  screen.type(`${keys.tab}${keys.tab}`)
  screen.type(`\u0015/quit${keys.enter}`)
  assert.equal(await screen.ended, 0)
  for (const bad of sequences) assertNot(screen.raw, bad)
})

test('a file or a pipe gets the text of a Markdown export unchanged', async (t) => {
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
