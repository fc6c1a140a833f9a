// How often a run commits and waits for the disk: the lease, and what is written before a request is planned, are committed
// together with the request, a reply with calls together with the start of the first one, and the release of a lease does
// not wait.

import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import fs, { mkdtempSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Tool } from '../../src/core/tool.ts'
import { defineTool, openMemoryStore, openSqliteStore, openSynapse, type Run, type UserInput } from '../../src/index.ts'
import { PendingWrites } from '../../src/run/log/pending-writes.ts'
import type { Hooks, RunSettings } from '../../src/settings/run.ts'
import type { Store } from '../../src/store/store.ts'
import type { EmulatorOptions } from '../../src/testing.ts'
import { repliesWith } from './calling-fetch.ts'
import { calling, clock, start } from './chatting.ts'

test('a turn and each step with a tool wait for few commits, and everything reported is durable', async (t) => {
  const { happened, script, synapse } = await openWatched(t)
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    input: { type: 'object', properties: { number: { type: 'number' } } } as never,
    run: async () => {
      happened.push('tool')
      return 'x'
    },
  })
  const chat = await synapse.start({ model: 'openai/gpt-4o', protocol: 'openai-chat', tools: [look] })
  // The first turn also gives the conversation its title.
  await chat.send('Hello.').ended
  happened.length = 0
  script.calls = 3
  const run = chat.send('Look three times.')
  for await (const event of run) {
    if (event.type !== 'message') continue
    // What is reported is in the log, for every reader.
    const log = await chat.tree()
    assert.ok(log.some(({ id }) => id === event.entryId))
  }
  assert.equal((await run.ended).outcome, 'done')
  // The last commit releases the lease; the first one also takes it.
  const step = 'commit disk tool commit disk request '
  assert.equal(happened.join(' '), `commit disk request ${step.repeat(3)}commit disk commit`)
  // A reply that was journaled and has arrived whole by then is not waited for twice.
  happened.length = 0
  script.answer = 'x'.repeat(10_000)
  assert.equal((await chat.send('Tell me more.').ended).outcome, 'done')
  assert.equal(happened.join(' '), 'commit disk request commit disk commit')
})

test('a long conversation waits for the disk no more often than a short one', async (t) => {
  const { happened, synapse } = await openWatched(t)
  const messages = Array.from({ length: 1500 }, (_, i) => ({
    role: 'user' as const,
    parts: [{ type: 'text' as const, text: `Message ${i}.` }],
  }))
  const chat = await synapse.start({ model: 'openai/gpt-4o', protocol: 'openai-chat', messages })
  await chat.send('Hello.').ended
  happened.length = 0
  assert.equal((await chat.send('Tell me more.').ended).outcome, 'done')
  assert.equal(happened.join(' '), 'commit disk request commit disk commit')
})

