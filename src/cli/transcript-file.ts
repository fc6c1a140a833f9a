// A conversation from a file (or from a pipe, as `-`), for the commands that work on other people's transcripts.

import { readFileSync } from 'node:fs'
import { badInput } from '../core/error.ts'
import { parseModelRef } from '../providers/model-ref.ts'
import { readTranscript } from '../transcripts/index.ts'

export function readTranscriptFile(file: string, format: string | undefined): ReturnType<typeof readTranscript> {
  return readTranscript(contentOf(file), format === undefined ? {} : { format })
}

export function contentOf(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    if (code === 'ENOENT') throw badInput(`There is no file ${file}.`)
    if (code === 'EISDIR') throw badInput(`${file} is a folder, not a file.`)
    throw badInput(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}.`)
  }
}

/** Whom a transcript is for, as `prepare` takes it: `provider[/model]`. */
export function targetOf(
  text: string,
  protocol: string | undefined,
): { provider: string; model?: string; protocol?: string } {
  return { ...parseModelRef(text), ...(protocol !== undefined && { protocol }) }
}
