// A mistyped command is not a question.

import assert from 'node:assert/strict'
import test from 'node:test'
import { newHome } from './command-line.ts'

const slips: [string[], string][] = [
  [['chta'], 'chat'],
  [['configure'], 'providers configure'],
  [['improt', 'x.json'], 'import'],
  [['logs'], 'log'],
  [['model'], 'models'],
  [['xport', 'abc'], 'export'],
]

for (const [argv, meant] of slips) {
  test(`"synapse ${argv.join(' ')}" is refused with ${meant}`, async (t) => {
    const { code, out, err } = await newHome(t).synapse(argv)
    assert.equal(code, 2)
    assert.equal(out, '')
    assert.match(err, new RegExp(`Unknown command "${argv[0]}"\\. Did you mean ${meant}\\?`))
  })
}

test('a question stays a question: other words, quoted text, and what follows --', async (t) => {
  const home = newHome(t)
  const questions = [['what', 'is', 'this'], ['hello'], ['chta with quotes'], ['--', 'chta']]
  for (const argv of questions) {
    const { code, err } = await home.synapse(argv)
    assert.equal(code, 0, `${argv.join(' ')}: ${err}`)
  }
})

test('a mistyped option, and help for a mistyped command, are refused with a suggestion', async (t) => {
  const home = newHome(t)
  for (const [argv, says] of [
    [['--modle', 'x', 'hi'], /Unknown option '--modle'\. Did you mean --model\? --help lists the options\./],
    [['--foo', 'hi'], /Unknown option '--foo'\. --help lists/],
    [['help', 'serv'], /Unknown command "serv"\. Did you mean serve\?/],
    [['help', 'nothing-like-it'], /"synapse --help" lists them/],
  ] as const) {
    const { code, out, err } = await home.synapse([...argv])
    assert.equal(code, 2)
    assert.equal(out, '')
    assert.match(err, says)
  }
})

test('a model is named without its provider', async (t) => {
  const { code, err } = await newHome(t).synapse(['--offline', '-m', 'claude-opus-5', 'Hello'])
  assert.equal(code, 0, err)
})
