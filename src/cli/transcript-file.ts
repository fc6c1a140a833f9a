// A conversation from a file (or from a pipe, as `-`), for the commands that work on other people's transcripts.

import { parseModelRef } from '../providers/model-ref.ts'
import { readTranscript } from '../transcripts/index.ts'
import { contentOf } from './text-file.ts'

export function readTranscriptFile(file: string, format: string | undefined): ReturnType<typeof readTranscript> {
  return readTranscript(contentOf(file), format === undefined ? {} : { format })
}

/** Whom a transcript is for, as `prepare` takes it: `provider[/model]`. */
export function targetOf(
  text: string,
  protocol: string | undefined,
): { provider: string; model?: string; protocol?: string } {
  return { ...parseModelRef(text), ...(protocol !== undefined && { protocol }) }
}
