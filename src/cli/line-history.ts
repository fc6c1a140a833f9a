// The input history, in a separate file next to the conversations, readable for its owner only.

import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

const most = 1000

export interface LineHistory {
  /** Newest first, as readline expects. */
  lines: string[]
  add(line: string): void
}

/** If the file cannot be read or written, only the history is lost, not the chat. */
export function openLineHistory(file: string): LineHistory {
  const known = read(file)
  if (known.length > 2 * most) quietly(() => writeFileSync(file, known.slice(-most).join('\n') + '\n', { mode: 0o600 }))
  return {
    lines: known.slice(-most).toReversed(),
    add(line) {
      if (line.trim() === '') return
      quietly(() => {
        mkdirSync(dirname(file), { recursive: true })
        appendFileSync(file, `${line}\n`, { mode: 0o600 })
      })
    },
  }
}

function read(file: string): string[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
  } catch {
    return []
  }
}

function quietly(write: () => void): void {
  try {
    write()
  } catch {
    // a disk that is full or read-only
  }
}
