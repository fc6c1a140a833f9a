// What other requests of a server feel while one of them reads a long conversation.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Check, Row } from '../row.ts'

const excuse = 'with more to do than the machine has cores, it is about what the first line says of no request at all'

const turnExcuse = 'a run reads its history and decides what to send on the thread of the server, each in one go'

const root = join(import.meta.dirname, '..', '..')

export const server: Row = {
  name: 'server',
  about:
    'A conversation of 50,000 messages in `synapse serve` (SQLite): how long `/health` takes for another client while a request about the whole conversation is answered.',

  async run({ quick }) {
    const folder = mkdtempSync(join(tmpdir(), 'synapse-bench-'))
    const file = join(folder, 'log.db')
    execFileSync(process.execPath, [join(root, 'bench', 'api', 'turn.ts'), file, quick ? '5000' : '50000'])
    const child = spawn(
      process.execPath,
      [join(root, 'bin', 'synapse.js'), 'serve', '--db', file, '--port', '0', '--no-open', '--offline'],
      { env: { PATH: process.env['PATH'] ?? '', HOME: folder }, stdio: ['ignore', 'pipe', 'ignore'] },
    )
    try {
      const [output] = (await once(child.stdout, 'data')) as [Buffer]
      const url = output.toString().trim()
      const { items } = (await (await fetch(`${url}/api/conversations`)).json()) as { items: { id: string }[] }
      const place = `${url}/api/conversations/${items[0]?.id ?? ''}`
      const page = (await (await fetch(`${place}/entries`)).json()) as { items: { id: string }[] }
      const entryId = page.items[0]?.id ?? ''
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ targets: [{ model: 'openai/gpt-5.1' }] })
      const prepare = () => fetch(`${place}/prepare`, { method: 'POST', headers, body })
      const acts: [string, () => Promise<globalThis.Response | undefined>][] = [
        ['nothing', () => wait(1000)],
        ['`prepare`, first', prepare],
        ['`prepare`, again', prepare],
        ['`tree`', () => fetch(`${place}/tree`)],
        ['`export`', () => fetch(`${place}/export`)],
        ['a page around an entry', () => fetch(`${place}/entries?around=${entryId}`)],
        ['a first turn', () => turnAt(url, place)],
      ]
      const lines: (string | number)[][] = []
      const checks: Check[] = []
      for (const [name, act] of acts) {
        const { took, size, p50, p99, most } = await during(url, act)
        lines.push([name, Math.round(took), (size / 1e6).toFixed(1), p50.toFixed(1), p99.toFixed(1), most.toFixed(0)])
        const why = name === 'a first turn' ? turnExcuse : excuse
        if (name !== 'nothing')
          checks.push({ what: `/health during ${name}, p99 ms`, value: p99, bound: 100, excuse: why })
      }
      const head = ['during', 'took, ms', 'answer, MB', '`/health` p50, ms', 'p99, ms', 'longest, ms']
      return {
        tables: [{ head, lines }],
        checks,
        remarks: [
          'Wall time, as a client feels it, on a machine that may have other work: the first line says how it was without any.',
          'All but the turn are answered by a thread of their own. Answers are not paged.',
        ],
      }
    } finally {
      child.kill()
      await once(child, 'exit')
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

/** A message to a conversation that this server has not read yet, until its run has ended. */
async function turnAt(url: string, place: string): Promise<globalThis.Response> {
  const headers = { 'content-type': 'application/json' }
  const sent = await fetch(`${place}/messages`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ text: 'Continue.' }),
  })
  const { run } = (await sent.json()) as { run: { id: string } }
  return fetch(`${url}/api/runs/${run.id}/events`)
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
