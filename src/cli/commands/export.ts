// `synapse export`: a conversation as a file. Our own format contains everything; the others what they support.

import { once } from 'node:events'
import { createWriteStream, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { badInput } from '../../core/error.ts'
import { formatIds } from '../../transcripts/index.ts'
import { redactor, secretsInEnv } from '../../transfer/redact.ts'
import { type Command, exitCode, parse } from '../command.ts'
import { allArchives, exportLines, exportFormats } from '../export-lines.ts'
import { withLocalStore, storeOptions } from '../local-store.ts'
import { count } from '../format-number.ts'
import { printError, printFile } from '../print.ts'

export const exporting: Command = {
  usage: `synapse export ID [--format FORMAT] [-o FILE] [--redact] [--db FILE]
synapse export --all [-o FILE] [--redact]

Writes a conversation to stdout or to a file. Formats:
  archive    JSON Lines: the whole tree with all branches, tool runs, decisions and the record of every request, without
             request bodies; "synapse import" restores it exactly (the default)
  markdown, html
             for reading: the current branch; the HTML file is self-contained and runs no scripts
  ${formatIds.join(', ')}
--redact hides what looks like a key, token, password or e-mail address. Review the result before sharing it.`,

  async run(argv) {
    const { values, positionals } = parse(argv, 1, {
      ...storeOptions,
      format: { type: 'string', default: 'archive' },
      output: { type: 'string', short: 'o' },
      redact: { type: 'boolean' },
      all: { type: 'boolean' },
    })
    const { format } = values
    if (!exportFormats.includes(format)) {
      throw badInput(`Unknown format "${format}". The formats are ${exportFormats.join(', ')}.`)
    }
    if (values.all && format !== 'archive')
      throw badInput('Only an archive can contain all conversations. Leave out --format.')
    if ((positionals.length === 1) === (values.all === true)) {
      throw badInput('Name one conversation to export, or give --all. "synapse log" lists the ids.')
    }
    return withLocalStore(values, async (local) => {
      const redact = values.redact ? redactor(secretsInEnv(process.env)) : undefined
      let all = 0
      const pieces = values.all
        ? allArchives(local, redact, (conversations) => (all = conversations))
        : exportLines(local, await local.find(positionals[0] ?? ''), format, redact)
      await write(pieces, values.output)
      if (values.all && values.output !== undefined && values.output !== '-') {
        printError(`${count(all)} ${all === 1 ? 'conversation' : 'conversations'} exported to ${values.output}.\n`)
      }
      return exitCode.ok
    })
  },
}

/** The file is created only when complete: a partial export must not look like a whole one. */
async function write(pieces: AsyncIterable<string>, path: string | undefined): Promise<void> {
  if (path === undefined || path === '-') {
    for await (const piece of pieces) if (!printFile(piece)) await once(process.stdout, 'drain')
    return
  }
  // A pipe or a device is written to directly: a file in its place would not be a pipe any more.
  const existing = statSync(path, { throwIfNoEntry: false })
  const isFile = existing === undefined || existing.isFile()
  const target = existing?.isFile() ? realpathSync(path) : path
  const draft = isFile ? `${target}.part` : target
  try {
    await pipeline(pieces, createWriteStream(draft, { mode: 0o600 }))
    if (isFile) renameSync(draft, target)
  } catch (error) {
    if (isFile) rmSync(draft, { force: true })
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
    throw code?.startsWith('E') ? badInput(`${path} cannot be written (${code}).`) : error
  }
}
