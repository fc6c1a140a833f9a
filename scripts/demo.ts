// The product in a minute, without a key: `npm run demo`. Every line is the real command. With `--record` the output is
// written as the pictures of the documentation.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { play } from './record.ts'

/** A tool of the agent, as a user writes one. */
const tools = `export const clock = {
  name: 'clock',
  description: 'Tells the time in a time zone.',
  input: { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'] },
  repeatable: true,
  run: ({ zone }) => new Date().toLocaleString('en', { timeZone: zone, dateStyle: 'full', timeStyle: 'short' }),
}
`

await play('demo', async ({ home, emulator, remark, synapse, killed }) => {
  writeFileSync(join(home, 'travel.yaml'), 'name: travel\nmodel: anthropic/claude-opus-5\ntools: [./tools.mjs]\n')
  writeFileSync(join(home, 'tools.mjs'), tools)

  remark('Two tools in one turn, both at once.')
  await synapse('--agent', './travel.yaml', 'What time is it in Tokyo and in Berlin?')
  remark('The same conversation on another provider.')
  await synapse('-c', '-m', 'openai/gpt-5.6', 'What did I say first?')
  remark('What would be sent to the first one next, and why.')
  await synapse('inspect', 'last', '--for', 'anthropic/claude-opus-5')
  remark('Killed with -9 in the middle of an answer…')
  emulator.order({ keepAliveAt: 12, keepAliveMs: 1000 })
  await killed('3 ', '-c', 'Count to 30.')
  remark('…and continued.')
  await synapse('--resume')
  remark('Everything is in the log: what it cost, and what was saved.')
  await synapse('usage', '--by', 'model')
})

await play('carry', async ({ remark, synapse, prepare }) => {
  await prepare('-m', 'anthropic/claude-opus-5', 'The retry in src/send.ts waits too long. Where is the limit?')
  await prepare('-c', 'Change it to 20 seconds, and add a test.')
  const [stored = ''] = (await prepare('log')).split(' ', 1)
  await prepare('carry', stored, '--to', 'claude-code')

  remark('The sessions of every coding agent in this folder.')
  const [session = ''] = /[0-9a-f]{8}[0-9a-f-]*/.exec(await synapse('sessions')) ?? []
  remark('This one continues in Codex, with everything that was said.')
  await synapse('carry', session, '--to', 'codex', '--dry-run')
  await synapse('carry', session, '--to', 'codex')
})
