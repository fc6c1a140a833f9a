// Runs one command after another in a process that is started once: what a command costs is then its own work, not the
// start of Node and the reading of its modules. Each has its own folder, environment and streams, as a process has; one
// that ends its process ends this one, and the next command gets another.

import { AsyncLocalStorage } from 'node:async_hooks'
import { Readable, Writable } from 'node:stream'
import { main } from '../../src/cli/main.ts'

export interface Order {
  args: string[]
  cwd: string
  env: Record<string, string>
  input: string
  /** The columns of a terminal that stdin, stdout and stderr seem to be. */
  columns?: number
}

export interface Ran {
  code: number | null
  out: string
  err: string
}

export interface Report extends Ran {
  /** The command has ended the process. */
  last: boolean
}

interface Running {
  out: Buffer[]
  err: Buffer[]
  over: boolean
}

const runs = new AsyncLocalStorage<Running>()
const endProcess = process.exit.bind(process)

process.exit = (code) => {
  const run = runs.getStore()
  // The end of the process that a command asks for at its own end.
  if (run?.over) return undefined as never
  process.exitCode = code ?? process.exitCode
  if (run) report(run, endProcess)
  return undefined as never
}

process.on('message', (order: Order) => {
  const run: Running = { out: [], err: [], over: false }
  void runs.run(run, () => obey(order, run))
})
process.on('disconnect', () => endProcess())

async function obey(order: Order, run: Running): Promise<void> {
  const listeners = process.eventNames().map((name) => [name, process.rawListeners(name)] as const)
  process.chdir(order.cwd)
  for (const name of Object.keys(process.env)) if (!(name in order.env)) delete process.env[name]
  Object.assign(process.env, order.env)
  process.exitCode = undefined
  const terminal = order.columns === undefined ? {} : { isTTY: true, columns: order.columns, rows: 24 }
  const streams = {
    stdin: Object.assign(Readable.from(order.input === '' ? [] : [Buffer.from(order.input)]), terminal),
    stdout: Object.assign(collecting(run.out), terminal),
    stderr: Object.assign(collecting(run.err), terminal),
  }
  for (const [name, value] of Object.entries(streams))
    Object.defineProperty(process, name, { value, configurable: true })
  await main(order.args)
  report(run)
  for (const name of process.eventNames()) {
    const before = listeners.find(([one]) => one === name)?.[1] ?? []
    for (const one of process.rawListeners(name)) {
      if (!before.includes(one)) process.off(name, one as () => void)
    }
  }
}

function collecting(pieces: Buffer[]): Writable {
  return new Writable({
    decodeStrings: true,
    write(piece: Buffer, _, done) {
      pieces.push(piece)
      done()
    },
  })
}

function report(run: Running, then?: () => void): void {
  run.over = true
  const text = (pieces: Buffer[]) => Buffer.concat(pieces).toString('utf8')
  const code = Number(process.exitCode ?? 0)
  const ran: Report = { code, out: text(run.out), err: text(run.err), last: then !== undefined }
  process.send?.(ran, () => then?.())
}
