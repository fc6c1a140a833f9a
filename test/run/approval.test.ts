// Calls that a person must allow: the run waits, also beyond its process, and an answer counts once and for one call.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import * as z from 'zod'
import { textOf } from '../../src/core/message.ts'
import { answerApproval, answerTo, argsHashOf, waitingApprovals } from '../../src/run/tools/approval.ts'
import { openSynapse } from '../../src/runtime/open.ts'
import { defineTool } from '../../src/run/tools/define-tool.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { createEmulator } from '../../src/testing.ts'
import { call, reply, user } from '../histories.ts'
import { calling, clock, collect, only, results, start } from './chatting.ts'

function removing(ask: boolean | ((input: { path: string }) => boolean) = true, askTimeoutMs?: number) {
  const removed: string[] = []
  const tool = defineTool({
    name: 'remove',
    input: z.object({ path: z.string() }),
    ask,
    ...(askTimeoutMs !== undefined && { askTimeoutMs }),
    run({ path }) {
      removed.push(path)
      return `removed ${path}`
    },
  })
  return { tool, removed }
}

const oneCall = { reply: calling([{ name: 'remove', input: { path: '/tmp/x' } }, { name: 'clock' }]) }

async function waiting(options: { now?: () => number; askTimeoutMs?: number } = {}) {
  const { tool, removed } = removing(true, options.askTimeoutMs)
  const { chat, synapse } = await start(
    { model: 'openai/gpt-5.6', tools: [tool, clock] },
    { emulation: oneCall, ...(options.now && { now: options.now }) },
  )
  const events = await collect(chat.send('Remove it.'))
  const [asked] = only(events, 'approval-needed')
  assert.ok(asked)
  return { chat, synapse, removed, events, asked, callId: asked.call.callId }
}

test('a call that must be allowed pauses the run, while the other calls of the reply are run', async () => {
  const { chat, removed, events, asked } = await waiting()
  const end = only(events, 'run-end')[0]
  assert.equal(end?.outcome, 'waiting')
  assert.deepEqual(asked.call.input, { path: '/tmp/x' })
  assert.match(asked.argsHash, /^[0-9a-f]{64}$/)
  assert.ok(Date.parse(asked.expiresAt) > Date.now())
  assert.deepEqual(removed, [])
  assert.deepEqual(
    (await results(chat)).map((result) => result.name),
    ['clock'],
  )
  assert.deepEqual(
    (await chat.approvals()).map(({ call, argsHash }) => [call.callId, argsHash]),
    [[asked.call.callId, asked.argsHash]],
  )
})

test('an approved call runs once, and the run continues', async () => {
  const { chat, removed, asked, callId } = await waiting()
  await chat.approve(callId, asked)
  const { outcome, reply } = await chat.resume().ended
  assert.equal(outcome, 'done')
  assert.deepEqual(removed, ['/tmp/x'])
  assert.match(textOf(reply?.parts ?? []), /done/)
  assert.deepEqual(await chat.approvals(), [])
})

test('a denied call does not run, and the model is informed why', async () => {
  const { chat, removed, callId } = await waiting()
  await chat.deny(callId, 'That file is mine.')
  assert.equal((await chat.resume().ended).outcome, 'done')
  assert.deepEqual(removed, [])
  const denied = (await results(chat)).find((result) => result.name === 'remove')
  assert.equal(denied?.failed, true)
  assert.match(textOf(denied?.output ?? []), /did not allow remove.*That file is mine\./)
})

test('an approval names its arguments, is valid once, and for nothing else', async () => {
  const { chat, removed, asked, callId } = await waiting()
  await assert.rejects(chat.approve(callId, { argsHash: 'other' }), /arguments of remove have changed/)
  await assert.rejects(chat.approve('call-that-is-not', asked), /No call call-that-is-not waits for approval/)
  await chat.approve(callId, asked)
  await assert.rejects(chat.approve(callId, asked), /already been answered/)
  await assert.rejects(chat.deny(callId), /already been answered/)
  await chat.resume().ended
  await assert.rejects(chat.approve(callId, asked), /already been answered/)
  assert.deepEqual(removed, ['/tmp/x'])
})

test('a late approval is void, and the result says that the call was not allowed', async () => {
  let now = Date.now()
  const { chat, removed, asked, callId } = await waiting({ now: () => now, askTimeoutMs: 60_000 })
  now += 60_001
  await assert.rejects(chat.approve(callId, asked), /not given in time/)
  assert.equal((await chat.resume().ended).outcome, 'done')
  assert.deepEqual(removed, [])
  assert.match(JSON.stringify(await results(chat)), /remove was not approved in time/)
})

test('a run that is resumed before the approval keeps waiting, and does not ask twice', async () => {
  const { chat, synapse, asked } = await waiting()
  const events = await collect(chat.resume())
  assert.deepEqual(only(events, 'approval-needed'), [asked])
  assert.equal(only(events, 'run-end')[0]?.outcome, 'waiting')
  const overlays = await synapse.store.overlays('local', chat.id)
  assert.equal(overlays.filter(({ kind }) => kind === 'approval-asked').length, 1)
})

