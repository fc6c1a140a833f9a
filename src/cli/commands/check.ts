// `synapse check`: what a provider would refuse in a transcript or request body, with its error messages, and how
// Synapse would repair it.

import { prepare, refuse } from '../../runtime/prepare.ts'
import { badInput } from '../../core/error.ts'
import { isObject, parseJson, type Json } from '../../core/json.ts'
import { findRow } from '../../providers/find-row.ts'
import { writeTranscript } from '../../transcripts/index.ts'
import { loadService } from '../../wires/list.ts'
import { type Command, exitCode, parse } from '../command.ts'
import { configOptions, rowsHere } from '../project-config.ts'
import { noteLine, print, printJson } from '../print.ts'
import { neutral } from '../terminal.ts'
import { readTranscriptFile, targetOf, type TranscriptFile } from '../transcript-file.ts'

export const check: Command = {
  usage: `synapse check FILE --for PROVIDER[/MODEL] [--from FORMAT] [--protocol WIRE] [--json] [--config FILE]

Reports what the provider would refuse in the conversation or request body in FILE, with the provider's error messages,
and what Synapse would change to make it acceptable. Exit code 0: accepted unchanged; 1: it would be refused.
FILE may be - to read standard input.`,

  async run(argv) {
    const { values, positionals } = parse(argv, 1, {
      ...configOptions,
      for: { type: 'string' },
      from: { type: 'string' },
      protocol: { type: 'string' },
      json: { type: 'boolean' },
    })
    const [file] = positionals
    if (file === undefined) throw badInput('Name the file to check: synapse check FILE --for PROVIDER[/MODEL].')
    if (values.for === undefined) throw badInput('Name the provider: --for PROVIDER[/MODEL].')
    const target = targetOf(values.for, values.protocol)
    const rows = await rowsHere(values)
    const row = findRow(target.provider, rows)
    const protocol = target.protocol ?? row.wires[0].protocol
    const model = target.model ?? row.defaultModel ?? 'a-model'

    const transcript = readTranscriptFile(file, values.from)
    const asIs = await bodyAsIs(transcript, protocol, model)
    const profile = { provider: row.family ?? row.id, model }
    const issues = refuse(protocol, asIs, profile)
    const { body, notes } = prepare({
      ...target,
      rows,
      messages: transcript.messages,
      ...(transcript.system && { system: transcript.system }),
      ...(transcript.tools && { tools: transcript.tools }),
    })
    const remaining = refuse(protocol, body, profile)
    if (values.json) {
      printJson({ format: transcript.format, protocol, issues, notes, left: remaining }, 2)
    } else {
      const problems = issues.map((issue) => `${issue.status} ${issue.message} (${issue.rule})`)
      const lines = [
        issues.length === 0 ? `${row.name} would accept it unchanged.` : `${row.name} would refuse it:`,
        ...problems.map((line) => `  ${line}`),
        ...(notes.length > 0 ? ['Synapse would change:', ...notes.map((note) => `  ${noteLine(note)}`)] : []),
      ]
      print(`${neutral(lines.join('\n'))}\n`)
    }
    return issues.length === 0 ? exitCode.ok : exitCode.failed
  },
}

/**
 * A request body in the provider's own format is checked unchanged; anything else in the form that the format writes.
 */
async function bodyAsIs(transcript: TranscriptFile, protocol: string, model: string): Promise<Json> {
  const service = await loadService(protocol)
  const json = parseJson(transcript.text)
  if (transcript.format === protocol && isObject(json) && service.listField in json) return { model, ...json }
  return service.request(writeTranscript(transcript.messages, protocol), model)
}
