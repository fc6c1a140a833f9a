// `synapse import`: conversations from files. Every file is read completely and checked before anything is written, and
// each conversation is written in one transaction: nothing is imported in part.

import { createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Note } from '../../core/context.ts'
import { badInput, SynapseError } from '../../core/error.ts'
import type { Json } from '../../core/json.ts'
import { formatIds } from '../../transcripts/index.ts'
import { isArchive, readArchives, type ReadArchive } from '../../transfer/archive-read.ts'
import { readForeign } from '../../transfer/foreign.ts'
import { linesOfFile } from '../../transfer/lines.ts'
import { asImported } from '../../transfer/as-imported.ts'
import { withNewIds } from '../../transfer/new-ids.ts'
import { type Command, exitCode, parse } from '../command.ts'
import { withLocalStore, storeOptions, type LocalStore } from '../local-store.ts'
import { noteLine, print, printError, type Progress, progressOn } from '../print.ts'
import { count } from '../format-number.ts'
import { neutral } from '../terminal.ts'
import { contentOf, mostOfTranscript } from '../text-file.ts'

/** This many lines are listed; more are counted. */
const mostListed = 20

export const importing: Command = {
  usage: `synapse import FILE... [--from FORMAT] [--copy] [--label LABEL] [--verbose] [--db FILE]

Imports conversations: an archive written by "synapse export" is restored exactly, with all branches; any other format
becomes a new conversation. The format is detected from the file; --from sets it. FILE may be - to read standard input.
Nothing is written unless the whole file can be read. A truncated file is imported up to the cut, with a note and exit
code 1. Anything that names an agent, code or an address is left out with a note, and unanswered tool calls are never
run. A conversation that already exists is refused with exit code 2 while the others are imported; --copy imports it
again under new ids. On a terminal, more than ${mostListed} conversations are listed with --verbose only.
Formats: archive, ${formatIds.join(', ')}.`,

  async run(argv) {
    const { values, positionals } = parse(argv, Infinity, {
      ...storeOptions,
      from: { type: 'string' },
      copy: { type: 'boolean' },
      label: { type: 'string', multiple: true },
      verbose: { type: 'boolean' },
    })
    if (positionals.length === 0) throw badInput('Name the file to import: synapse import FILE.')
    const piped = positionals.includes('-') ? await keepPiped() : undefined
    const files = positionals.map((file) => (file === '-' && piped ? piped : { path: file, name: file }))
    const progress = progressOn()
    try {
      for (const file of files) for await (const read of readFile(file, values.from, progress, 'Checking')) void read
      return await withLocalStore(values, async (local) => {
        const importOptions = { copy: values.copy === true, labels: values.label ?? [] }
        const limit = values.verbose === true || !process.stdout.isTTY ? Infinity : mostListed
        let code: number = exitCode.ok
        let imported = 0
        let refused = 0
        for (const file of files) {
          for await (const read of readFile(file, values.from, progress, 'Importing')) {
            const line = await take(local, read, importOptions)
            if (line !== undefined && imported < limit) {
              progress.done()
              print(line)
            }
            if (line === undefined) refused++
            else imported++
            if (line === undefined) code = exitCode.badInput
            else if (code === exitCode.ok && read.notes.some(({ why }) => why.includes('cut off')))
              code = exitCode.failed
          }
        }
        progress.done()
        if (imported + refused > 1) printError(summary(imported, refused, imported > limit))
        return code
      })
    } finally {
      progress.done()
      if (piped) rmSync(dirname(piped.path), { recursive: true, force: true })
    }
  },
}

function summary(imported: number, refused: number, isCut: boolean): string {
  const conversations = (total: number) => `${count(total)} ${total === 1 ? 'conversation' : 'conversations'}`
  const exist = refused === 0 ? '' : ` ${conversations(refused)} existed already.`
  return `${conversations(imported)} imported.${exist}${isCut ? ' --verbose lists all of them.' : ''}\n`
}

/** A file and its name for the user. */
interface Source {
  path: string
  name: string
}

/** Piped input is read twice, so it is written to a temporary file. */
async function keepPiped(): Promise<Source> {
  const path = join(mkdtempSync(join(tmpdir(), 'synapse-import-')), 'piped')
  await pipeline(process.stdin, createWriteStream(path, { mode: 0o600 }))
  return { path, name: 'standard input' }
}

async function* readFile(
  { path, name }: Source,
  format: string | undefined,
  progress: Progress,
  what: string,
): AsyncGenerator<ReadArchive> {
  if (format !== undefined && format !== 'archive' && !formatIds.includes(format)) {
    throw badInput(`Unknown format "${format}". The formats are archive, ${formatIds.join(', ')}.`)
  }
  try {
    if (format === 'archive' || (format === undefined && (await opensArchive(path)))) {
      yield* readArchives(withProgress(path, (percent) => progress.tell(`${what} ${name}: ${percent} %`)))
    } else {
      const tell = (share: number) => progress.tell(`${what} ${name}: ${Math.floor(share * 100)} %`)
      tell(0)
      // Reading it is the check; the second time, the progress is of writing.
      const isCheck = what === 'Checking'
      const all = readForeign(contentAsJson(path), format, new Date().toISOString(), isCheck ? tell : undefined)
      for (const [i, read] of all.entries()) {
        if (!isCheck) tell(i / all.length)
        yield read
      }
    }
  } catch (error) {
    if (isFileError(error)) throw badInput(`${name} cannot be read (${error.code}).`)
    if (!(error instanceof SynapseError) || error.kind !== 'bad-input' || error.message.includes(name)) throw error
    throw badInput(`${name}: ${error.message}`)
  }
}

function isFileError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string'
}

async function opensArchive(path: string): Promise<boolean> {
  sizeOf(path)
  for await (const { text } of linesOfFile(path)) return isArchive(text)
  return false
}

async function* withProgress(path: string, progress: (percent: number) => void) {
  const size = sizeOf(path)
  for await (const line of linesOfFile(path)) {
    progress(Math.floor((line.upTo / size) * 100))
    yield line
  }
}

function sizeOf(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) throw badInput(`There is no file ${path}.`)
  if (stats.isDirectory()) throw badInput(`${path} is a folder, not a file.`)
  return stats.size
}

/** A file with one JSON value as that; JSON Lines as text, which the formats accept too. */
function contentAsJson(path: string): Json {
  const text = contentOf(path, mostOfTranscript)
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

/**
 * The line about it; undefined: a conversation with this id already exists. The others of the file are imported anyway.
 */
async function take(
  { store, owner }: LocalStore,
  read: ReadArchive,
  { copy, labels }: { copy: boolean; labels: readonly string[] },
): Promise<string | undefined> {
  const { archive: imported, notes } = asImported(copy ? { ...read, archive: withNewIds(read.archive) } : read)
  const { conversation } = read.archive
  const archive = {
    ...imported,
    conversation: { ...imported.conversation, labels: [...conversation.labels, ...labels] },
  }
  let line: string
  try {
    const { id, title, entries } = await store.importConversation(owner, archive)
    line = `${id}  ${neutral(title ?? '(no title)')}  ${entries} ${entries === 1 ? 'entry' : 'entries'}\n`
  } catch (error) {
    if (!(error instanceof SynapseError) || error.failure.code !== 'id-taken') throw error
    printError(
      `synapse: Conversation ${neutral(conversation.id)} already exists. --copy imports it again under new ids.\n`,
    )
    return undefined
  }
  for (const note of notes) printError(`${neutral(noteLine(note satisfies Note))}\n`)
  return line
}
