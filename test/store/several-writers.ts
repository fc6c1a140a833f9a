// What must hold when several processes write, on every store that several processes can share.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Store } from '../../src/store/store.ts'
import { user, textsOf } from './messages.ts'
import { startWorker } from './process.ts'

/** Everything that a worker was promised is there, and the log is whole. */
export async function checkAcknowledged(store: Store, owner: string, id: string, lines: string[]): Promise<void> {
  for (const line of lines) {
    const said = JSON.parse(line) as { [key: string]: string }
    assert.equal(said['error'], undefined, line)
    if (said['entry'] !== undefined) assert.ok(await store.entry(owner, said['entry']), line)
    if (said['body'] !== undefined) assert.ok(await store.blob(owner, said['body']), line)
    if (said['exchange'] !== undefined) assert.ok(await store.exchange(owner, said['exchange']), line)
    if (said['finished'] !== undefined) assert.equal((await store.exchange(owner, said['finished']))?.outcome, 'done')
    if (said['journal'] !== undefined) {
      const open = (await store.exchange(owner, said['journal']))?.outcome === 'open'
      assert.equal((await store.journaled(owner, said['journal'])).length, open ? 1 : 0, line)
    }
    const runs = await store.toolRuns(owner, id)
    if (said['started'] !== undefined)
      assert.ok(
        runs.some((run) => run.callId === said['started']),
        line,
      )
    if (said['ended'] !== undefined) {
      const run = runs.find((one) => one.callId === said['ended'])
      assert.ok(run?.outcome === 'done' && run.resultEntryId, line)
    }
  }
  const about = await store.conversation(owner, id)
  const outline = await store.outline(owner, id)
  assert.equal(outline.length, about?.entries)
  if (about?.head) assert.equal((await store.history(owner, about.head)).at(-1)?.id, about.head)
}

export async function race(t: TestContext, store: Store, place: string): Promise<void> {
  const owner = `racers-${process.pid}-${performance.now()}`
  const { id } = await store.createConversation(owner)
  const workers = [0, 1].map(() => startWorker(t, ['race', place, id, owner, '40']))
  const lines = (await Promise.all(workers.map((worker) => worker.rest()))).flat()
  const epochs = lines.map((line) => (JSON.parse(line) as { epoch?: number }).epoch)
  assert.deepEqual(
    epochs.toSorted((a, b) => Number(a) - Number(b)),
    Array.from({ length: 80 }, (_, i) => i + 1),
  )
  const head = (await store.conversation(owner, id))?.head ?? ''
  const expected = Array.from({ length: 160 }, (_, i) => `epoch ${Math.floor(i / 2) + 1}`)
  assert.deepEqual(textsOf(await store.history(owner, head)), expected)
  await store.close()
}

/** The store's lease clock must be ahead of the worker's by more than the worker's lease. */
export async function zombie(t: TestContext, store: Store, place: string): Promise<void> {
  const owner = `zombie-${process.pid}-${performance.now()}`
  const { id } = await store.createConversation(owner)
  const worker = startWorker(t, ['sleep', place, id, owner])
  assert.equal(await worker.next(), '{"epoch":1}')
  worker.signal('SIGSTOP')
  const { epoch } = await store.takeLease(owner, id, { holder: 'successor', ttlMs: 30_000 })
  assert.equal(epoch, 2)
  await store.append(owner, id, { message: user('from the present') }, { epoch })
  worker.send('continue')
  worker.signal('SIGCONT')
  const [line] = await worker.rest()
  const { error } = JSON.parse(line ?? '{}') as { error?: { kind: string; code: string; message: string } }
  assert.deepEqual([error?.kind, error?.code], ['conflict', 'lease-lost'], line)
  assert.match(error?.message ?? '', /successor took over/)
  assert.equal((await store.conversation(owner, id))?.entries, 1)
  await store.close()
}
