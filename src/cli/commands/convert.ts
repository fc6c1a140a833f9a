// `synapse convert`: any transcript to the request of any provider. Also useful to repair a broken one.

import { once } from 'node:events'
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { prepare } from '../../runtime/prepare.ts'
import type { Note } from '../../core/context.ts'
import { badInput } from '../../core/error.ts'
import { agentIds } from '../../sessions/agents.ts'
import { carriedText, newSession, sameText, targetFormat } from '../../sessions/carry.ts'
import { fileSource, formatOfFile, messagesSource, textSource, type SessionSource } from '../../sessions/source.ts'
import { formatIds, writeTranscript } from '../../transcripts/index.ts'
import { headOfSources } from '../../transcripts/session-file.ts'
import { sessionFormat } from '../../transcripts/session-formats.ts'
import { type Command, exitCode, parse } from '../command.ts'
import { configOptions, rowsHere } from '../project-config.ts'
import { noteLine, printError, printFile, printJson } from '../print.ts'
import { readPolicy } from '../run-options.ts'
import { neutral } from '../terminal.ts'
import { readTranscriptFile, targetOf } from '../transcript-file.ts'

export const convert: Command = {
  usage: `synapse convert FILE --to PROVIDER[/MODEL] [--from FORMAT] [--protocol WIRE] [--policy NAME] [--json]
                [--config FILE]
synapse convert FILE --to FORMAT [--from FORMAT]
synapse convert FILE --to AGENT [--from FORMAT] [--cwd DIR] [--whole]

Prints the request body that carries the conversation in FILE to a provider, repaired where the provider would refuse
it; changes and their reasons go to stderr. --json prints one object with url, body, notes and estimate.
Given the name of a transcript format, it writes the conversation in that format instead. For a coding agent
(${agentIds.join(', ')})
that is the file which "synapse carry" writes: put it where the agent looks for its sessions, and resume it. A session
in the agent's own format is printed unchanged.
FILE may be - to read standard input. Formats: ${formatIds.join(', ')}.`,

  async run(argv) {
    const { values, positionals } = parse(argv, 1, {
      ...configOptions,
      to: { type: 'string' },
      from: { type: 'string' },
      protocol: { type: 'string' },
      policy: { type: 'string', default: 'full' },
      json: { type: 'boolean' },
      cwd: { type: 'string' },
      whole: { type: 'boolean', default: false },
    })
    const [file] = positionals
    if (file === undefined) throw badInput('Name the file to convert: synapse convert FILE --to PROVIDER[/MODEL].')
    if (values.to === undefined) throw badInput('Name the target: --to PROVIDER[/MODEL] or --to FORMAT.')
    if (agentIds.includes(values.to)) {
      printNotes(await printSession(file, { ...values, to: values.to }))
      return exitCode.ok
    }
    const transcript = readTranscriptFile(file, values.from)
    if (formatIds.includes(values.to)) {
      printJson(writeTranscript(transcript.messages, values.to), 2)
      printNotes(transcript.notes)
      return exitCode.ok
    }
    const prepared = prepare({
      ...targetOf(values.to, values.protocol),
      messages: transcript.messages,
      ...(transcript.system && { system: transcript.system }),
      ...(transcript.tools && { tools: transcript.tools }),
      policy: readPolicy(values.policy),
      rows: await rowsHere(values),
    })
    const notes = [...transcript.notes, ...prepared.notes]
    if (values.json) {
      const { url, body, estimate } = prepared
      printJson({ url, body, notes, estimate: { ...estimate } }, 2)
    } else {
      printJson(prepared.body, 2)
      printNotes(notes)
    }
    return exitCode.ok
  },
}

/** The bytes that `carry` writes, piece by piece. */
async function printSession(file: string, options: Wanted): Promise<Note[]> {
  const target = targetFormat(options.to)
  const source = await sourceOf(file, options)
  const isSame = source.format?.id === target.id && options.cwd === undefined && !options.whole
  // The folder of a session may be on another machine.
  const cwd = options.cwd === undefined ? (source.head.cwd ?? process.cwd()) : resolve(options.cwd)
  const session = newSession(source, target, { cwd, now: new Date().toISOString() })
  const text = isSame ? sameText(source) : carriedText(source, target, session)
  for (;;) {
    const next = text.next()
    if (next.done) return next.value.notes
    if (!printFile(next.value)) await once(process.stdout, 'drain')
  }
}

interface Wanted {
  to: string
  from?: string | undefined
  cwd?: string | undefined
  whole: boolean
}

async function sourceOf(file: string, { from, whole }: Wanted): Promise<SessionSource> {
  const isFile = file !== '-' && statSync(file, { throwIfNoEntry: false })?.isFile() === true
  const format = isFile ? (from === undefined ? formatOfFile(file) : sessionFormat(from)) : undefined
  if (format) return fileSource(file, format, { whole })
  const { messages, notes, text, format: read } = readTranscriptFile(file, from)
  const piped = isFile ? undefined : sessionFormat(read)
  if (piped) return textSource(text, piped, { whole })
  const startedAt = isFile ? statSync(file).mtime.toISOString() : undefined
  const source = messagesSource(
    messages.map((message) => ({ message })),
    { startedAt, ...headOfSources(messages) },
  )
  return { ...source, notes }
}

function printNotes(notes: readonly Note[]): void {
  for (const note of notes) printError(`${neutral(noteLine(note))}\n`)
}
