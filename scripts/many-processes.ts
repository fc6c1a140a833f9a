// The throughput of several Synapse processes on one store: each runs conversations with a tool call, one at a time,
// with the emulator in place of a model, so that only Synapse and the database are measured.
//
// node scripts/many-processes.ts PLACE [PROCESSES=4] [SECONDS=10]
//
// PLACE is a file or postgres://user@host/database.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Tool } from '../src/core/tool.ts'
import { openSynapse } from '../src/runtime/open.ts'

/** Lease, title or not, message, two exchanges with an open and an end each, a tool with start and end, lease. */
const commitsPerRun = 10

const [place = '', processes = '4', seconds = '10', role = 'all'] = process.argv.slice(2)
if (place === '') {
  process.stderr.write('Name a store: a file, or postgres://user@host/database.\n')
  process.exit(2)
}
await (role === 'one' ? work() : measure())

async function measure(): Promise<void> {
  const counts = await Promise.all(Array.from({ length: Number(processes) }, oneProcess))
  const runs = counts.reduce((sum, { runs: own }) => sum + own, 0)
  const waits = counts.flatMap(({ waits: own }) => own).sort((a, b) => a - b)
  const at = (share: number): string => (waits[Math.floor(waits.length * share)] ?? 0).toFixed(0)
  process.stdout.write(
    `${processes} processes: ${(runs / Number(seconds)).toFixed(1)} runs/s ` +
      `(${((runs * commitsPerRun) / Number(seconds)).toFixed(0)} commits/s), a run takes ${at(0.5)} ms, at worst ${at(0.99)} ms\n`,
  )
}

interface Counted {
  runs: number
  waits: number[]
}

function oneProcess(): Promise<Counted> {
  const child = spawn(process.execPath, [import.meta.filename, place, '1', seconds, 'one'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    createInterface({ input: child.stdout }).on('line', (line) => resolve(JSON.parse(line) as Counted))
  })
}

async function work(): Promise<void> {
  const clock: Tool = {
    name: 'clock',
    description: 'Tells the current time.',
    input: { type: 'object', properties: {} },
    run: () => '12:00',
  }
  const synapse = await openSynapse({ store: place, offline: true, env: {} })
  const settings = { model: 'openai/gpt-5.6', tools: [clock] }
  await (await synapse.start(settings)).send('What time is it?').ended
  const counted: Counted = { runs: 0, waits: [] }
  const until = performance.now() + Number(seconds) * 1000
  while (performance.now() < until) {
    const chat = await synapse.start(settings)
    for (let turn = 0; turn < 5 && performance.now() < until; turn++) {
      const before = performance.now()
      const { outcome, failure } = await chat.send('What time is it?').ended
      if (outcome !== 'done') throw new Error(failure?.message)
      counted.waits.push(performance.now() - before)
      counted.runs++
    }
  }
  process.stdout.write(`${JSON.stringify(counted)}\n`)
  await synapse.close()
}
