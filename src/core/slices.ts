// Long work in slices, so that the event loop continues between two of them.

import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'

/** About as long as anything else may have to wait. */
const sliceMs = 8
const firstSize = 128
const mostSize = 4096

/**
 * Calls `work` with a position and the most items to handle, until it returns undefined in place of the next position.
 * `pauseMs`: a pause between two slices, for others that wait for something that a slice locks.
 */
export async function inSlices<P>(
  start: P,
  work: (from: P, most: number) => P | undefined | Promise<P | undefined>,
  pauseMs = 0,
): Promise<void> {
  let size = firstSize
  for (let at: P | undefined = start; ;) {
    const began = performance.now()
    at = await work(at, size)
    if (at === undefined) return
    const took = Math.max(performance.now() - began, sliceMs / 4)
    size = Math.max(1, Math.min(mostSize, Math.round((size * sliceMs) / took)))
    await (pauseMs > 0 ? wait(pauseMs) : nextTurn())
  }
}

/** Takes all steps of a generator. */
export async function takeInSlices(steps: Iterator<undefined, void, void>): Promise<void> {
  for (let began = performance.now(); steps.next().done !== true;) {
    if (performance.now() - began < sliceMs) continue
    await nextTurn()
    began = performance.now()
  }
}

/** Characters of a text that are handled at once, in a few milliseconds. */
export const textSlice = 256 * 1024

/** Calls `work` with each slice of a text. None ends between the halves of a surrogate pair. */
export async function inTextSlices(text: string, work: (slice: string) => void): Promise<void> {
  for (let from = 0; from < text.length;) {
    let to = Math.min(text.length, from + textSlice)
    if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to--
    work(text.slice(from, to))
    from = to
    if (text.length > textSlice) await nextTurn()
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00
}
