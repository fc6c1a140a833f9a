// `synapse convert`: any transcript to the request of any provider. Useful on its own to whoever has a broken one.

import { prepare } from '../../runtime/prepare.ts'
import type { Note } from '../../core/context.ts'
import { badInput } from '../../core/error.ts'
import { formatIds, writeTranscript } from '../../transcripts/index.ts'
import { exitCode, parse, type Command } from '../command.ts'
import { configOptions, rowsHere } from '../project-config.ts'
import { noteLine } from '../note-line.ts'
import { printError, printJson } from '../print.ts'
import { readPolicy } from '../run-options.ts'
import { neutral } from '../terminal.ts'
import { readTranscriptFile, targetOf } from '../transcript-file.ts'

export const convert: Command = {
  usage: `synapse convert FILE --to PROVIDER[/MODEL] [--from FORMAT] [--protocol WIRE] [--policy NAME] [--json]
                [--config FILE]
synapse convert FILE --to FORMAT [--from FORMAT]

Prints the request body that carries the conversation in FILE to a provider, repaired where the provider would refuse
it; changes and their reasons go to stderr. --json prints one object with url, body, notes and estimate.
Given the name of a transcript format, it writes the conversation in that format instead.
FILE may be - to read standard input. Formats: ${formatIds.join(', ')}.`,

  async run(argv) {
    const { values, positionals } = parse(argv, 1, {
      ...configOptions,
      to: { type: 'string' },
      from: { type: 'string' },
      protocol: { type: 'string' },
      policy: { type: 'string', default: 'full' },
      json: { type: 'boolean' },
    })
    const [file] = positionals
    if (file === undefined) throw badInput('Name the file to convert: synapse convert FILE --to PROVIDER[/MODEL].')
    if (values.to === undefined) throw badInput('Say what to convert it to: --to PROVIDER[/MODEL], or --to FORMAT.')
    const transcript = readTranscriptFile(file, values.from)
    if (formatIds.includes(values.to)) {
      printJson(writeTranscript(transcript.messages, values.to), 2)
      tell(transcript.notes)
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
      tell(notes)
    }
    return exitCode.ok
  },
}

function tell(notes: readonly Note[]): void {
  for (const note of notes) printError(`${neutral(noteLine(note))}\n`)
}
