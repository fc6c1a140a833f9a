// A conversation from a file (or from a pipe, as `-`), for the commands that work on transcripts of other tools.

import { badInput, SynapseError } from '../core/error.ts'
import { parseModelRef } from '../providers/model-ref.ts'
import { readTranscript } from '../transcripts/index.ts'
import { contentOf, mostOfTranscript } from './text-file.ts'

export interface TranscriptFile extends ReturnType<typeof readTranscript> {
  /** The unparsed content of the file. */
  text: string
}

export function readTranscriptFile(file: string, format: string | undefined): TranscriptFile {
  const text = contentOf(file, mostOfTranscript)
  try {
    return { ...readTranscript(text, format === undefined ? {} : { format }), text }
  } catch (error) {
    throw error instanceof SynapseError && file !== '-' ? badInput(`${file}: ${error.message}`) : error
  }
}

/** The target of a transcript, in the form that `prepare` takes: `provider[/model]`. */
export function targetOf(
  text: string,
  protocol: string | undefined,
): { provider: string; model?: string; protocol?: string } {
  return { ...parseModelRef(text), ...(protocol !== undefined && { protocol }) }
}
