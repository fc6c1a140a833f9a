// Named prompts: files with variables, on the command line and on the server.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { filledPrompt } from '../../src/agents/fill-prompt.ts'
import { findPrompt, listPrompts } from '../../src/agents/prompts.ts'
import { openToolbox } from '../../src/agents/toolbox.ts'
import { builtInConfig } from '../../src/config/load.ts'
import { newHome } from '../cli/command-line.ts'
import { newFolder } from '../config/folder.ts'
import { serving } from '../server/serving.ts'

const translate = '# Translates a text.\nTranslate to {{language}}, {{ tone:-politely }}:\n\n{{input}}\n'

test('a prompt is filled in; missing and unknown variables are reported', (t) => {
  const folder = newFolder(t, {
    'prompts/translate.md': translate,
    'prompts/plain.md': 'Be short.',
    'prompts/x.txt': 'no',
  })
  const config = builtInConfig(folder)
  assert.deepEqual(
    listPrompts({ config, env: { HOME: folder } }).map(({ name, description }) => [name, description]),
    [
      ['plain', undefined],
      ['translate', 'Translates a text.'],
    ],
  )
  const places = { config, env: { HOME: folder } }
  const prompt = findPrompt('translate', places)
  assert.equal(filledPrompt(prompt, { language: 'French' }, 'Hello'), 'Translate to French, politely:\n\nHello')
  assert.equal(filledPrompt(findPrompt('plain', places), {}, 'Hello'), 'Be short.\n\nHello')
  assert.throws(() => filledPrompt(prompt, {}, 'Hello'), /The prompt translate needs language=…/)
  assert.throws(
    () => filledPrompt(prompt, { language: 'x', mood: 'y' }, ''),
    /has no variable "mood"; it has language, tone/,
  )
  assert.throws(() => findPrompt('nothing', places), /There is no prompt "nothing"; there are plain, translate/)
})

test('-p asks with a prompt, and the server lists them', async (t) => {
  const home = newHome(t)
  mkdirSync(join(home.folder, 'prompts'))
  writeFileSync(join(home.folder, 'prompts', 'translate.md'), translate)
  assert.equal((await home.synapse(['trust'])).code, 0)
  const asked = await home.synapse(['--offline', '-p', 'translate', 'language=French', 'Good', 'day'])
  assert.equal(asked.code, 0, asked.err)
  assert.match(asked.out, /You said: "Translate to French, politely:\\n\\nGood day"/)
  assert.equal((await home.synapse(['--offline', '-t', 'translate', 'Good day'])).code, 2)

  const config = builtInConfig(home.folder)
  const { api } = await serving(t, { toolbox: () => openToolbox({ config, env: home.env }) })
  const { body } = await api('GET', '/api/prompts')
  assert.deepEqual(body['items'], [
    {
      name: 'translate',
      description: 'Translates a text.',
      variables: [{ name: 'language' }, { name: 'tone', otherwise: 'politely' }],
      text: 'Translate to {{language}}, {{ tone:-politely }}:\n\n{{input}}',
    },
  ])
})

test('the table of usage has a column of what was saved, by day, provider and model', async () => {
  const { addUp, usageTable } = await import('../../src/cli/usage-rows.ts')
  const { styleFor } = await import('../../src/cli/terminal.ts')
  const numbers = {
    exchanges: 1,
    input: 9,
    output: 1,
    cacheRead: 0,
    cacheWrite: 0,
    reasoning: 0,
    unpriced: 0,
    offline: 0,
  }
  const [a, b] = ['one', 'two'].map((model) => ({ day: '2026-11-01', provider: 'p', model }))
  assert.ok(a && b)
  const rows = [
    { ...a, ...numbers, cost: 0.04 },
    { ...b, ...numbers, cost: 0.02 },
  ]
  const table = (saved: { day: string; provider: string; model: string; saved: number }[]) =>
    usageTable(addUp(rows, 'model', saved), 'model', 100, styleFor(process.stdout, { NO_COLOR: '1' })).join('\n')
  const shown = table([
    { ...a, saved: 0.05 },
    { ...a, saved: 0.02 },
  ])
  assert.match(shown, /cost +saved/)
  assert.match(shown, /p\/one .*\$0\.040 +\$0\.070/)
  assert.match(shown, /total .*\$0\.060 +\$0\.070/)
  assert.doesNotMatch(table([]), /saved/)
})

test('a prompt of an untrusted folder is not used, and never replaces one of your own', async (t) => {
  const home = newHome(t)
  const ask = async (...flags: string[]) => home.synapse(['--offline', ...flags, '-p', 'review', 'x'])
  mkdirSync(join(home.folder, 'prompts'))
  writeFileSync(join(home.folder, 'prompts', 'review.md'), 'Theirs:')
  const refused = await ask()
  assert.equal(refused.code, 2)
  assert.match(refused.err, /prompts\/review\.md is not trusted yet; review and trust it with "synapse trust/)
  assert.match((await ask('--no-config')).err, /There is no prompt "review"/)

  const own = join(home.env.HOME ?? '', '.config', 'synapse', 'prompts')
  mkdirSync(own, { recursive: true })
  writeFileSync(join(own, 'review.md'), 'Mine:')
  assert.match((await ask()).out, /You said: "Mine:/)
  const trusting = await home.synapse(['trust'])
  assert.equal(trusting.code, 0, trusting.err)
  assert.match(trusting.err, /offers .*review\.md as the prompt review/)
  assert.match((await ask()).out, /You said: "Theirs:/)
  writeFileSync(join(home.folder, 'prompts', 'review.md'), 'Changed:')
  assert.match((await ask()).out, /You said: "Mine:/)
})

test('usage says what folding has saved', async () => {
  const { savedLine } = await import('../../src/cli/usage-rows.ts')
  const row = {
    exchanges: 2,
    input: 10,
    output: 1,
    cacheRead: 0,
    cacheWrite: 0,
    reasoning: 0,
    cost: 0.04,
    unpriced: 0,
    offline: 0,
  }
  assert.equal(
    savedLine([row], { saved: 0.07, recalls: 2 }),
    'Folding saved about $0.070 ($0.040 instead of $0.11). The model recalled 2 of the parts that were left out.',
  )
  assert.equal(savedLine([row], { saved: 0, recalls: 0 }), undefined)
})
