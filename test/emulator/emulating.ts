// An emulator for one test, gone when the test is over.

import type { TestContext } from 'node:test'
import { serveEmulator, type ServedEmulator, type ServeOptions } from '../../src/testing.ts'

export async function served(t: TestContext, options: ServeOptions = {}): Promise<ServedEmulator> {
  const emulator = await serveEmulator(options)
  t.after(() => emulator.close())
  return emulator
}

/** A clock that stands still until it is moved. */
export function clock(): { now: () => number; pass(ms: number): void } {
  let time = Date.UTC(2026, 10, 15)
  return {
    now: () => time,
    pass(ms) {
      time += ms
    },
  }
}

/** Reads to the end, for nothing but the end. */
export async function drained(stream: AsyncIterable<unknown>): Promise<number> {
  let count = 0
  for await (const each of stream) if (each !== undefined) count++
  return count
}
