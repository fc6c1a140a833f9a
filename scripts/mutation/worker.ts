// The process that runs tests, warm: it loads a test file once, and runs single tests of it with the change that
// scripts/mutate.ts asks for.

import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { mutation } from './hook.ts'
import { close, collect, type Collected } from './node-test.ts'
import type { Answer, Request } from './tests.ts'

mutation.isWorker = true
const standIn = new URL('node-test.ts', import.meta.url).href
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'node:test' ? { url: standIn, shortCircuit: true } : next(specifier, context),
})

const files = new Map<string, Promise<Collected[]>>()
let fail: (error: unknown) => void = () => {}
process.on('uncaughtException', (error) => fail(error))
process.on('unhandledRejection', (error) => fail(error))

process.on('message', (request: Request | 'close') => {
  void (request === 'close' ? close().finally(() => process.exit()) : answer(request))
})

async function answer({ file, index, mutant }: Request): Promise<void> {
  let reply: Answer
  try {
    if (index === undefined) mutation.reached.clear()
    const tests = await load(file)
    reply =
      index === undefined
        ? { passed: true, names: tests.map(({ name }) => name), reached: [...mutation.reached] }
        : await run(tests[index], mutant)
  } catch (error) {
    reply = { passed: false, error: String(error) }
  }
  process.send?.(reply)
}

function load(file: string): Promise<Collected[]> {
  const loaded = files.get(file) ?? collect(() => import(pathToFileURL(file).href))
  files.set(file, loaded)
  return loaded
}

async function run(test: Collected | undefined, mutant: number): Promise<Answer> {
  const before = mutation.active
  mutation.active = mutant
  process.env['MUTANT'] = String(mutant)
  mutation.reached.clear()
  const began = performance.now()
  const cpuBefore = process.cpuUsage()
  let error: unknown
  try {
    await Promise.race([test?.run(), new Promise((_, reject) => (fail = reject))])
    // What the test has left behind may fail now.
    await new Promise(setImmediate)
  } catch (thrown) {
    error = thrown
  } finally {
    mutation.active = before
    process.env['MUTANT'] = String(before)
  }
  const ms = performance.now() - began
  const { user, system } = process.cpuUsage(cpuBefore)
  const cpuMs = (user + system) / 1000
  return { passed: error === undefined, error: String(error), ms, cpuMs, reached: [...mutation.reached] }
}
