// `synapse compare`: several models, one question, and the conversation continues with one of them.

import assert from 'node:assert/strict'
import test from 'node:test'
import { newHome } from './command-line.ts'
import { keys, noTerminal, openTerminal } from './pseudo-terminal.ts'

test('two models answer the same question, even in the middle of a conversation', async (t) => {
  const home = newHome(t)
  await home.synapse(['--offline', 'My name is Ada.'])
  const both = await home.synapse([
    'compare',
    '--offline',
    '-c',
    '-m',
    'gpt-5.6',
    '-m',
    'anthropic',
    '--json',
    'How many messages?',
  ])
  assert.equal(both.code, 0, both.err)
  const answers = both.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string>)
  assert.deepEqual(
    answers.map(({ model }) => model),
    ['openai/gpt-5.6', 'anthropic'],
  )
  for (const { text } of answers) assert.match(text ?? '', /This request has 3 messages/)
  const { out } = await home.synapse(['log', answers[0]?.['conversationId'] ?? ''])
  assert.match(out, /How many messages/)
  assert.doesNotMatch(out, /^anthropic/m, 'the conversation continues with the first')
  const one = await home.synapse(['compare', '--offline', '-m', 'gpt-5.6', 'Hello'])
  assert.equal(one.code, 2)
  assert.match(one.err, /Name two or three models/)
})

test('on a terminal the answers are shown side by side, and one is chosen', { skip: noTerminal }, async (t) => {
  const home = newHome(t)
  const screen = openTerminal(t, home, ['compare', '--offline', '-m', 'gpt-5.6', '-m', 'anthropic', 'Count to 3'], {
    columns: 100,
  })
  await screen.see(/1 {2}openai\/gpt-5\.6 +│ 2 {2}anthropic/)
  await screen.see(/1 2 3 +│ .*1 2 3/)
  await screen.see(/Continue with which answer\? \[1-2, Enter: 1\] /)
  screen.type(`2${keys.enter}`)
  await screen.see(/continues with anthropic/)
  assert.equal(await screen.ended, 0)
  assert.match((await home.synapse(['log', '1'])).out, /^anthropic\/claude/m)
})
