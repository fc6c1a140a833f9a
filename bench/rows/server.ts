// What other requests of a server feel while one of them reads a long conversation.

import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Check, Row } from '../row.ts'

const excuse = 'with more to do than the machine has cores, it is about what the first line says of no request at all'

const turnExcuse =
  'its history is read and planned in slices of about 10 ms of processor time; on a busy machine each takes longer'

const editExcuse =
  'another branch is planned from its beginning: read, counted and folded in slices. What holds the thread longest are 0.06 s of processor time, measured on a busy machine: the request for a summary is made, and the emulator, which in this row is in the same process, answers it (0.41 s before the texts of its folds and the request for a summary were made in slices)'

const resultExcuse =
  'of a result 16 MiB are stored by default, as one message. It is counted, cut, written as JSON and checked in slices, and it is indexed from what was just written (0.08 s and 0.14 s of processor time at once before). Inserting and committing it takes 0.06 s of processor time, because a statement of SQLite cannot be interrupted: 0.035 s to insert, 0.02 s to write the pages to the log. It was 0.1 s, and two waits for the disk, while the log was copied into the file at the end of the commit; a separate thread does that now. Less needs a format that stores a long message in pieces, which was not tried'

const excuses: Record<string, string> = {
  'a first turn': turnExcuse,
  'an edit of an old message': editExcuse,
  'a result of 200 MB': resultExcuse,
}

const root = join(import.meta.dirname, '..', '..')

export const server: Row = {
  name: 'server',
  about:
    'A conversation of 50,000 messages in `synapse serve` (SQLite): how long `/health` takes for another client while a request about the whole conversation is answered, a transcript of 20,000 messages is imported, a message in its middle is edited, it is forked, copied or deleted, or a tool returns 200 MB.',

  async run({ quick }) {
    const folder = mkdtempSync(join(tmpdir(), 'synapse-bench-'))
    const file = join(folder, 'log.db')
    execFileSync(process.execPath, [join(root, 'bench', 'api', 'turn.ts'), file, quick ? '5000' : '50000'])
    const args = [join(root, 'bin', 'synapse.js'), 'serve', '--db', file, '--port', '0', '--no-open', '--offline']
    const served = await started(args, folder)
    const other = await started([join(root, 'bench', 'api', 'large-result.ts'), join(folder, 'result.db')], folder)
    try {
      const { url } = served
      const { items } = (await (await fetch(`${url}/api/conversations`)).json()) as { items: { id: string }[] }
      const [id = '', otherId = ''] = items.map((item) => item.id)
      const place = `${url}/api/conversations/${id}`
      const page = (await (await fetch(`${place}/entries`)).json()) as { items: { id: string }[] }
      const entryId = page.items[0]?.id ?? ''
      const oldId = await oldMessage(place)
      const headers = { 'content-type': 'application/json' }
      const post = (path: string, value: unknown) =>
        fetch(path, { method: 'POST', headers, body: JSON.stringify(value) })
      const inspected = { requests: [{ model: 'openai/gpt-5.1' }], lines: { limit: 100 } }
      const body = JSON.stringify({ targets: [{ model: 'openai/gpt-5.1' }], messages: { limit: 1000 } })
      const prepare = () => fetch(`${place}/prepare`, { method: 'POST', headers, body })
      const transcript = JSON.stringify({ content: messages(quick ? 2000 : 20_000) })
      const acts: [string, () => Promise<globalThis.Response | undefined>, string?][] = [
        ['nothing', () => wait(1000)],
        ['`prepare`, first', prepare],
        ['`prepare`, again', prepare],
        ['`inspect`', () => post(`${place}/inspect`, inspected)],
        ['`tree`, all pages', () => treeAt(place)],
        ['`export`', () => fetch(`${place}/export`)],
        ['a page around an entry', () => fetch(`${place}/entries?around=${entryId}`)],
        ['an import', () => fetch(`${url}/api/import`, { method: 'POST', headers, body: transcript })],
        ['a first turn', () => turnAt(url, `${place}/messages`, 'Continue.')],
        ['an edit of an old message', () => turnAt(url, `${place}/entries/${oldId}/edit`, 'Something else.')],
        ['a fork', () => post(`${place}/fork`, { entryId: oldId, name: 'other' })],
        ['a copy', () => post(`${url}/api/conversations`, { from: { conversationId: id, entryId } })],
        ['a deletion', () => fetch(`${url}/api/conversations/${otherId}`, { method: 'DELETE' })],
        ['a result of 200 MB', () => newTurnAt(other.url), other.url],
      ]
      const lines: (string | number)[][] = []
      const checks: Check[] = []
      for (const [name, act, at = url] of acts) {
        const { took, size, p50, p99, most } = await during(at, act)
        lines.push([name, Math.round(took), (size / 1e6).toFixed(1), p50.toFixed(1), p99.toFixed(1), most.toFixed(0)])
        const why = excuses[name] ?? excuse
        if (name !== 'nothing')
          checks.push({ what: `/health during ${name}, p99 ms`, value: p99, bound: 100, excuse: why })
      }
      const head = ['during', 'took, ms', 'answer, MB', '`/health` p50, ms', 'p99, ms', 'longest, ms']
      return {
        tables: [{ head, lines }],
        checks,
        remarks: [
          'Wall time, as a client sees it, on a machine that may have other work: the first line is without any request.',
          'A turn is read and planned in slices on the thread of the server, and a copy is written in slices. The others are answered on a separate thread, in pages if they are long; a deletion is a series of short transactions, of which the first one hides the conversation.',
        ],
      }
    } finally {
      for (const { child } of [served, other]) {
        child.kill()
        await once(child, 'exit')
      }
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

async function started(args: readonly string[], home: string): Promise<{ child: ChildProcess; url: string }> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: home }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] })
  const [output] = (await once(child.stdout, 'data')) as [Buffer]
  return { child, url: output.toString().trim() }
}

