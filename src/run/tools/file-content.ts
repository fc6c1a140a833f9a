// The current content of a file, to be compared with what a call would write.

import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

const mostBytes = 1024 * 1024

/** Undefined if it does not exist, is not text, or is too long to be compared. */
export function fileContent(path: string): string | undefined {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const about = fstatSync(file)
      if (!about.isFile() || about.size > mostBytes) return undefined
      const content = readFileSync(file)
      return content.includes(0) ? undefined : content.toString('utf8')
    } finally {
      closeSync(file)
    }
  } catch {
    return undefined
  }
}
