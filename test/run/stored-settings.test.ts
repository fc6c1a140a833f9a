// Settings that are stored with a conversation.

import assert from 'node:assert/strict'
import test from 'node:test'
import { openSynapse } from '../../src/index.ts'
import { protocolOf, withChanges } from '../../src/run/settings.ts'
import { collect, clock, only, start } from './chatting.ts'

const alice = { model: 'anthropic/claude-opus-5', system: 'You are Alice.', policy: 'classic' as const }

test('a conversation that is opened without settings continues with its original ones', async () => {
  const { synapse, chat, emulator } = await start({ ...alice, options: { effort: 'low' }, maxSteps: 7 })
  await chat.send('Hello!').ended
  assert.deepEqual((await chat.info()).settings, {
    ...alice,
    options: { effort: 'low' },
    maxSteps: 7,
    toolNames: ['clock'],
  })
  const again = await synapse.open(chat.id)
  assert.equal((await again.send('Who are you?').ended).outcome, 'done')
  const [first, second] = emulator.requests.map(({ body }) => body as Record<string, unknown>)
  assert.deepEqual(second?.['system'], first?.['system'])
  assert.deepEqual(second?.['model'], 'claude-opus-5')
})

test('settings given on opening replace the stored ones, and are stored', async () => {
  const { synapse, chat } = await start({ ...alice, protocol: 'anthropic-messages' })
  const again = await synapse.open(chat.id, { model: 'openai/gpt-5.6', options: { temperature: 0.5 } })
  const { settings } = await again.info()
  assert.deepEqual(settings, {
    model: 'openai/gpt-5.6',
    system: 'You are Alice.',
    policy: 'classic',
    options: { temperature: 0.5 },
    toolNames: ['clock'],
  })
  assert.equal((await (await synapse.open(chat.id)).inspect()).provider, 'openai')
})

test('a wire is the named one, the stateful one where state is wanted, and otherwise left to the provider', () => {
  assert.equal(protocolOf({}), undefined)
  assert.equal(protocolOf({ policy: 'economy' }), undefined)
  assert.equal(protocolOf({ policy: { preset: 'economy', state: 'auto' } }), 'stateful')
  assert.equal(protocolOf({ policy: { preset: 'economy', state: 'auto' }, protocol: 'openai-chat' }), 'openai-chat')
})

test('a wire that was chosen for one model stays with it, and does not apply to another', () => {
  const settings = { ...alice, protocol: 'anthropic-messages' }
  assert.equal(withChanges(settings, { maxSteps: 3 }).protocol, 'anthropic-messages')
  assert.equal(withChanges(settings, { model: alice.model }).protocol, 'anthropic-messages')
  assert.equal('protocol' in withChanges(settings, { model: 'openai/gpt-5.6' }), false)
})

test('tools are found by name, and a request notes those that are not here', async () => {
  const { synapse, chat, emulator } = await start(alice)
  const bare = await synapse.open(chat.id)
  const [request] = only(await collect(bare.send('What time is it?')), 'request')
  assert.deepEqual(
    request?.notes.filter(({ rule }) => rule === 'absent-tools').map(({ what }) => what),
    ['tools: clock'],
  )
  assert.ok((await bare.inspect()).notes.some(({ rule }) => rule === 'absent-tools'))
  const known = await openSynapse({ store: synapse.store, offline: emulator, env: {}, tools: [clock] })
  assert.match(await (await known.open(chat.id)).send('What time is it?').text(), /clock answered/)
  const [none] = only(await collect((await synapse.open(chat.id, { tools: [] })).send('Hello!')), 'request')
  assert.equal(
    none?.notes.some(({ rule }) => rule === 'absent-tools'),
    false,
  )
})

test('settings that another program stored count as far as they are valid', async () => {
  const { synapse } = await start({ model: 'anthropic' })
  const { id } = await synapse.store.createConversation('local', {
    settings: { model: 'mistral', system: 5, agent: 'bob', tools: ['add'] },
  })
  const { body, provider } = await (await synapse.open(id)).inspect()
  assert.equal(provider, 'mistral')
  assert.equal(JSON.stringify(body).includes('system'), false)
  const { id: empty } = await synapse.store.createConversation('local')
  await assert.rejects(synapse.open(empty), /^SynapseError: No model is stored with conversation .+: give one/)
})

test('a wrong model is refused at the start, and leaves no conversation', async () => {
  const synapse = await openSynapse({ env: {} })
  await assert.rejects(synapse.start({ model: 'antropic/claude-opus-5' }), /Did you mean anthropic\?/)
  await assert.rejects(synapse.start({ model: 'mistral', protocol: 'openai-responses' }), /does not support/)
  assert.deepEqual((await synapse.conversations()).items, [])
})

test('the user message is stored even if the key or the model is missing', async () => {
  const synapse = await openSynapse({ env: {} })
  const chat = await synapse.start({ model: 'anthropic' })
  const { outcome, failure } = await chat.send('Remember me.').ended
  assert.equal(outcome, 'failed')
  assert.match(failure?.message ?? '', /needs a key/)
  await chat.send('And me.', { model: 'nowhere/x' }).ended
  const said = (await chat.history()).map(({ message }) => JSON.stringify(message.parts))
  assert.equal(said.length, 2)
  assert.match(said.join(), /Remember me.*And me/)
})

test('a retry with a wrong model does not change the answer', async () => {
  const { chat } = await start({ model: 'anthropic' })
  await chat.send('Hello!').ended
  const before = await chat.history()
  assert.equal((await chat.retry({ model: 'nowhere/x' }).ended).outcome, 'failed')
  assert.deepEqual(await chat.history(), before)
})
