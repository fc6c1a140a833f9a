// What must hold after a process was killed and its conversation was continued. The numbers are those of docs/crash.md.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { prepare, refuse } from '../../src/runtime/prepare.ts'
import type { Entry } from '../../src/core/log.ts'
import { callsOf, textOf, type Message, type Part } from '../../src/core/message.ts'
import { fold } from '../../src/core/fold.ts'
import { someTargets } from '../targets.ts'
import { toolsOf, type Stage } from './play.ts'

/** What the log held when the process died: nothing of it may be lost, and what was in progress is known. */
export interface Wreck {
  entries: Entry[]
  /** Calls that had started, have no result, and must not run again. */
  unknown: string[]
  /** What had been journalled of replies that were still coming, by their exchange. */
  partial: Map<string, string>
}

export async function inspectWreck(stage: Stage, acknowledged: readonly string[]): Promise<Wreck> {
  const { store, owner, conversationId } = stage
  const entries = await wholeTree(stage)
  const ids = new Set(entries.map((entry) => entry.id))
  for (const id of acknowledged) assert.ok(ids.has(id), `I1: entry ${id} was acknowledged and is lost`)
  const runs = await store.toolRuns(owner, conversationId, { unfinished: true })
  const partial = new Map<string, string>()
  for (const { id, provider, protocol, model } of (await store.exchanges(owner, conversationId, { outcome: 'open' }))
    .items) {
    const { reply } = fold(await store.journaled(owner, id), { provider, protocol, model })
    if (reply.parts.length > 0) partial.set(id, textOf(reply.parts))
  }
  return { entries, unknown: runs.filter((run) => !run.repeatable).map((run) => run.callId), partial }
}

export async function checkRecovered(stage: Stage, wreck: Wreck, expected: readonly string[]): Promise<void> {
  const { store, owner, conversationId } = stage
  const tree = await wholeTree(stage)
  const after = new Map(tree.map((entry) => [entry.id, JSON.stringify(entry)]))
  for (const entry of wreck.entries) assert.equal(after.get(entry.id), JSON.stringify(entry), 'I1: an entry changed')

  const info = await store.conversation(owner, conversationId)
  const history = info?.head ? await store.history(owner, info.head) : []
  const messages = history.map((entry) => entry.message)
  checkPaired(messages)
  const unknown = messages.flatMap((message) => (message.role === 'tool' ? message.parts : [])).filter(isUnknown)
  assert.deepEqual(unknown.map((result) => result.callId).toSorted(), wreck.unknown.toSorted(), 'I4: outcome unknown')
  const shown = inOrder(messages)
  if (unknown.length === 0) assert.deepEqual(shown, expected, 'parity with the uninterrupted run')
  else assert.equal(shown.length, expected.length, 'parity with the uninterrupted run')

  assert.deepEqual(
    (await store.exchanges(owner, conversationId, { outcome: 'open' })).items,
    [],
    'I3: an open exchange',
  )
  assert.deepEqual(await store.toolRuns(owner, conversationId, { unfinished: true }), [], 'I3: an unfinished tool')
  for (const [id, text] of wreck.partial) {
    const exchange = await store.exchange(owner, id)
    const entry = exchange?.replyEntryId ? await store.entry(owner, exchange.replyEntryId) : undefined
    assert.equal(textOf(entry?.message.parts ?? []), text, 'I3: partial text is kept')
    const isWhole = messages.some((message) => textOf(message.parts) === text)
    if (!isWhole) assert.equal(entry?.message.role === 'assistant' && entry.message.stop.reason, 'interrupted', 'I3')
  }
  await checkEffects(stage, messages, new Set(wreck.unknown))
  assert.equal(await store.lease(owner, conversationId), undefined, 'I6: the lease is given back')
  checkSendable(messages)
}

