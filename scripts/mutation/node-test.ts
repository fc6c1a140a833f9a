// In place of `node:test`: collects the tests of a file, so that each can be run alone and again.

import type { mock as nodeMock } from 'node:test'

type Body = (t: Context) => unknown
type Hook = () => unknown

interface Options {
  skip?: boolean | string
}

export interface Collected {
  name: string
  run: () => Promise<void>
}

interface Context {
  name: string
  mock: typeof nodeMock
  signal: AbortSignal
  diagnostic: () => void
  skip: () => void
  after: (hook: Hook) => void
  test: typeof test
}

interface Suite {
  before: Hook[]
  after: Hook[]
  /** Of the suites around it, and its own: run once, before its first test. */
  ready: () => Promise<void>
}

let collected: Collected[] = []
let suite = newSuite()
const suites = [suite]

/** The tests that a module registers while it is loaded. */
export async function collect(load: () => Promise<unknown>): Promise<Collected[]> {
  collected = []
  suite = newSuite()
  await load()
  return collected
}

/** The `after` hooks of all suites. */
export async function close(): Promise<void> {
  for (const hook of suites.toReversed().flatMap((one) => one.after)) await hook()
}

export default function test(name: string, given: Options | Body, last?: Body): Promise<void> {
  const [options, body] = typeof given === 'function' ? [{}, given] : [given, last]
  if (options.skip !== undefined && options.skip !== false && options.skip !== '') return Promise.resolve()
  const { ready } = suite
  collected.push({
    name,
    async run() {
      await ready()
      await runBody(name, body)
    },
  })
  return Promise.resolve()
}

export { test }
export const it: typeof test = test

export function describe(_name: string, given: Options | Hook, last?: Hook): void {
  const [options, body] = typeof given === 'function' ? [{}, given] : [given, last]
  if (options.skip !== undefined && options.skip !== false && options.skip !== '') return
  const outer = suite
  suite = newSuite(outer)
  suites.push(suite)
  body?.()
  suite = outer
}

export function before(hook: Hook): void {
  suite.before.push(hook)
}

export function after(hook: Hook): void {
  suite.after.push(hook)
}

export const mock: typeof nodeMock = process.getBuiltinModule('node:test').mock

function newSuite(outer?: Suite): Suite {
  let done: Promise<void> | undefined
  const made: Suite = {
    before: [],
    after: [],
    ready: () =>
      (done ??= (async () => {
        await outer?.ready()
        for (const hook of made.before) await hook()
      })()),
  }
  return made
}

async function runBody(name: string, body: Body | undefined): Promise<void> {
  const afterwards: Hook[] = []
  const tracker = new (mock.constructor as new () => typeof mock)()
  const ended = new AbortController()
  const inner = async (innerName: string, given: Options | Body, last?: Body): Promise<void> => {
    await runBody(innerName, typeof given === 'function' ? given : last)
  }
  try {
    await body?.({
      name,
      mock: tracker,
      signal: ended.signal,
      diagnostic: () => {},
      skip: () => {},
      after: (hook) => void afterwards.push(hook),
      test: inner,
    })
  } finally {
    tracker.reset()
    ended.abort()
    for (const hook of afterwards) await hook()
  }
}
