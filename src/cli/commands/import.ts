// `synapse import`: conversations from files. Every file is read to its end and checked before anything is written, and
// each conversation is written in one transaction: nothing comes in by halves.

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
import { exitCode, parse, type Command } from '../command.ts'
import { openLocalStore, storeOptions, type LocalStore } from '../local-store.ts'
import { print, printError } from '../print.ts'
import { progressOn, type Progress } from '../progress.ts'
import { neutral } from '../terminal.ts'
import { contentOf } from '../text-file.ts'
import { noteLine } from '../note-line.ts'

export const importing: Command = {
  usage: `synapse import FILE... [--from FORMAT] [--copy] [--label LABEL] [--db FILE]

Imports conversations: an archive written by "synapse export" is restored exactly, with all branches; any other format
becomes a new conversation. The format is detected from the file; --from sets it. FILE may be - to read standard input.
Nothing is written unless the whole file can be read. A truncated file is imported up to the cut, with a note and exit
code 1. Anything that names an agent, code or an address is left out with a note, and unanswered tool calls are never
run. A conversation that already exists is refused with exit code 2 while the others are imported; --copy imports it
again under new ids.
Formats: archive, ${formatIds.join(', ')}.`,

  async run(argv) {
    const { values, positionals } = parse(argv, Infinity, {
      ...storeOptions,
      from: { type: 'string' },
      copy: { type: 'boolean' },
      label: { type: 'string', multiple: true },
    })
    if (positionals.length === 0) throw badInput('Name the file to import: synapse import FILE.')
    const piped = positionals.includes('-') ? await keepPiped() : undefined
    const files = positionals.map((file) => (file === '-' && piped ? piped : { path: file, name: file }))
    const progress = progressOn()
    try {
      for (const file of files) for await (const read of readFile(file, values.from, progress, 'Checking')) void read
      const local = await openLocalStore(values)
      try {
        const importOptions = { copy: values.copy === true, labels: values.label ?? [] }
        let code: number = exitCode.ok
        for (const file of files) {
          for await (const read of readFile(file, values.from, progress, 'Importing')) {
            if (!(await take(local, read, importOptions))) code = exitCode.badInput
            else if (code === exitCode.ok && read.notes.some(({ why }) => why.includes('cut off')))
              code = exitCode.failed
          }
        }
        return code
      } finally {
        await local.close()
      }
    } finally {
      progress.done()
      if (piped) rmSync(dirname(piped.path), { recursive: true, force: true })
    }
  },
}

/** A file and what a person calls it. */
interface Source {
  path: string
  name: string
}

/** What is piped in is read twice, so it has to lie somewhere. */
async function keepPiped(): Promise<Source> {
  const path = join(mkdtempSync(join(tmpdir(), 'synapse-import-')), 'piped')
  await pipeline(process.stdin, createWriteStream(path, { mode: 0o600 }))
  return { path, name: 'what was piped in' }
}

async function* readFile(
  { path, name }: Source,
  format: string | undefined,
  progress: Progress,
  what: string,
): AsyncGenerator<ReadArchive> {
  if (format !== undefined && format !== 'archive' && !formatIds.includes(format)) {
    throw badInput(`There is no format "${format}". The formats are archive, ${formatIds.join(', ')}.`)
  }
  try {
    if (format === 'archive' || (format === undefined && (await opensArchive(path)))) {
      yield* readArchives(watched(path, (percent) => progress.tell(`${what} ${name}: ${percent} %`)))
    } else yield* readForeign(contentAsJson(path), format, new Date().toISOString())
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

async function* watched(path: string, progress: (percent: number) => void) {
  const size = sizeOf(path)
  for await (const line of linesOfFile(path)) {
    progress(Math.floor((line.upTo / size) * 100))
    yield line
  }
}

function sizeOf(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) throw badInput(`There is no file ${path}.`)
  if (found.isDirectory()) throw badInput(`${path} is a folder, not a file.`)
  return found.size
}

/** A file that is one JSON value as that; lines of JSON as text, which the formats take too. */
function contentAsJson(path: string): Json {
  if (sizeOf(path) > mostForeign) throw badInput(`${path} is larger than ${mostForeign / 1024 / 1024} MB.`)
  const text = contentOf(path)
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

const mostForeign = 400 * 1024 * 1024

/** False: a conversation with this id is here already. The others of the file are taken all the same. */
async function take(
  { store, owner }: LocalStore,
  read: ReadArchive,
  { copy, labels }: { copy: boolean; labels: readonly string[] },
): Promise<boolean> {
  const { archive: given, notes } = asImported(copy ? { ...read, archive: withNewIds(read.archive) } : read)
  const { conversation } = read.archive
  const archive = { ...given, conversation: { ...given.conversation, labels: [...conversation.labels, ...labels] } }
  try {
    const { id, title, entries } = await store.importConversation(owner, archive)
    print(`${id}  ${neutral(title ?? '(no title)')}  ${entries} entries\n`)
  } catch (error) {
    if (!(error instanceof SynapseError) || error.failure.code !== 'id-taken') throw error
    printError(
      `synapse: Conversation ${neutral(conversation.id)} is here already. With --copy it is taken once more, under new ids.\n`,
    )
    return false
  }
  for (const note of notes) printError(`${neutral(noteLine(note satisfies Note))}\n`)
  return true
}
