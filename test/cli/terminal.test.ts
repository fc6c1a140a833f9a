// The chat in a real pseudo-terminal. Processes are slow to start, so each test is a whole sitting.

import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { serveEmulator, type ServeOptions } from '../../src/testing.ts'
import { newHome } from './command-line.ts'
import { keys, noResize, noTerminal, openTerminal, plain } from './pseudo-terminal.ts'

const prompt = /you> $/
const escape = '\u001B'

/** A provider that the test plays: the command talks to it over HTTP, as to a real one. */
async function played(t: TestContext, options: ServeOptions = {}) {
  const server = await serveEmulator(options)
  t.after(() => server.close())
  const env = { OPENAI_COMPATIBLE_BASE_URL: `${server.url}/openai-compatible/v1`, OPENAI_COMPATIBLE_API_KEY: 'k' }
  return { server, env, model: ['-m', 'openai-compatible/m'] }
}

test(
  'an answer streams, Ctrl-C stops it and saves the partial reply, then clears the line, and then exits',
  { skip: noTerminal },
  async (t) => {
    const home = newHome(t)
    const { server, env, model } = await played(t)
    // Everything up to the end of the stream comes, and then nothing but signs of life.
    server.order({ keepAliveAt: 4, keepAliveMs: 50 })
    const screen = openTerminal(t, home, ['chat', ...model], { env })
    await screen.see(prompt)
    screen.type(`Count to 50${keys.enter}`)
    await screen.see(/1 2 3/)
    assert.doesNotMatch(screen.text, /48 49/, 'the rest has not come yet')
    screen.type(keys.interrupt)
    await screen.see(/Stopped\. The partial reply is saved\./)
    await screen.see(prompt)

    screen.type(`/history${keys.enter}`)
    await screen.see(/openai-compatible\/m \(cancelled\)\n.*1 2 3/)
    await screen.see(prompt)
    screen.type('never sent')
    await screen.see(/never sent/)
    screen.type(keys.interrupt)
    await screen.see(/\^C/)
    await screen.see(prompt)
    screen.type(keys.interrupt)
    assert.equal(await screen.ended, 130)
    assert.equal(server.requests.length, 1)
    assert.ok(screen.raw.slice(-60).includes(`${escape}[?2004l`), 'the terminal is left as it was found')
  },
)

test(
  'input typed while an answer streams waits for the prompt, even the Ctrl-D that exits',
  { skip: noTerminal },
  async (t) => {
    const home = newHome(t)
    const { server, env, model } = await played(t)
    const screen = openTerminal(t, home, ['chat', ...model], { env })
    await screen.see(prompt)
    server.order({ delayMs: 500 })
    screen.type(`Count to 50${keys.enter}`)
    await screen.see(/Count to 50\n/)
    screen.type(`How many messages?${keys.enter}${keys.end}`)
    await screen.see(/48 49 50/)
    await screen.see(/This request has \d+ messages/)
    assert.equal(await screen.ended, 0)
  },
)

test(
  'slash commands, several lines, completion and the history of lines work, and Ctrl-D leaves',
  { skip: noTerminal },
  async (t) => {
    const home = newHome(t)
    const first = openTerminal(t, home, ['chat', '--offline'], { columns: 200 })
    await first.see(prompt)
    first.type(`What is 17 \\${keys.enter}`)
    await first.see(/\.\.\.> /)
    first.type(`+ 25?${keys.enter}`)
    await first.see(/→ add \{"a":17,"b":25\}\n← add 42\n.*add answered: 42/)
    await first.see(/2 requests · [\d,]+ tokens in.* · \d+ out · offline: nothing billed/)
    await first.see(prompt)

    first.type(`"""${keys.enter}My name${keys.enter}is Ada."""${keys.enter}`)
    await first.see(/You said: "My name\\nis Ada\."/)
    await first.see(prompt)
    // A paste of several lines is one message, and is sent only by the Enter key after it.
    first.type('\u001B[200~What is\rmy\r name?\u001B[201~')
    await first.see(/name\?/)
    first.type(keys.enter)
    await first.see(/You said: "What is\\nmy\\n name\?"/)
    await first.see(prompt)

    first.type(`${keys.up}${keys.up}`)
    await first.see(/My name ⏎ is Ada\./)
    first.type(keys.enter)
    await first.see(/You said: "My name\\nis Ada\."/)
    await first.see(prompt)

    first.type('/mo')
    await first.see(/\/mo$/)
    // A tab is a question only when it comes alone: in the middle of a paste it is a tab.
    first.type(keys.tab)
    await first.see(/del$/)
    first.type(keys.tab)
    await first.see(/\/models +\/model/)
    first.type(' mist')
    await first.see(/mist$/)
    first.type(keys.tab)
    await first.see(/ral\/$/)
    first.type(`\u0015/model anthropic/claude-opus-5${keys.enter}`)
    await first.see(/Continuing with anthropic\/claude-opus-5/)
    await first.see(prompt)
    first.type(`/edit${keys.enter}`)
    await first.see(/several lines/)
    await first.see(prompt)
    first.type(`Think: what did I say first?${keys.enter}`)
    await first.see(/first thing you said in this request is: "What is 17 \\n\+ 25\?"/)
    await first.see(prompt)
    first.type(`/edit${keys.enter}`)
    await first.see(/\/edit Think: what did I say first\?$/)
    first.type(`\u0015/edit How many messages?${keys.enter}`)
    await first.see(/This request has \d+ messages/)
    await first.see(prompt)
    first.type(keys.end)
    assert.equal(await first.ended, 0)
    const kept = join(home.folder, 'synapse', 'history')
    assert.equal(statSync(kept).mode & 0o777, 0o600)
    assert.match(readFileSync(kept, 'utf8'), /is Ada/)

    const second = openTerminal(t, home, ['chat', '--offline', '-c'], { env: { NO_COLOR: '1' } })
    await second.see(prompt)
    second.type(keys.up)
    await second.see(/How many messages\?/)
    second.type(`\u0015/quit${keys.enter}`)
    assert.equal(await second.ended, 0)
    assert.deepEqual(
      second.raw.split(`${escape}[`).filter((piece) => /^\d+m/.test(piece)),
      [],
      'NO_COLOR',
    )
  },
)

