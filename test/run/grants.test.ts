// Lasting permissions for tools.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/core/json.ts'
import type { Tool } from '../../src/core/tool.ts'
import { defineTool } from '../../src/run/tools/define-tool.ts'
import { grantTool, listGrants, revokeGrant, withGrants } from '../../src/run/tools/grants.ts'
import { openMemoryStore } from '../../src/store/memory.ts'

const owner = 'ada'
const remove: Tool = { name: 'remove', input: { type: 'object' }, ask: true, run: () => 'removed' }

async function place(source = 'built-in') {
  const store = openMemoryStore()
  const { id: conversationId } = await store.createConversation(owner)
  return { store, owner, conversationId, source }
}

async function asks(tool: Tool, input: Json = {}): Promise<boolean> {
  return typeof tool.ask === 'function' ? tool.ask(input) : tool.ask === true
}

test('a tool asks until it is granted, and again once the grant is revoked', async () => {
  const here = await place()
  const tool = withGrants(remove, here)
  assert.equal(await asks(tool), true)
  await grantTool(here.store, owner, { tool: 'remove', source: 'built-in' })
  assert.equal(await asks(tool), false)
  const [grant] = await listGrants(here.store, owner)
  assert.deepEqual([grant?.tool, grant?.source, grant && 'conversationId' in grant], ['remove', 'built-in', false])
  assert.equal(await revokeGrant(here.store, owner, grant?.id ?? ''), true)
  assert.equal(await revokeGrant(here.store, owner, grant?.id ?? ''), false)
  assert.equal(await asks(tool), true)
})

test('a grant for one conversation is none for another conversation, tool, source or owner', async () => {
  const here = await place()
  const { id: other } = await here.store.createConversation(owner)
  await grantTool(here.store, owner, { tool: 'remove', source: 'built-in', conversationId: here.conversationId })
  assert.equal((await listGrants(here.store, owner))[0]?.conversationId, here.conversationId)
  assert.equal(await asks(withGrants(remove, here)), false)
  assert.equal(await asks(withGrants(remove, { ...here, conversationId: other })), true)
  assert.equal(await asks(withGrants({ ...remove, name: 'rename' }, here)), true)
  assert.equal(await asks(withGrants(remove, { ...here, source: 'mcp:files' })), true)
  assert.equal(await asks(withGrants(remove, { ...here, owner: 'bob' })), true)
})

test('a tool that decides by its input asks only for the input that needs it', async () => {
  const here = await place()
  const tool = withGrants({ ...remove, ask: async (input) => input === 'all' }, here)
  assert.deepEqual([await asks(tool, 'all'), await asks(tool, 'one')], [true, false])
})

test('a tool that never asks is left as it is', async () => {
  const { ask: _ask, ...silent } = remove
  assert.equal(withGrants(silent, await place()), silent)
})

test('a defined tool asks with its checked input, until it is granted', async () => {
  const here = await place()
  const tool = withGrants(
    defineTool({ name: 'remove', input: { type: 'object', required: ['path'] }, ask: true, run: () => 'removed' }),
    here,
  )
  assert.ok(tool.read)
  const problem = await tool.read({})
  assert.ok('problem' in problem)
  const ready = await tool.read({ path: 'x' })
  assert.ok(!('problem' in ready))
  assert.equal(await ready.asks(), true)
  await grantTool(here.store, owner, { tool: 'remove', source: 'built-in' })
  assert.equal(await ready.asks(), false)
})

test('a defined tool that is run directly refuses input that its schema does not allow', async () => {
  let ran = 0
  const tool = defineTool({ name: 'remove', input: { type: 'object', required: ['path'] }, run: () => `run ${++ran}` })
  const context = { signal: new AbortController().signal } as Parameters<Tool['run']>[1]
  await assert.rejects(async () => tool.run({}, context), /path/)
  assert.equal(ran, 0)
  assert.equal(await tool.run({ path: 'x' }, context), 'run 1')
})
