// A conversation goes from one agent to another at the terminal: by the model, and by -c with another agent.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { newHome } from './command-line.ts'

const alice = 'name: alice\nmodel: openai\nsystem: You are Alice.\nhandoffs: [bob]\n'
const bob = 'name: bob\nmodel: mistral\nsystem: You are Bob.\n'

function newAgents(t: Parameters<typeof newHome>[0]) {
  const home = newHome(t)
  mkdirSync(join(home.folder, 'agents'))
  writeFileSync(join(home.folder, 'synapse.yaml'), '')
  writeFileSync(join(home.folder, 'agents', 'alice.yaml'), alice)
  writeFileSync(join(home.folder, 'agents', 'bob.yaml'), bob)
  return home
}

test('the model hands a conversation over, and -c continues it with the other agent', async (t) => {
  const { synapse, trust } = newAgents(t)
  await trust()
  const handed = await synapse(['agent', 'run', 'alice', '--offline', 'use the tool hand_off_to_bob with {}'])
  assert.match(handed.out, /bob continues/, handed.err)
  const next = await synapse(['-c', '--offline', 'What are your instructions?'])
  assert.match(next.out, /You are Bob/, next.err)
  assert.doesNotMatch(next.err, /left out/)
  const third = await synapse(['agent', 'run', 'alice', '-c', '--offline', 'What did I say first?'])
  assert.match(third.out, /hand_off_to_bob/, third.err)
})

test('-c with an agent without a conversation takes over the last one', async (t) => {
  const { synapse, trust } = newAgents(t)
  await trust()
  await synapse(['agent', 'run', 'alice', '--offline', 'My name is Ada.'])
  const { out, err } = await synapse(['-c', '--agent', 'bob', '--offline', 'What is my name?'])
  assert.match(out, /Ada/, err)
  const again = await synapse(['-c', '--offline', 'What are your instructions?'])
  assert.match(again.out, /You are Bob/, again.err)
})

test('an agent that can be handed a conversation is trusted with the one that hands it over', async (t) => {
  const { synapse, trust, folder } = newAgents(t)
  await trust()
  writeFileSync(join(folder, 'agents', 'bob.yaml'), `${bob}policy: full\n`)
  const { code, err } = await synapse(['agent', 'run', 'alice', '--offline', 'Hi'])
  assert.equal(code, 2)
  assert.match(err, /bob\.yaml/)
})