test(
  'a smaller window gets narrower tables, and a resize during an answer erases nothing',
  { skip: noTerminal ?? noResize },
  async (t) => {
    const home = newHome(t)
    const { server, env, model } = await played(t)
    const screen = openTerminal(t, home, ['chat', ...model], { env, columns: 120 })
    await screen.see(prompt)
    screen.type(`Tell me ${'a long story '.repeat(12)}${keys.enter}`)
    await screen.see(/offline emulator/)
    await screen.see(prompt)
    screen.type(`/inspect${keys.enter}`)
    const wide = await screen.see(/# +who +tokens[^\n]*\n([^\n]*)\n/)
    assert.ok((wide[1]?.length ?? 0) > 90)
    await screen.see(prompt)
    screen.resize(50, 20)
    await screen.see(prompt)
    screen.type(`/inspect${keys.enter}`)
    const narrow = await screen.see(/# +who +tokens[^\n]*\n([^\n]*)\n([^\n]*)\n/)
    for (const line of narrow.slice(1)) assert.ok(line.length <= 50, line)
    await screen.see(prompt)

    server.order({ keepAliveAt: 4, keepAliveMs: 20 })
    const before = screen.raw.length
    screen.type(`Count to 30${keys.enter}`)
    await screen.see(/1 2 3/)
    const shown = screen.raw.length
    screen.resize(60, 20)
    screen.resize(70, 20)
    screen.type(keys.interrupt)
    await screen.see(/Stopped/)
    assert.ok(shown > before)
    // Moving the cursor to the left and clearing the rest of the screen is what a redrawn prompt would do.
    const during = screen.raw.slice(shown, screen.raw.indexOf('Stopped', shown))
    assert.ok(!during.includes(`${escape}[0J`) && !during.includes(`${escape}[J`), during)
    await screen.see(prompt)
    screen.type(keys.end)
    assert.equal(await screen.ended, 0)
  },
)

const evil = '\u001B]0;owned\u0007\u001B[2J\u001B]52;c;ZXZpbA==\u0007\u009B31m\rover\b\b\u202Egnp'

test(
  'nothing that a model, a tool, a title or an error says can send a control sequence',
  { skip: noTerminal },
  async (t) => {
    const home = newHome(t)
    const { server, env, model } = await played(t, {
      reply: ({ messages }) => ({
        parts:
          messages.at(-1)?.role === 'tool'
            ? [
                { type: 'reasoning', text: `thought ${evil}` },
                { type: 'text', text: `said ${evil} end` },
              ]
            : [{ type: 'tool-call', callId: 'c', name: `clock`, input: { zone: evil } }],
      }),
    })
    const screen = openTerminal(t, home, ['chat', ...model], { env })
    await screen.see(prompt)
    screen.type(`go${keys.enter}`)
    await screen.see(/said .* end/)
    await screen.see(prompt)
    for (const command of ['/history', '/tree', '/context', '/inspect', '/inspect body', '/search said', '/usage']) {
      screen.type(`${command}${keys.enter}`)
      await screen.see(prompt)
    }
    server.order({ status: 400, body: { error: { message: `no ${evil}`, type: 'invalid_request_error' } } })
    screen.type(`again${keys.enter}`)
    await screen.see(/no /)
    await screen.see(prompt)
    screen.type(keys.end)
    await screen.ended
    for (const bad of [`${escape}]`, `${escape}[2J`, '\u0007', '\u009B', '\u0008', '\u202E']) {
      assert.ok(!screen.raw.includes(bad), JSON.stringify(bad))
    }
    assert.match(plain(screen.raw), /said ␛\]0;owned␇␛\[2J/, 'it is shown, and does nothing')
  },
)
