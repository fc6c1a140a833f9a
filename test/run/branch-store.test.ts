// The store of a run with its own branch, for comparisons.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { branchStore, type RequestsOfBranches } from '../../src/run/branches/branch-store.ts'
import { externalTools } from '../../src/run/tools/external-tools.ts'
import { openMemoryStore } from '../../src/store/memory.ts'

const owner = 'ada'
const about = { provider: 'openai', protocol: 'openai-chat', model: 'gpt', body: '{}' }
const said = (text: string) => ({ message: { role: 'user' as const, parts: [{ type: 'text' as const, text }] } })

async function branches() {
  const base = openMemoryStore()
  const { id } = await base.createConversation(owner)
  const asked = await base.append(owner, id, said('Hi'))
  const requests: RequestsOfBranches = new Map()
  const [one, two] = [1, 2].map(() => branchStore(base, id, asked.id, requests))
  assert.ok(one && two)
  return { base, id, asked, one, two }
}

test('each branch continues from its own end, and the head of the conversation stays', async () => {
  const { base, id, asked, one, two } = await branches()
  const [a, b] = await one.store.appendAll(owner, id, [said('a'), said('b')])
  const c = await two.store.append(owner, id, said('c'))
  assert.deepEqual([a?.parentId, b?.parentId, c.parentId], [asked.id, a?.id, asked.id])
  assert.deepEqual([one.head(), two.head()], [b?.id, c.id])
  assert.equal((await base.conversation(owner, id))?.head, asked.id)
  assert.equal((await one.store.conversation(owner, id))?.head, b?.id)
  const { id: other } = await base.createConversation(owner)
  assert.equal((await one.store.conversation(owner, other))?.head, null)
})

test('a branch sees its own requests and earlier ones, and looks for them beyond pages of the others', async () => {
  const { base, id, asked, one, two } = await branches()
  const before = await base.openExchange(owner, id, { ...about, basedOn: asked.id })
  const mine = await one.store.openExchange(owner, id, { ...about, basedOn: asked.id })
  for (let i = 0; i < 3; i++) await two.store.openExchange(owner, id, { ...about, basedOn: asked.id })
  const first = await one.store.exchanges(owner, id, { limit: 1 })
  assert.deepEqual(
    first.items.map((exchange) => exchange.id),
    [mine.id],
  )
  const all = await one.store.exchanges(owner, id)
  assert.deepEqual(
    all.items.map((exchange) => exchange.id),
    [mine.id, before.id],
  )
  assert.deepEqual(await branchStore(base, id, asked.id, new Map()).store.exchanges(owner, id, { outcome: 'done' }), {
    items: [],
  })
})

test('a result from elsewhere ends its own call only, as a failure if it is one, also if it comes first', async () => {
  const { runnable, submit } = externalTools()
  const own = { name: 'own', input: { type: 'object' }, run: () => 'here' }
  const [kept, tool] = runnable([own, { name: 'clock', input: { type: 'object' } }])
  assert.equal(kept, own)
  assert.equal(tool?.timeoutMs, Infinity)
  const called = (callId: string) => tool?.run({}, { callId } as Parameters<typeof tool.run>[1])
  const waiting = called('a')
  submit({ callId: 'b', result: 'for b' })
  submit({ callId: 'c', result: { no: 'clock' }, failed: true })
  submit({ callId: 'd', result: 'no clock', failed: true })
  submit({ callId: 'a', result: 'for a' })
  submit({ callId: 'a', result: 'too late' })
  assert.deepEqual([await waiting, await called('b')], ['for a', 'for b'])
  await assert.rejects(async () => called('c'), { message: '{"no":"clock"}' })
  await assert.rejects(async () => called('d'), { message: 'no clock' })
})

test('a branch moves to another entry without the conversation, and stays where it is if a reply is empty', async () => {
  const { base, id, asked, one } = await branches()
  const [a, b] = await one.store.appendAll(owner, id, [said('a'), said('b')])
  const moved = await one.store.setHead(owner, id, { entryId: a?.id ?? '' })
  assert.deepEqual([moved.head, one.head()], [a?.id, a?.id])
  assert.equal((await base.conversation(owner, id))?.head, asked.id)
  for (const to of [{ branch: 'x' }, { entryId: null }]) {
    await one.store.setHead(owner, id, to)
    assert.equal(one.head(), a?.id)
  }
  await one.store.setHead(owner, id, { entryId: b?.id ?? '' })
  const opened = await one.store.openExchange(owner, id, { ...about, basedOn: b?.id ?? '' })
  const { entry } = await one.store.finishExchange(owner, opened.id, { outcome: 'failed' })
  assert.deepEqual([entry, one.head()], [undefined, b?.id])
  await base.deleteConversation(owner, id)
  await assert.rejects(one.store.setHead(owner, id, { entryId: 'x' }), /the conversation of a branch is gone/)
})