/** On a file of its own; `happened` lists commits, waits for the disk and requests. */
async function openWatched(t: TestContext) {
  const happened: string[] = []
  watchCommits(t, happened)
  const folder = mkdtempSync(join(tmpdir(), 'synapse-commits-'))
  const script = repliesWith(() => happened.push('request'))
  const synapse = await openSynapse({
    store: join(folder, 'log.db'),
    keys: { openai: 'none' },
    transport: { fetch: script.fetch },
  })
  t.after(async () => {
    await synapse.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { happened, script, synapse }
}

/** What can happen in a run, and what it is then ended by. */
interface Scenario {
  settings?: Partial<RunSettings>
  emulation?: EmulatorOptions
  message?: UserInput
  fault?: { status: number }
  /** While a tool runs. */
  meanwhile?: (run: Run) => void
  outcome: string
  /** Something is decided about what is sent. */
  decisions?: boolean
}

const picture = { type: 'media', mediaType: 'image/png', data: { kind: 'base64', base64: 'AAAA' } } as const
const asking: Tool = { ...clock, name: 'ask_first', ask: true }
const drawing: Tool = { ...clock, name: 'draw', run: () => [picture] }
const answering = (text: string) => ({ parts: [{ type: 'text' as const, text }] })
const oneCall = { reply: calling([{ name: 'clock' }]) }

const scenarios: Record<string, Scenario> = {
  'an answer': { outcome: 'done' },
  'a message with a picture': {
    message: [{ type: 'text', text: 'What is this?' }, picture],
    outcome: 'done',
  },
  'a reply without content': { emulation: { reply: () => ({ parts: [] }) }, outcome: 'done' },
  'two calls, one after the other': {
    emulation: { reply: calling([{ name: 'clock' }], [{ name: 'clock' }]) },
    outcome: 'done',
  },
  'two calls of one reply': { emulation: { reply: calling([{ name: 'clock' }, { name: 'clock' }]) }, outcome: 'done' },
  'a call too many': {
    settings: { guards: { callsPerReply: 1 } },
    emulation: { reply: calling([{ name: 'clock' }, { name: 'clock' }]) },
    outcome: 'done',
  },
  'a result with a picture': {
    settings: { tools: [drawing] },
    emulation: { reply: calling([{ name: 'draw' }]) },
    outcome: 'done',
  },
  'an approval': {
    settings: { tools: [asking] },
    emulation: { reply: calling([{ name: 'ask_first' }]) },
    outcome: 'waiting',
  },
  'the last step': { settings: { maxSteps: 1 }, emulation: oneCall, outcome: 'max-steps' },
  'a budget': { settings: { budget: { run: { tokens: 1 } } }, emulation: oneCall, outcome: 'stopped' },
  'a hook that denies what follows': {
    settings: { hooks: { afterReply: () => ({ deny: 'no' }) } },
    emulation: oneCall,
    outcome: 'stopped',
  },
  'a hook before a call': { settings: { hooks: { beforeTool: () => undefined } }, emulation: oneCall, outcome: 'done' },
  'an abort': { emulation: oneCall, meanwhile: (run) => run.abort(), outcome: 'cancelled' },
  'a message meanwhile': { emulation: oneCall, meanwhile: (run) => run.steer('And the date?'), outcome: 'done' },
  'an answer composed by another model': {
    settings: { route: { answer: 'anthropic/claude-opus-5' } },
    emulation: oneCall,
    outcome: 'done',
  },
  'an answer that has to be corrected': {
    settings: { answer: { type: 'object', required: ['n'], properties: { n: { type: 'number' } } } },
    emulation: { reply: ({ messages }) => answering(messages.length > 1 ? '{"n":1}' : '{}') },
    outcome: 'done',
  },
  'what is left out': {
    settings: {
      // Its price has no discount for cached input, so that old turns are folded at once.
      model: 'together/meta-llama/Llama-3.3-70B-Instruct-Turbo',
      tools: [{ ...clock, run: () => 'noon '.repeat(800) }],
      policy: { preset: 'economy', maxToolTurns: 1 },
      maxSteps: 4,
    },
    emulation: { reply: calling(...Array.from({ length: 4 }, () => [{ name: 'clock' }])) },
    outcome: 'max-steps',
    decisions: true,
  },
  'a summary': {
    settings: { policy: { preset: 'full', compaction: { every: 1, keep: 1, native: false } } },
    emulation: oneCall,
    outcome: 'done',
    decisions: true,
  },
  'a refusal': { fault: { status: 400 }, outcome: 'failed' },
}

for (const [what, scenario] of Object.entries(scenarios)) {
  const { settings, emulation, message = 'Go.', fault, meanwhile, outcome, decisions = false } = scenario
  test(`${what}: reported only when it is stored, in the same order by every store`, async () => {
    const seen = async (inner: Store) => {
      const { store, unfinished, isStored } = slow(inner)
      const early: string[] = []
      let run: Run | undefined
      const running: Tool[] = (settings?.tools ?? [clock]).map((tool) => ({
        ...tool,
        input: { type: 'object' },
        run(...given) {
          // Those that run at the same time start and end on their own.
          early.push(...unfinished().filter((write) => !write.endsWith('Tool')))
          if (run) meanwhile?.(run)
          run = undefined
          return tool.run(...given)
        },
      }))
      const reply: EmulatorOptions['reply'] = async (...given) => {
        early.push(...unfinished())
        return emulation?.reply?.(...given)
      }
      const { afterReply, beforeTool } = settings?.hooks ?? {}
      const hooks: Hooks = {
        ...(afterReply && {
          afterReply(about) {
            early.push(...unfinished())
            return afterReply(about)
          },
        }),
        ...(beforeTool && {
          beforeTool(about) {
            early.push(...unfinished())
            return beforeTool(about)
          },
        }),
      }
      const { chat, emulator } = await start(
        { model: 'openai/gpt-5.6', ...settings, tools: running, hooks },
        { store, emulation: { ...emulation, reply } },
      )
      await chat.send('Hello.').ended
      if (fault) emulator.order(fault)
      const sent = chat.send(message)
      run = sent
      const events: unknown[] = []
      for await (const event of sent) {
        if (event.type === 'reply-event') continue
        if (event.type === 'message' && !isStored(event.entryId)) early.push(`message ${events.length}`)
        if (event.type === 'run-end') early.push(...unfinished())
        events.push(event.type === 'message' ? [event.type, event.message.role] : event.type)
      }
      const end = await sent.ended
      assert.deepEqual(early, [], 'nothing is sent, run or reported before what it depends on is stored')
      const { items } = await inner.exchanges('local', chat.id)
      const log = await messagesOf(inner, chat.id)
      const overlays = (await inner.overlays('local', chat.id)).map(({ kind }) => kind)
      assert.equal(overlays.includes('fold') || overlays.includes('compaction'), decisions)
      await store.close()
      return {
        outcome: end.outcome,
        usage: end.usage,
        cost: end.cost,
        events,
        overlays,
        exchanges: items.map(({ outcome: how, usage, cost, notes, replyEntryId }) => ({
          how,
          usage,
          cost,
          notes: notes.length,
          isAnswered: replyEntryId !== undefined,
        })),
        log: log.map(({ role, parts }) => [role, parts.length]),
      }
    }
    const [inMemory, inOrder] = [await seen(await openMemoryStore()), await seen(await openSqliteStore(':memory:'))]
    assert.equal(inMemory.outcome, outcome)
    assert.deepEqual(inOrder, inMemory)
  })
}

/** A store whose writes are acknowledged late. */
function slow(inner: Store) {
  const pending = new Set<{ name: string }>()
  const stored = new Set<string>()
  const writes = [
    'append',
    'openExchange',
    'finishExchange',
    'startTool',
    'finishTool',
    'addOverlay',
    'setHead',
  ] as const
  const late = writes.map((name) => {
    const write = inner[name] as (...given: unknown[]) => Promise<unknown>
    return [
      name,
      async (...given: unknown[]) => {
        const mark = { name }
        pending.add(mark)
        try {
          const result = await write(...given)
          for (let i = 0; i < 5; i++) await setImmediate()
          const { id, entry } = (result ?? {}) as { id?: string; entry?: { id: string } }
          if (id !== undefined) stored.add(id)
          if (entry) stored.add(entry.id)
          return result
        } finally {
          pending.delete(mark)
        }
      },
    ]
  })
  const store: Store = { ...inner, ...Object.fromEntries(late) }
  return { store, unfinished: () => [...pending].map(({ name }) => name), isStored: (id: string) => stored.has(id) }
}

async function messagesOf(store: Store, id: string) {
  const conversation = await store.conversation('local', id)
  return (await store.history('local', conversation?.head ?? '')).map(({ message }) => message)
}

/** Each statement that commits, of every connection of this process, and when a log is on disk. */
function watchCommits(t: TestContext, happened: string[]): void {
  const { prepare } = DatabaseSync.prototype
  t.mock.method(DatabaseSync.prototype, 'prepare', function (this: DatabaseSync, sql: string): StatementSync {
    const statement = prepare.call(this, sql)
    if (sql !== 'COMMIT') return statement
    const { run } = statement
    t.mock.method(statement, 'run', (...values: Parameters<typeof run>) => {
      happened.push('commit')
      return run.apply(statement, values)
    })
    return statement
  })
  const { fdatasync } = fs
  const mocked = t.mock.method(fs, 'fdatasync', (file: number, done: fs.NoParamCallback) => {
    fdatasync(file, (error) => {
      happened.push('disk')
      done(error)
    })
  })
  syncBuiltinESMExports()
  t.after(() => {
    mocked.mock.restore()
    syncBuiltinESMExports()
  })
}

test('what is written while earlier writes are waited for is waited for next, and its error is not lost', async () => {
  const pending = new PendingWrites({ now: () => 0 })
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const reported: string[] = []
  pending.add(first.promise, () => reported.push('first'))
  const settled = pending.settled()
  pending.add(second.promise, () => reported.push('second'))
  first.resolve()
  await settled
  assert.deepEqual(reported, ['first'])
  second.reject(new Error('disk full'))
  await assert.rejects(pending.settled(), /disk full/)
  assert.deepEqual(reported, ['first'])
})