function messages(count: number): object[] {
  const text = 'The deployment failed twice this morning, and the cache was never warmed up again. '.repeat(8)
  return Array.from({ length: count }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: `${i}: ${text}`,
  }))
}

/** The tree in pages, as the chat page reads it. */
async function treeAt(place: string): Promise<globalThis.Response> {
  const pages: string[] = []
  for (let before: string | null | undefined; before !== null;) {
    const text = await (await fetch(`${place}/tree?limit=10000${before ? `&before=${before}` : ''}`)).text()
    pages.push(text)
    before = (JSON.parse(text) as { before: string | null }).before
  }
  return new globalThis.Response(pages.join(''))
}

/** A message of the user, far from both ends. */
async function oldMessage(place: string): Promise<string> {
  const tree = (await (await fetch(`${place}/tree`)).json()) as { entries: { id: string; role: string }[] }
  return tree.entries.slice(tree.entries.length / 2).find((entry) => entry.role === 'user')?.id ?? ''
}

/** A message, until its run has ended. */
async function turnAt(url: string, path: string, text: string): Promise<globalThis.Response> {
  const headers = { 'content-type': 'application/json' }
  const sent = await fetch(path, { method: 'POST', headers, body: JSON.stringify({ text }) })
  const { run } = (await sent.json()) as { run: { id: string } }
  return fetch(`${url}/api/runs/${run.id}/events`)
}

async function newTurnAt(url: string): Promise<globalThis.Response> {
  const headers = { 'content-type': 'application/json' }
  const made = await fetch(`${url}/api/conversations`, { method: 'POST', headers, body: '{}' })
  const { id } = (await made.json()) as { id: string }
  return turnAt(url, `${url}/api/conversations/${id}/messages`, 'What time is it?')
}

interface Felt {
  took: number
  size: number
  p50: number
  p99: number
  most: number
}

async function during(url: string, act: () => Promise<globalThis.Response | undefined>): Promise<Felt> {
  const waits: number[] = []
  const over = new AbortController()
  const asking = (async () => {
    while (!over.signal.aborted) {
      const start = performance.now()
      await (await fetch(`${url}/health`)).text()
      waits.push(performance.now() - start)
      await wait(2)
    }
  })()
  const start = performance.now()
  const response = await act()
  const size = (await response?.arrayBuffer())?.byteLength ?? 0
  const took = performance.now() - start
  over.abort()
  await asking
  waits.sort((a, b) => a - b)
  const at = (share: number) => waits[Math.floor((waits.length - 1) * share)] ?? 0
  return { took, size, p50: at(0.5), p99: at(0.99), most: at(1) }
}
