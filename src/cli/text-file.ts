// The text of a file, or of a pipe (as `-`), or one sentence that says why not.

import { readFileSync } from 'node:fs'
import { badInput } from '../core/error.ts'

export function contentOf(file: string): string {
  try {
    // Some editors write a byte order mark first, which is not part of the text.
    return readFileSync(file === '-' ? 0 : file, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    if (code === 'ENOENT') throw badInput(`There is no file ${file}.`)
    if (code === 'EISDIR') throw badInput(`${file} is a folder, not a file.`)
    throw badInput(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}.`)
  }
}
