// I6: one writer per conversation, whatever the processes do. SYNAPSE_RACES says how often each of two processes sends
// (500 for the full proof: a thousand races).

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test, type TestContext } from 'node:test'
import { textOf } from '../../src/core/message.ts'
import { openSynapse } from '../../src/runtime/open.ts'
import { hasEnded, thisProcess } from '../../src/run/log/lease.ts'
import { compileCache } from '../compile-cache.ts'
import { thorough } from '../thorough.ts'
import { checkSendable } from './invariants.ts'
import { kinds, newPlace, openPlace, reasonToSkip } from './stores.ts'

const races = Number(process.env['SYNAPSE_RACES'] ?? (thorough ? 100 : 4))

for (const kind of kinds) {
  test(
    `two processes that send to one conversation on ${kind} take turns, and mix nothing`,
    { skip: reasonToSkip(kind) },
    async (t) => {
      const place = await newPlace(t, kind)
      const store = await openPlace(place)
      const { id } = await store.createConversation('ada')
      const workers = ['Ada', 'Bob'].map((name) => startWorker(t, ['race', place.url, id, name, `${races}`]))
      // Opening takes the lease too, if a request of another process looks interrupted.
      for (const worker of workers) assert.deepEqual(await worker.next(), { ready: true })
      for (const worker of workers) worker.send('go')
      const lines = await Promise.all(workers.map((worker) => worker.rest()))
      for (const said of lines) assert.equal(said.at(-1)?.['won'], races, JSON.stringify(said.at(-1)))
      t.diagnostic(`${lines.reduce((sum, said) => sum + Number(said.at(-1)?.['lost']), 0)} tries were refused`)

      const { head } = (await store.conversation('ada', id)) ?? {}
      const messages = (await store.history('ada', head ?? '')).map((entry) => entry.message)
      assert.equal(messages.length, races * 4)
      assert.deepEqual(
        messages.map((message) => message.role),
        Array.from({ length: races * 4 }, (_, i) => (i % 2 === 0 ? 'user' : 'assistant')),
      )
      for (const name of ['Ada', 'Bob']) {
        const own = messages.flatMap((message) =>
          textOf(message.parts).startsWith(`${name} `) ? [textOf(message.parts)] : [],
        )
        assert.deepEqual(
          own,
          Array.from({ length: races }, (_, i) => `${name} ${i}`),
        )
      }
      // Each answer is the answer to the question before it.
      for (let i = 1; i < messages.length; i += 2) {
        assert.ok(textOf(messages[i]?.parts ?? []).includes(`"${textOf(messages[i - 1]?.parts ?? [])}"`))
      }
      const { epoch } = await store.takeLease('ada', id, { holder: 'test', ttlMs: 1000 })
      assert.equal(epoch, races * 2 + 1, 'every run held the lease once')
      await store.close()
    },
  )

  test(
    `a process that was suspended past its lease on ${kind} is fenced, and the history of its successor is kept`,
    { skip: reasonToSkip(kind) },
    async (t) => {
      const place = await newPlace(t, kind)
      const store = await openPlace(place, { leaseSkewMs: () => 60_000 })
      const { id } = await store.createConversation('ada')
      const sleeper = startWorker(t, ['sleep', place.url, id])
      assert.deepEqual(await sleeper.next(), { ready: true })
      assert.deepEqual(await sleeper.next(), { running: true })

      const patient = await openPlace(place)
      const early = await (
        await openSynapse({ store: patient, owner: 'ada', offline: true, env: {} })
      ).open(id, { model: 'anthropic' })
      const { failure } = await early.send('Are you there?').ended
      assert.equal(failure?.code, 'lease-held')
      assert.match(failure.message, /is being written by .*:\d+ .* since \d{4}-/)

      sleeper.signal('SIGSTOP')
      const synapse = await openSynapse({ store, owner: 'ada', offline: true, env: {} })
      const chat = await synapse.open(id, { model: 'anthropic/claude-opus-5' })
      assert.equal((await chat.resume().ended).outcome, 'done')
      const before = await chat.history()
      assert.deepEqual(
        before.map((entry) => entry.message.role),
        ['user', 'assistant', 'tool', 'assistant'],
      )

      sleeper.send('continue')
      sleeper.signal('SIGCONT')
      assert.deepEqual(await sleeper.rest(), [{ outcome: 'failed', kind: 'conflict', code: 'lease-lost' }])
      assert.deepEqual(await chat.history(), before)
      checkSendable(before.map((entry) => entry.message))
      await Promise.all([store.close(), patient.close()])
    },
  )
}

test('the lease of a killed process is taken over at once, that of a living one is not', () => {
  const own = thisProcess()
  assert.equal(hasEnded(own), false)
  const [, host = '', , space = ''] = /^(.*):(\d+) \((\w+)\./.exec(own) ?? []
  // The largest number that Linux gives to a process is below this one.
  assert.equal(hasEnded(`${host}:4194305 (${space}.1)`), true)
  assert.equal(
    hasEnded(`${host}:${process.pid} (${space}.1)`),
    process.platform === 'linux',
    'its number was given to another',
  )
  assert.equal(hasEnded(`${host}:4194305 (000000000000.1)`), false, 'another container')
  assert.equal(hasEnded(`elsewhere:4194305 (${space}.1)`), false)
  assert.equal(hasEnded('somebody else'), false)
})

test('a process is identified by when it started', { skip: process.platform !== 'linux' }, () => {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  assert.match(thisProcess(), new RegExp(`\\.${fields[19]}\\)$`))
  assert.notEqual(fields[19], '0')
})

interface LeaseWorker {
  next(): Promise<Record<string, unknown> | undefined>
  rest(): Promise<Record<string, unknown>[]>
  send(line: string): void
  signal(name: NodeJS.Signals): void
}

function startWorker(t: TestContext, args: string[]): LeaseWorker {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'lease-worker.ts'), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
  })
  const ended = once(child, 'close')
  child.stdin.on('error', () => {})
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => {
    const line = await lines.next()
    return line.done ? undefined : (JSON.parse(line.value) as Record<string, unknown>)
  }
  return {
    next,
    async rest() {
      const all: Record<string, unknown>[] = []
      for (let said = await next(); said; said = await next()) all.push(said)
      return all
    },
    send: (line) => void child.stdin.write(`${line}\n`),
    signal: (name) => void child.kill(name),
  }
}
