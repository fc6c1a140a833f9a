// What must not grow: a turn in a larger archive, a turn among others at once, and a turn with a second server on
// the database.

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { findPostgres } from '../../test/store/postgres-server.ts'
import { openSynapse } from '../built.ts'
import { answer } from '../quick-provider.ts'
import { median } from '../measure.ts'
import type { Check, Row, Table } from '../row.ts'
import type { Engine } from '../store/engine.ts'
import { owner } from '../store/messages.ts'
import { postgresEngine } from '../store/postgres.ts'
import { sqliteEngine } from '../store/sqlite.ts'

const root = join(import.meta.dirname, '..', '..')

export const growth: Row = {
  name: 'growth',
  about:
    'What must not grow: a turn through the library, from `send` to its end, by the length of its conversation, by the number of stored conversations (two messages each), and by the number of turns at once; and turns through `synapse serve` by the number of servers on one PostgreSQL, where every conversation continues on the other server. The archives are made in bulk, without their words in the search index: lists and searches by size are in `store`, and what a turn with more content takes is in `turn`.',

  async run({ quick }) {
    const programs = findPostgres()
    const makers = [sqliteEngine, ...(programs === undefined ? [] : [() => postgresEngine(programs)])]
    const lengths = quick ? [100, 2000] : [100, 1000, 10_000, 100_000]
    const archives = quick ? [10, 1000] : [10, 1000, 100_000]
    const crowds = quick ? [1, 10, 100] : [1, 10, 100, 1000]
    const byLength: Table = {
      title: 'By messages',
      head: ['store', 'messages', 'first turn, ms', 'next turn, ms', '× first line'],
      lines: [],
    }
    const byArchive: Table = {
      title: 'By conversations',
      head: ['store', 'conversations', 'turn, ms', '× first line'],
      lines: [],
    }
    const byCrowd: Table = {
      title: 'By turns at once',
      head: ['store', 'at once', 'processor per turn, ms', 'wall per turn, ms', '× first line'],
      lines: [],
    }
    const byServers: Table = {
      title: 'By servers on one PostgreSQL',
      head: ['servers', 'turns', 'turns per second', '× one'],
      lines: [],
    }
    const checks: Check[] = []
    for (const make of makers) {
      const engine = await make()
      try {
        checks.push(await growingConversation(engine, lengths, byLength))
        checks.push(await growingArchive(engine, archives, byArchive), await growingCrowd(engine, crowds, byCrowd))
        if (engine.name === 'PostgreSQL') checks.push(await moreServers(engine, quick ? 10 : 40, byServers))
      } finally {
        await engine.close()
      }
    }
    const remarks = [
      'The first turn is the first one of the conversation: nothing has been decided about it. After 100,000 messages it asks for a summary of all of them before it sends the message. In `turn` the decisions are recorded.',
      'Wall time where it says nothing else, medians: the work of a database is not in the processor time of its client.',
    ]
    if (programs === undefined) remarks.push('PostgreSQL was not measured: its programs are not on this machine.')
    const tables = [byLength, byArchive, byCrowd, ...(byServers.lines.length > 0 ? [byServers] : [])]
    return { tables, checks, remarks }
  },
}

const settings = { model: 'openai/gpt-5.1', protocol: 'openai-chat' } as const
const turns = 30
/** They load code and fill the caches of the database. */
const warming = 10

async function growingConversation(engine: Engine, lengths: readonly number[], { lines }: Table): Promise<Check> {
  const times: number[] = []
  for (const length of lengths) {
    const place = await engine.place(`length-${length}`)
    await engine.fillQuickly(place, { conversations: 1, messages: length })
    const { first, next } = await turnsIn(place, 'conversation-1')
    times.push(next)
    lines.push([engine.name, length.toLocaleString('en'), shown(first), shown(next), over(times)])
  }
  const [short, long] = [lengths[0], lengths.at(-1)]
  return {
    what: `${engine.name}: a turn after ${long} messages / after ${short}`,
    value: ratioOf(times),
    bound: 3,
    excuse:
      'what is sent grows too, until it is folded or summarised: all of 10,000 short messages (1 MB). After a summary, lists of all messages are still copied and compared for each plan. They are compared twice, no longer eight times, which took a third of the processor time of a turn after 100,000 messages away (16 to 11 ms, and 3.8 ms after 100)',
  }
}

async function growingArchive(engine: Engine, sizes: readonly number[], { lines }: Table): Promise<Check> {
  const times: number[] = []
  for (const size of sizes) {
    const place = await engine.place(`archive-${size}`)
    await engine.fillQuickly(place, { conversations: size, messages: 2 })
    times.push((await turnsIn(place, 'conversation-5')).next)
    lines.push([engine.name, size.toLocaleString('en'), shown(times.at(-1)), over(times)])
  }
  const [few, many] = [sizes[0], sizes.at(-1)]
  return {
    what: `${engine.name}: a turn among ${many} conversations / among ${few}`,
    value: ratioOf(times),
    bound: 1.5,
  }
}

