import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { isObject, type JsonObject } from '../../src/core/json.ts'
import { textOf } from '../../src/core/message.ts'
import { openSynapse } from '../../src/index.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { tempFolder } from '../store/temp.ts'
import { apiAt, newConversation, readEvents, runIn, type Received } from './serving.ts'

interface Started {
  child: ChildProcess
  url: string
  api: ReturnType<typeof apiAt>
}

async function start(t: TestContext, folder: string, hold = ''): Promise<Started> {
  const script = join(import.meta.dirname, 'process.ts')
  const args = [script, join(folder, 'chats.db'), hold, join(folder, 'starts')]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const died = once(child, 'exit').then(([code]) => assert.fail(`the server ended with ${code} before it had begun`))
  const [line] = (await Promise.race([once(child.stdout ?? child, 'data'), died])) as [Buffer]
  died.catch(() => {})
  const url = line.toString().trim()
  return { child, url, api: apiAt(url) }
}

async function end({ child }: Started, signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
  const gone = once(child, 'exit')
  child.kill(signal)
  const [code] = (await gone) as [number | null]
  return code
}

/** The events of a run until the moment it is held up. */
async function beforeTheEnd({ url, api }: Started, text: string, enough: (event: Received) => boolean) {
  const id = await newConversation(api)
  const runId = runIn(await api('POST', `/api/conversations/${id}/messages`, { text }))
  const seen = await readEvents(`${url}/api/runs/${runId}/events`, {}, enough)
  return { id, runId, seen }
}

interface Part {
  text?: string
  part?: { text?: string }
}

const isPart = (value: unknown): value is Part =>
  isObject(value) && (value['type'] === 'part-delta' || value['type'] === 'part-start')

const isDelta = ({ data }: Received) => (data['event'] as JsonObject | undefined)?.['type'] === 'part-delta'

async function afterwards(second: Started, runId: string, seen: Received[]): Promise<Received[]> {
  const last = seen.at(-1)?.id ?? 0
  const rest = await readEvents(`${second.url}/api/runs/${runId}/events`, {
    headers: { 'last-event-id': String(last) },
  })
  const all = [...seen, ...rest]
  assert.deepEqual(
    all.map((event) => event.id),
    all.map((_, i) => i + 1),
    'each event once, in order',
  )
  assert.equal(all.filter(({ event }) => event === 'run-end').length, 1)
  assert.equal(all.at(-1)?.event, 'run-end')
  return rest
}

test('a server killed in the middle of a reply continues with the run at its next start', async (t) => {
  const folder = tempFolder(t)
  const first = await start(t, folder, '6')
  const { id, runId, seen } = await beforeTheEnd(first, 'Tell me about yourself.', isDelta)
  await end(first, 'SIGKILL')
  const second = await start(t, folder)
  const rest = await afterwards(second, runId, seen)
  assert.equal(rest.filter(({ event }) => event === 'run-resumed').length, 1)
  assert.equal(rest.at(-1)?.data['outcome'], 'done')
  const history = (await second.api('GET', `/api/conversations/${id}/entries`)).body['items'] as JsonObject[]
  assert.deepEqual(
    history.map((entry) => (entry['message'] as JsonObject)['role']),
    ['user', 'assistant'],
  )
  const again = await readEvents(`${second.url}/api/runs/${runId}/events`)
  assert.deepEqual(
    again.slice(0, seen.length).map((event) => event.raw),
    seen.map((event) => event.raw),
  )
  const { status } = await second.api('POST', `/api/conversations/${id}/messages`, { text: 'And more.' })
  assert.equal(status, 202)
})

test('what a killed server has shown of a reply is in the log for any program, and was stored once', async (t) => {
  const folder = tempFolder(t)
  const first = await start(t, folder, '6')
  const { id, seen } = await beforeTheEnd(first, 'Tell me about yourself.', isDelta)
  await end(first, 'SIGKILL')
  const shown = seen.flatMap(({ data }) =>
    isPart(data['event']) ? (data['event'].text ?? data['event'].part?.text ?? '') : [],
  )
  const file = join(folder, 'chats.db')
  const store = await openSqliteStore(file)
  const { items: open } = await store.exchanges('local', id, { outcome: 'open' })
  assert.equal(open.length, 1)
  assert.deepEqual(await store.journaled('local', open[0]?.id ?? ''), [])
  await store.close()

  const synapse = await openSynapse({ store: file, offline: true })
  t.after(() => synapse.close())
  const chat = await synapse.open(id, { model: 'anthropic/claude-opus-5' })
  const reply = (await chat.history()).at(-1)?.message
  assert.ok(reply?.role === 'assistant')
  assert.equal(reply.stop.reason, 'interrupted')
  assert.ok(shown.join('').length > 0)
  assert.ok(textOf(reply.parts).startsWith(shown.join('')), JSON.stringify([shown, reply.parts]))
})

test('a tool that was running when the server was killed is not started twice', async (t) => {
  const folder = tempFolder(t)
  const first = await start(t, folder, 'tool')
  const { id, runId, seen } = await beforeTheEnd(first, 'What time is it?', ({ event }) => event === 'tool-start')
  while (!existsSync(join(folder, 'starts'))) await new Promise(setImmediate)
  await end(first, 'SIGKILL')
  const second = await start(t, folder)
  const rest = await afterwards(second, runId, seen)
  assert.equal(rest.at(-1)?.data['outcome'], 'done')
  assert.equal(readFileSync(join(folder, 'starts'), 'utf8'), 'x')
  const history = (await second.api('GET', `/api/conversations/${id}/entries`)).text
  assert.match(history, /whether it had any effect is not known/)
})

test('a stopping server parks what takes too long, and the next one continues', async (t) => {
  const folder = tempFolder(t)
  const first = await start(t, folder, '6')
  const { id, runId, seen } = await beforeTheEnd(first, 'Tell me about yourself.', isDelta)
  const stopped = end(first, 'SIGTERM')
  assert.equal(await stopped, 0)
  const second = await start(t, folder)
  const rest = await afterwards(second, runId, seen)
  assert.equal(rest.at(-1)?.data['outcome'], 'done')
  assert.equal((await second.api('GET', `/api/conversations/${id}`)).body['run'], undefined)
  assert.equal(await end(second, 'SIGTERM'), 0)
})
