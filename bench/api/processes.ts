// Contenders that run as separate processes, asked in turn.

import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { median } from '../measure.ts'

export async function startUpstream(): Promise<{ origin: string; stop(): void }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'upstream.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [port] = (await once(child.stdout, 'data')) as [Buffer]
  return { origin: `http://127.0.0.1:${port.toString().trim()}`, stop: () => child.kill() }
}

export interface Measured {
  name: string
  /** Processor time of the main thread, in milliseconds of one run; undefined where it failed. */
  ms?: number
  loadMs?: number
  rssMb?: number
  why?: string
}

/** Medians of rounds in which each runs once; the first rounds warm up. */
export async function runInTurn(names: readonly string[], url: string, rounds: number): Promise<Measured[]> {
  const children: { name: string; child: ChildProcess; loadMs: number }[] = []
  const results = new Map<string, Measured>(names.map((name) => [name, { name }]))
  try {
    for (const name of names) {
      const child = fork(join(import.meta.dirname, 'child.ts'), [name, url], { execArgv: ['--no-warnings'] })
      const [{ loadMs }] = (await once(child, 'message')) as [{ loadMs: number }]
      children.push({ name, child, loadMs })
    }
    const samples = new Map<string, number[]>()
    for (let round = 0; round < rounds + warmUp; round++) {
      for (const { name, child, loadMs } of children) {
        child.send('run')
        const [result] = (await once(child, 'message')) as [{ ms?: number; rss?: number; failed?: string }]
        if (result.ms === undefined) results.set(name, { name, why: result.failed ?? 'it failed' })
        else if (round >= warmUp) {
          const times = [...(samples.get(name) ?? []), result.ms]
          samples.set(name, times)
          results.set(name, { name, ms: median(times), loadMs, rssMb: Math.round((result.rss ?? 0) / 1e6) })
        }
      }
    }
    return [...results.values()]
  } finally {
    for (const { child } of children) if (child.connected) child.send('end')
  }
}

const warmUp = 3