test('a new message continues without the call, which can no longer be approved', async () => {
  const { chat, asked, callId, removed } = await waiting()
  assert.equal((await chat.send('Leave it.', { tools: [clock] }).ended).outcome, 'done')
  await assert.rejects(chat.approve(callId, asked), /continued without/)
  assert.deepEqual(removed, [])
})

test('a tool may ask for some inputs only', async () => {
  const { tool, removed } = removing(({ path }) => !path.startsWith('/tmp/'))
  const { chat } = await start({ model: 'openai/gpt-5.6', tools: [tool, clock] }, { emulation: oneCall })
  assert.equal((await chat.send('Remove it.').ended).outcome, 'done')
  assert.deepEqual(removed, ['/tmp/x'])
})

async function file(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'synapse-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'chats.db')
}

test('the question outlives the process: approved by another one, the call runs there', async (t) => {
  const store = await file(t)
  const offline = createEmulator(oneCall)
  const first = await openSynapse({ store, offline, env: {} })
  const chat = await first.start({ model: 'openai/gpt-5.6', tools: [removing().tool, clock] })
  const { waiting: asked } = await chat.send('Remove it.').ended
  await first.close()

  const { tool, removed } = removing()
  const second = await openSynapse({ store, offline, env: {} })
  t.after(() => second.close())
  const again = await second.open(chat.id, { model: 'anthropic/claude-opus-5', tools: [tool, clock] })
  const [pending] = await again.approvals()
  assert.deepEqual(pending, asked?.[0])
  await again.approve(pending?.call.callId ?? '', { argsHash: pending?.argsHash ?? '' })
  assert.equal((await again.resume().ended).outcome, 'done')
  assert.deepEqual(removed, ['/tmp/x'])
})

test('an answer is for the arguments that were shown, in time, and a denial may have a reason', async () => {
  const store = openMemoryStore()
  const { id: conversationId } = await store.createConversation('local')
  const part = call('c1', 'remove', { path: 'x' })
  await store.append('local', conversationId, { message: user('Remove it.') })
  const entry = await store.append('local', conversationId, { message: reply(part) })
  let now = 1_000_000
  const place = { store, owner: 'local', conversationId, now: () => now, write: () => ({}) }
  const history = await store.history('local', entry.id)
  const first = await answerTo(place, entry, part, 5000)
  const waiting = first.state === 'waiting' ? first.approval : assert.fail()
  assert.equal(waiting.expiresAt, new Date(now + 5000).toISOString())
  const argsHash = argsHashOf(part)
  for (const verdict of [
    { allowed: true },
    { allowed: true, argsHash: 'other' },
    { allowed: false, argsHash: 'other' },
  ]) {
    await assert.rejects(
      answerApproval(place, history, { callId: 'c1', ...verdict }),
      /have changed since they were shown/,
    )
  }
  now += 4999
  assert.equal((await answerTo(place, entry, part)).state, 'waiting')
  assert.equal((await waitingApprovals(place, history)).length, 1)
  now += 1
  const late = await answerTo(place, entry, part)
  assert.match(late.state === 'denied' ? late.why : '', /in time, so it was not run/)
  assert.deepEqual(await waitingApprovals(place, history), [])
  await assert.rejects(
    answerApproval(place, history, { callId: 'c1', allowed: true, argsHash }),
    /was not given in time/,
  )

  const answered = async (data: object) => {
    const overlay = { entryId: entry.id, kind: 'approval-answered', data: { callId: 'c1', argsHash, ...data } }
    const { id } = await store.addOverlay('local', conversationId, overlay)
    const given = await answerTo(place, entry, part)
    await store.setOverlayUndone('local', id, true)
    return given.state === 'denied' ? given.why : given.state
  }
  assert.equal(await answered({ allowed: true }), 'allowed')
  assert.match(await answered({ allowed: true, argsHash: 'other' }), /with other arguments/)
  const denied = await answered({ allowed: false })
  assert.match(denied, /remove, so it was not run\.$/)
  assert.equal(await answered({ allowed: false, reason: '' }), denied)
  assert.equal(await answered({ allowed: false, reason: 7 }), denied)
  assert.equal(await answered({ allowed: false, reason: 'Not today.' }), `${denied} The reason: Not today.`)
})

test('if it cannot be decided whether a call needs approval, it does', async () => {
  const { tool, removed } = removing(() => {
    throw new Error('the list of safe paths is gone')
  })
  const { chat } = await start({ model: 'openai/gpt-5.6', tools: [tool] }, { emulation: oneCall })
  assert.equal((await chat.send('Remove it.').ended).outcome, 'waiting')
  assert.deepEqual(removed, [])
})
