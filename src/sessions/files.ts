// The files of an agent's session folder. Names are matched one level at a time, and links are not followed: reads and
// writes stay inside of the folder.

import { closeSync, openSync, readdirSync, readSync, realpathSync, statSync, type Dirent } from 'node:fs'
import { join, sep } from 'node:path'

export interface FoundFile {
  path: string
  size: number
  changedMs: number
}

/** `names`: the name of each level below `folder`; `*` matches anything. */
export function filesIn(folder: string, names: readonly string[], first?: string): FoundFile[] {
  let folders = [folder]
  for (const [level, name] of names.slice(0, -1).entries()) {
    const pattern = level === 0 && first !== undefined ? first : name
    folders = folders.flatMap((parent) =>
      entriesOf(parent).flatMap((entry) =>
        entry.isDirectory() && fits(entry.name, pattern) ? [join(parent, entry.name)] : [],
      ),
    )
  }
  const last = names.at(-1) ?? '*'
  return folders.flatMap((parent) =>
    entriesOf(parent).flatMap((entry) => {
      if (!entry.isFile() || !fits(entry.name, last)) return []
      const path = join(parent, entry.name)
      const stats = statSync(path, { throwIfNoEntry: false })
      return stats ? [{ path, size: stats.size, changedMs: stats.mtimeMs }] : []
    }),
  )
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    // A folder that does not exist, or cannot be read, counts as empty.
    return []
  }
}

function fits(name: string, pattern: string): boolean {
  const star = pattern.indexOf('*')
  if (star < 0) return name === pattern
  const [start, end] = [pattern.slice(0, star), pattern.slice(star + 1)]
  return name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end)
}

/** Whether a path that exists is inside of a folder, with all links resolved. */
export function isInside(path: string, folder: string): boolean {
  return `${realpathSync(path)}${sep}`.startsWith(`${realpathSync(folder)}${sep}`)
}

/** The beginning and the end of a file; a small file is all beginning. */
export function ends(file: FoundFile, head: number, tail: number): { head: string; tail: string; whole: boolean } {
  const fd = openSync(file.path, 'r')
  try {
    const isWhole = file.size <= head + tail
    return {
      head: piece(fd, 0, isWhole ? file.size : head),
      tail: isWhole ? '' : piece(fd, file.size - tail, tail),
      whole: isWhole,
    }
  } finally {
    closeSync(fd)
  }
}

/** The complete lines in the first bytes of a file, each only when requested. */
export function* firstLines(path: string, bytes: number): Generator<Buffer> {
  const fd = openSync(path, 'r')
  try {
    const buffer = Buffer.allocUnsafe(bytes)
    const read = buffer.subarray(0, readSync(fd, buffer, 0, bytes, 0))
    for (let from = 0, end = read.indexOf(10); end >= 0; from = end + 1, end = read.indexOf(10, from)) {
      yield read.subarray(from, end)
    }
  } finally {
    closeSync(fd)
  }
}

function piece(fd: number, from: number, length: number): string {
  const buffer = Buffer.allocUnsafe(length)
  return buffer.toString('utf8', 0, readSync(fd, buffer, 0, length, from))
}
