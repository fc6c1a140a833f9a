// The files of an agent's session folder. Names are matched one level at a time, and links are not followed: what is
// read or written stays inside of the folder.

import { closeSync, openSync, readdirSync, readSync, realpathSync, statSync, type Dirent } from 'node:fs'
import { join, sep } from 'node:path'

export interface FoundFile {
  path: string
  size: number
  changedMs: number
}

/** `names`: what each level below `folder` is called; `*` represents anything. */
export function filesIn(folder: string, names: readonly string[], first?: string): FoundFile[] {
  let folders = [folder]
  for (const [level, name] of names.slice(0, -1).entries()) {
    const wanted = level === 0 && first !== undefined ? first : name
    folders = folders.flatMap((parent) =>
      entriesOf(parent).flatMap((entry) =>
        entry.isDirectory() && fits(entry.name, wanted) ? [join(parent, entry.name)] : [],
      ),
    )
  }
  const last = names.at(-1) ?? '*'
  return folders.flatMap((parent) =>
    entriesOf(parent).flatMap((entry) => {
      if (!entry.isFile() || !fits(entry.name, last)) return []
      const path = join(parent, entry.name)
      const found = statSync(path, { throwIfNoEntry: false })
      return found ? [{ path, size: found.size, changedMs: found.mtimeMs }] : []
    }),
  )
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    // A folder that is not there, or that may not be read, holds nothing for us.
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

/** The beginning and the end of a file; of a small file all of it is the beginning. */
export function ends(file: FoundFile, head: number, tail: number): { head: string; tail: string; whole: boolean } {
  const fd = openSync(file.path, 'r')
  try {
    const whole = file.size <= head + tail
    return {
      head: piece(fd, 0, whole ? file.size : head),
      tail: whole ? '' : piece(fd, file.size - tail, tail),
      whole,
    }
  } finally {
    closeSync(fd)
  }
}

function piece(fd: number, from: number, length: number): string {
  const buffer = Buffer.allocUnsafe(length)
  return buffer.toString('utf8', 0, readSync(fd, buffer, 0, length, from))
}
