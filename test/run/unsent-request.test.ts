import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask } from '../../src/run/request/ask.ts'
import type { RunContext } from '../../src/run/run-context.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { loadWire } from '../../src/wires/list.ts'
import { user } from '../histories.ts'

test('a request of a client that cannot be planned after it was recorded is closed as failed, and not sent', async () => {
  const store = openMemoryStore()
  const [owner, { id: conversationId }] = ['someone', await store.createConversation('someone')]
  const { id: basedOn } = await store.append(owner, conversationId, { message: user('q') })
  const provider = { id: 'openai', name: 'OpenAI' }
  const endpoint = {
    provider,
    protocol: await loadWire('openai-chat'),
    model: 'm',
    baseUrl: 'http://not-asked.invalid',
  }
  const verbatim = { provider: 'openai', protocol: 'openai-chat', path: '/x', headers: {}, body: Buffer.from('{}') }
  const fetch = () => assert.fail('it was sent')
  const run = { store, owner, conversationId, endpoint, verbatim, transport: { fetch }, write: () => undefined }
  const plan = () => Promise.reject(new Error('no plan'))
  await assert.rejects(ask(run as unknown as RunContext, { plan, basedOn, notes: [] }), /no plan/)
  const { items } = await store.exchanges(owner, conversationId)
  assert.deepEqual(
    items.map(({ outcome, failure }) => [outcome, failure?.message]),
    [['failed', 'no plan']],
  )
})
