// Importing and exporting conversations. The format is detected from the JSON itself; the more specific formats are
// tried first, because chat messages of several wires look alike.

import type { Note } from '../core/context.ts'
import { badInput } from '../core/error.ts'
import type { Json } from '../core/json.ts'
import type { Message } from '../core/message.ts'
import { chatgptExportFormat } from './chatgpt-export.ts'
import { claudeCodeFormat } from './claude-code.ts'
import { claudeExportFormat } from './claude-export.ts'
import { codexFormat } from './codex.ts'
import { geminiCliFormat } from './gemini-cli.ts'
import { opencodeFormat } from './opencode.ts'
import { piFormat } from './pi.ts'
import { qwenCodeFormat } from './qwen-code.ts'
import { synapseFormat } from './synapse.ts'
import { allTranscripts } from '../wires/all.ts'
import type { Transcript, TranscriptFormat } from '../wires/shared/transcript.ts'

const formats: readonly TranscriptFormat[] = [
  synapseFormat,
  qwenCodeFormat,
  claudeCodeFormat,
  codexFormat,
  piFormat,
  opencodeFormat,
  geminiCliFormat,
  chatgptExportFormat,
  claudeExportFormat,
  ...allTranscripts(),
]

/**
 * The formats that `readTranscript` reads and `writeTranscript` writes.
 *
 * @example
 * console.log(formatIds.includes('claude-code'))
 */
export const formatIds: readonly string[] = formats.map((format) => format.id)

/**
 * Reads a history in any known format: JSON, or the text of a JSON or JSONL file.
 *
 * @example
 * const { messages, system, format } = readTranscript(await readFile('session.jsonl', 'utf8'))
 */
export function readTranscript(json: Json, options: { format?: string } = {}): Transcript & { format: string } {
  const { value, notes } = typeof json === 'string' ? parse(json) : { value: json, notes: [] }
  const format = options.format === undefined ? recognise(value) : formatById(options.format)
  const transcript = format.read(value)
  return { ...transcript, notes: [...notes, ...transcript.notes], format: format.id }
}

/**
 * Writes a history in a format, as its bare list: messages, items, contents or lines.
 *
 * @example
 * const list = writeTranscript(messages, 'anthropic-messages')
 */
export function writeTranscript(messages: Message[], format: string): Json {
  return formatById(format).write(messages)
}

/** The detected format; undefined if unknown. */
export function recogniseFormat(value: Json): string | undefined {
  return formats.find((candidate) => candidate.recognise(value))?.id
}

function recognise(value: Json): TranscriptFormat {
  const format = formats.find((candidate) => candidate.recognise(value))
  if (format) return format
  throw badInput(
    `This is not a conversation in any format that Synapse knows (${formatIds.join(', ')}). Name one if it is.`,
  )
}

function formatById(id: string): TranscriptFormat {
  const format = formats.find((candidate) => candidate.id === id)
  if (!format) throw badInput(`There is no transcript format "${id}". The formats are ${formatIds.join(', ')}.`)
  return format
}

/** A file that ends in the middle of a line, as after a crash, keeps all earlier lines. */
function parse(text: string): { value: Json; notes: Note[] } {
  try {
    return { value: JSON.parse(text) as Json, notes: [] }
  } catch {
    const lines = text.split('\n')
    const values: Json[] = []
    for (const [index, line] of lines.entries()) {
      if (line.trim() === '') continue
      try {
        values.push(JSON.parse(line) as Json)
      } catch {
        const isLast = lines.slice(index + 1).every((later) => later.trim() === '')
        if (isLast && values.length > 0) return { value: values, notes: [torn(index + 1)] }
        throw badInput(values.length > 0 ? `Line ${index + 1} is not JSON.` : 'This is not JSON, and not JSON Lines.')
      }
    }
    return { value: values, notes: [] }
  }
}

function torn(line: number): Note {
  return {
    kind: 'dropped',
    what: `line ${line}`,
    why: 'it ends in the middle: the file was cut off there',
    at: `line ${line}`,
  }
}
