// Runs the command as a user would: its own home, no keys. A host process runs the commands of a file one after
// another, because the start of a process is most of what a command costs; `process: true` starts one for the command,
// for what only a process of its own can prove.

import assert from 'node:assert/strict'
import { fork, spawn, type ChildProcess } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { TestContext } from 'node:test'
import { compileCache } from '../compile-cache.ts'
import { bin } from '../installed.ts'
import type { Order, Ran, Report } from './host.ts'

export interface CommandOptions {
  input?: string
  env?: Record<string, string>
  /** In a process that only this command has: it reads file descriptor 0, or a module that has changed. */
  process?: boolean
  /** On something that says it is a terminal of this width. */
  columns?: number
}

export interface Home {
  folder: string
  env: Record<string, string>
  synapse: (args: string[], options?: CommandOptions) => Promise<Ran>
  /** Trusts what the folder holds now, and lets it read these variables. */
  trust: (...variables: string[]) => Promise<void>
}

/** Without folders that cannot be entered: with one of them the system says of any missing program that it is forbidden. */
const reachablePath = (process.env['PATH'] ?? '').split(delimiter).filter(isReachable).join(delimiter)

function isReachable(folder: string): boolean {
  try {
    accessSync(folder, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** With a program, every command is a process that runs it. */
export function newHome(t: TestContext, program?: string): Home {
  const folder = mkdtempSync(join(tmpdir(), 'synapse-cli-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const base = {
    PATH: reachablePath,
    NODE_COMPILE_CACHE: compileCache,
    HOME: folder,
    XDG_DATA_HOME: folder,
  }
  const home: Home = {
    folder,
    env: base,
    async trust(...variables) {
      const { code, err } = await home.synapse(['trust', ...variables.flatMap((name) => ['--allow', name])])
      assert.equal(code, 0, err)
    },
    synapse(args, { input = '', env = {}, process: own = false, columns } = {}) {
      const order = { args, cwd: folder, env: { ...base, ...env }, input, ...(columns !== undefined && { columns }) }
      return own || program !== undefined ? runInProcess(program ?? bin, order) : runInHost(order)
    },
  }
  return home
}

async function runInProcess(program: string, { args, env, cwd, input }: Order): Promise<Ran> {
  const child = spawn(process.execPath, [program, ...args], { env, cwd })
  const ran: Ran = { code: null, out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (ran.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (ran.err += text))
  // A command that ends before it has read its input is not an error of the test.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ ...ran, code }))
  })
}

const idle: ChildProcess[] = []

async function runInHost(order: Order): Promise<Ran> {
  const host = idle.pop() ?? fork(join(import.meta.dirname, 'host.ts'), { execArgv: [], cwd: import.meta.dirname })
  host.ref()
  host.channel?.ref()
  host.send(order)
  const { last, ...ran } = await new Promise<Report>((resolve, reject) => {
    const ended = (code: number | null, signal: string | null) =>
      reject(new Error(`The host of the commands ended with ${code ?? signal} in: synapse ${order.args.join(' ')}`))
    host.once('exit', ended)
    host.once('message', (message) => {
      host.off('exit', ended)
      resolve(message as Report)
    })
  })
  // An idle one does not keep the file from ending, and ends with it.
  host.unref()
  host.channel?.unref()
  if (!last) idle.push(host)
  return ran
}