/** I2: numbers, parents and depths of the tree fit, and every path can be read. */
async function wholeTree({ store, owner, conversationId }: Stage): Promise<Entry[]> {
  const outline = await store.outline(owner, conversationId)
  const info = await store.conversation(owner, conversationId)
  assert.equal(outline.length, info?.entries, 'I2: the number of entries')
  const depths = new Map<string | null, number>([[null, -1]])
  const entries: Entry[] = []
  for (const { id, parentId, depth } of outline) {
    assert.equal(depth, (depths.get(parentId) ?? Number.NaN) + 1, 'I2: a parent comes before its children')
    depths.set(id, depth)
    const entry = await store.entry(owner, id)
    assert.ok(entry, 'I2: an entry of the tree is there')
    entries.push(entry)
  }
  for (const { entryId, depth } of await store.branches(owner, conversationId)) {
    assert.equal((await store.history(owner, entryId)).length, depth + 1, 'I2: a branch reaches its root')
  }
  return entries
}

/** I2: each call has exactly one result, after it. */
function checkPaired(messages: readonly Message[]): void {
  const open = new Set<string>()
  for (const message of messages) {
    for (const call of callsOf(message)) open.add(call.callId)
    for (const part of message.parts) {
      if (part.type === 'tool-result') assert.ok(open.delete(part.callId), 'I2: one result for each call')
    }
  }
  assert.deepEqual([...open], [], 'I2: every call has a result')
}

/** I4 and I5: what left a trace outside was recorded, and what must not run twice did not. */
async function checkEffects(stage: Stage, messages: readonly Message[], unknown: ReadonlySet<string>): Promise<void> {
  const { store, owner, conversationId } = stage
  const starts = linesOf(stage.effects)
  for (const { callId, name } of messages.flatMap(callsOf)) {
    const count = starts.filter((line) => line === `${name} ${callId}`).length
    if (name === 'clock') assert.ok(count <= 1, `I4: clock started ${count} times`)
    if (!unknown.has(callId)) assert.ok(count >= 1, 'I4: a result without a start')
  }
  const exchanges = (await store.exchanges(owner, conversationId, { limit: 500 })).items
  const attempts = exchanges.reduce((sum, exchange) => sum + exchange.attempts, 0)
  const sent = linesOf(stage.requests).filter((line) => line === conversationId).length
  assert.ok(sent <= attempts, `I5: ${sent} requests were sent, ${attempts} recorded`)
}

/** I7: every provider would take it. */
export function checkSendable(messages: readonly Message[]): void {
  const tools = toolsOf({ effects: '' }).map(({ name, description, input }) => ({
    name,
    input,
    ...(description && { description }),
  }))
  for (const target of someTargets) {
    const { body } = prepare({ ...target, messages, tools, policy: 'full' })
    assert.deepEqual(refuse(target.protocol, body, { provider: target.provider, model: target.model }), [], 'I7')
  }
}

export function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
}

/** Messages without what differs from run to run, and results of parallel calls in a fixed order. */
export function inOrder(messages: readonly Message[]): string[] {
  const shown: string[] = []
  let results: string[] = []
  for (const message of messages) {
    if (message.role === 'tool') {
      results.push(inShort(message))
      continue
    }
    shown.push(...results.sort(), inShort(message))
    results = []
  }
  return [...shown, ...results.sort()]
}

function inShort(message: Message): string {
  const who = message.role === 'assistant' ? `${message.origin.provider} ${message.stop.reason}` : message.role
  return `${who}: ${message.parts.map(partInShort).join(' | ')}`
}

function partInShort(part: Part): string {
  switch (part.type) {
    case 'text':
      return part.text
    case 'tool-call':
      return `${part.name}(${JSON.stringify(part.input)})`
    case 'tool-result':
      return `${part.name} = ${textOf(part.output)}`
    default:
      return part.type
  }
}

function isUnknown(part: { failed?: boolean; output: Part[] }): boolean {
  return part.failed === true && textOf(part.output).includes('is not known')
}
