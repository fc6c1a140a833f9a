// `synapse export`: a conversation as a file. Our own format keeps everything; the others keep what they have a place for.

import { once } from 'node:events'
import { createWriteStream, renameSync, rmSync } from 'node:fs'
import { badInput } from '../../core/error.ts'
import type { Json } from '../../core/json.ts'
import type { Conversation, Entry } from '../../core/log.ts'
import { attachMedia } from '../../store/media.ts'
import { formatIds, writeTranscript } from '../../transcripts/index.ts'
import { archiveLines } from '../../transfer/archive-write.ts'
import { redactor, secretsInEnv } from '../../transfer/redact.ts'
import { exitCode, parse, type Command } from '../command.ts'
import { openHouse, storeOptions, type House } from '../house.ts'
import { progressOn } from '../progress.ts'

const own = ['archive', 'markdown', 'html'] as const

export const exporting: Command = {
  usage: `synapse export ID [--format FORMAT] [-o FILE] [--redact] [--db FILE]
synapse export --all [-o FILE] [--redact]

Writes a conversation to stdout or to a file. The formats:
  archive    lines of JSON: the whole tree with all branches, tool runs, decisions and the record of every request,
             without the requests' bodies; "synapse import" reads it back as it was (the usual one)
  markdown, html
             to read: what was said on the current branch; the HTML file needs nothing else and runs nothing
  ${formatIds.join(', ')}
--redact hides what looks like a key, a token, a password or an e-mail address. Look at it before you share it.`,

  async run(argv) {
    const { values, positionals } = parse(argv, {
      ...storeOptions,
      format: { type: 'string', default: 'archive' },
      output: { type: 'string', short: 'o' },
      redact: { type: 'boolean' },
      all: { type: 'boolean' },
    })
    const { format } = values
    if (!own.some((name) => name === format) && !formatIds.includes(format)) {
      throw badInput(`There is no format "${format}". The formats are ${[...own, ...formatIds].join(', ')}.`)
    }
    if (values.all && format !== 'archive')
      throw badInput('Only an archive can hold all conversations. Leave out --format.')
    if ((positionals.length === 1) === (values.all === true)) {
      throw badInput('Name one conversation to export, or give --all. "synapse log" lists the ids.')
    }
    const house = await openHouse(values)
    try {
      const redact = values.redact ? redactor(secretsInEnv(process.env)) : undefined
      const found = values.all ? undefined : [await house.find(positionals[0] ?? '')]
      const pieces = format === 'archive' ? archives(house, found, redact) : onePiece(house, found?.[0], format, redact)
      await write(pieces, values.output)
      return exitCode.ok
    } finally {
      await house.close()
    }
  },
}

type Redact = ((value: Json) => Json) | undefined

async function* archives(house: House, found: Conversation[] | undefined, redact: Redact): AsyncGenerator<string> {
  const progress = progressOn()
  let number = 0
  for await (const { id, title } of found ?? everyConversation(house)) {
    number++
    const options = {
      ...(redact && { redact }),
      progress: (done: number, of: number) => progress.tell(`${number}: ${title ?? id}, ${done} of ${of} entries`),
    }
    for await (const line of archiveLines(house.store, house.owner, id, options)) yield `${line}\n`
  }
  progress.done()
}

async function* everyConversation({ store, owner }: House): AsyncGenerator<Conversation> {
  for (let cursor: string | undefined; ;) {
    const page = await store.conversations(owner, { limit: 100, ...(cursor !== undefined && { cursor }) })
    yield* page.items
    cursor = page.next
    if (cursor === undefined) return
  }
}

async function* onePiece(
  { store, owner }: House,
  about: Conversation | undefined,
  format: string,
  redact: Redact,
): AsyncGenerator<string> {
  if (!about) return
  const history = about.head ? await store.history(owner, about.head) : []
  const messages = await attachMedia(
    history.map((entry) => entry.message),
    (sha256) => store.blob(owner, sha256),
  )
  const whole = history.map((entry, i) => ({ ...entry, message: messages[i] ?? entry.message }))
  const entries = redact ? (redact(JSON.parse(JSON.stringify(whole)) as Json) as Json & Entry[]) : whole
  const shown = redact ? (redact({ id: about.id, title: about.title }) as { id: string; title?: string }) : about
  if (format === 'markdown') yield (await import('../../transfer/markdown.ts')).toMarkdown(shown, entries)
  else if (format === 'html') yield (await import('../../transfer/html.ts')).toHtml(shown, entries)
  else {
    const json = writeTranscript(
      entries.map((entry) => entry.message),
      format,
    )
    if (lineFormats.has(format) && Array.isArray(json)) for (const line of json) yield `${JSON.stringify(line)}\n`
    else yield `${JSON.stringify(json, null, 2)}\n`
  }
}

/** Formats whose files are lines of JSON. */
const lineFormats = new Set(['claude-code', 'codex', 'pi', 'synapse'])

/** To a file only when all of it is there: an export that broke off must not look like one. */
async function write(pieces: AsyncIterable<string>, path: string | undefined): Promise<void> {
  if (path === undefined || path === '-') {
    for await (const piece of pieces) if (!process.stdout.write(piece)) await once(process.stdout, 'drain')
    return
  }
  const draft = `${path}.part`
  const file = createWriteStream(draft, { mode: 0o600 })
  try {
    await once(file, 'open')
    for await (const piece of pieces) if (!file.write(piece)) await once(file, 'drain')
    file.end()
    await once(file, 'close')
    renameSync(draft, path)
  } catch (error) {
    file.destroy()
    rmSync(draft, { force: true })
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
    throw code?.startsWith('E') ? badInput(`${path} cannot be written (${code}).`) : error
  }
}