async function turnsIn(place: string, id: string): Promise<{ first: number; next: number }> {
  const synapse = await openSynapse({ store: place, owner, keys: { openai: 'none' }, transport: { fetch: answer } })
  try {
    const chat = await synapse.open(id, settings)
    const times: number[] = []
    for (let turn = 0; turn < turns; turn++) {
      const start = performance.now()
      await chat.send(`Continue, ${turn}.`).text()
      times.push(performance.now() - start)
    }
    return { first: times[0] ?? Number.NaN, next: median(times.slice(warming)) }
  } finally {
    await synapse.close()
  }
}

async function growingCrowd(engine: Engine, sizes: readonly number[], { lines }: Table): Promise<Check> {
  const synapse = await openSynapse({
    store: await engine.place('crowd'),
    keys: { openai: 'none' },
    transport: { fetch: answer },
  })
  const processor: number[] = []
  try {
    await (await synapse.start(settings)).send('Load what a first turn loads.').text()
    for (const size of sizes) {
      const chats = []
      for (let i = 0; i < size; i++) chats.push(await synapse.start(settings))
      const rounds = Math.max(1, Math.floor(60 / size))
      const start = { wall: performance.now(), cpu: process.cpuUsage() }
      for (let round = 0; round < rounds; round++) {
        await Promise.all(chats.map((chat) => chat.send(`Round ${round}.`).text()))
      }
      const { user, system } = process.cpuUsage(start.cpu)
      const turns = rounds * size
      processor.push((user + system) / 1000 / turns)
      lines.push([
        engine.name,
        size,
        shown(processor.at(-1)),
        shown((performance.now() - start.wall) / turns),
        over(processor),
      ])
    }
  } finally {
    await synapse.close()
  }
  const most = sizes.at(-1)
  return { what: `${engine.name}: processor of a turn, ${most} at once / one`, value: ratioOf(processor), bound: 1.2 }
}

async function moreServers(engine: Engine, conversations: number, { lines }: Table): Promise<Check> {
  const perSecond: number[] = []
  for (const count of [1, 2]) {
    const place = await engine.place('served')
    const servers = await Promise.all(Array.from({ length: count }, () => served(place)))
    try {
      const at = (i: number) => servers[i % count]?.url ?? ''
      const ids = await Promise.all(Array.from({ length: conversations }, (_, i) => created(at(i))))
      const turns = (round: number) => Promise.all(ids.map((id, i) => turnOf(at(i + round), id)))
      // Each server compiles what a turn needs.
      for (let round = 0; round < 3; round++) await turns(round)
      const start = performance.now()
      for (let round = 3; round < 7; round++) await turns(round)
      perSecond.push((conversations * 4) / ((performance.now() - start) / 1000))
    } finally {
      const ended = servers.map(({ child }) => once(child, 'exit'))
      for (const { child } of servers) child.kill()
      await Promise.all(ended)
    }
    lines.push([count, conversations * 4, (perSecond.at(-1) ?? 0).toFixed(1), over(perSecond)])
  }
  return {
    what: 'turns per second, two servers on one PostgreSQL / one',
    value: ratioOf(perSecond),
    bound: 1,
    atLeast: true,
    excuse:
      'the second server has no separate core on a machine with two, and a conversation that moves to the other server is read from the database again',
  }
}

async function served(db: string): Promise<{ child: ChildProcess; url: string }> {
  const args = [join(root, 'bin', 'synapse.js'), 'serve', '--db', db, '--port', '0', '--no-open', '--offline']
  const env = { PATH: process.env['PATH'] ?? '', HOME: root }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] })
  const [printed] = (await once(child.stdout, 'data')) as [Buffer]
  return { child, url: printed.toString().trim() }
}

async function created(url: string): Promise<string> {
  const { id } = (await posted(`${url}/api/conversations`, {})) as { id: string }
  return id
}

async function turnOf(url: string, id: string): Promise<void> {
  const { run } = (await posted(`${url}/api/conversations/${id}/messages`, { text: 'Hello.' })) as {
    run: { id: string }
  }
  const events = await (await fetch(`${url}/api/runs/${run.id}/events`)).text()
  if (!events.includes('"done"')) throw new Error(events.slice(-500))
}

async function posted(url: string, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(await response.text())
  return response.json()
}

function ratioOf(values: readonly number[]): number {
  return (values.at(-1) ?? Number.NaN) / (values[0] ?? Number.NaN)
}

function over(values: readonly number[]): string {
  return ratioOf(values).toFixed(2)
}

function shown(ms: number | undefined): string {
  return (ms ?? Number.NaN).toFixed(2)
}
