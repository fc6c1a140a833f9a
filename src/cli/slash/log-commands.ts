// Commands about messages, in this and other conversations.

import { writeFileSync } from 'node:fs'
import { badInput, errorMessage } from '../../core/error.ts'
import type { Message, Part } from '../../core/message.ts'
import type { Hit } from '../../store/store.ts'
import { seconds } from '../format-number.ts'
import { neutral, neutralLine, type Style } from '../terminal.ts'
import type { SlashCommands } from './context.ts'

export const logCommands: SlashCommands = {
  history: {
    about: 'show the messages so far',
    async run(_, { session, say, style }) {
      const entries = await session.conversation.history()
      say(entries.flatMap((entry) => messageLines(entry.message, style)).join('\n') || 'No messages yet.')
    },
  },
  search: {
    takes: 'WORDS',
    about: 'search all conversations; "a phrase" and prefix* work too',
    async run(words, { session, say, style }) {
      if (words === '') throw badInput('Use /search WORDS.')
      const { store, owner } = session.local
      const { items, next } = await store.search(owner, { text: words, limit: 10 })
      const lines = items.map((hit) => hitLine(hit, style))
      if (next) lines.push(style.dim('There are more results: add a word.'))
      say(lines.join('\n') || `No results for ${neutral(words)}.`)
    },
  },
  export: {
    takes: '[FORMAT] [FILE]',
    about: 'export to a file (its name has a dot or a slash); the default format is synapse',
    async run(rest, { session, say }) {
      const { endingOf, exportLines, exportFormats } = await import('../export-lines.ts')
      const [first = '', second] = rest.split(/\s+/).filter(Boolean)
      const named = exportFormats.includes(first)
      if (!named && first !== '' && (second !== undefined || !/[./\\]/.test(first)))
        throw badInput(`Unknown format "${first}". The formats are ${exportFormats.join(', ')}.`)
      const format = named ? first : 'synapse'
      const file = (named ? second : first) || `${session.conversation.id}.${endingOf(format)}`
      const pieces: string[] = []
      for await (const piece of exportLines(session.local, await session.conversation.info(), format))
        pieces.push(piece)
      saveFile(file, pieces.join(''))
      say(`Exported to ${neutral(file)} as ${format}.`)
    },
    complete: async () => (await import('../export-lines.ts')).exportFormats,
  },
}

function saveFile(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    if (code === 'EEXIST') throw badInput(`${file} already exists. Name another file: /export FORMAT FILE.`)
    throw badInput(`${file} cannot be written: ${errorMessage(error)}.`)
  }
}

function hitLine(hit: Hit, style: Style): string {
  let text = ''
  let end = 0
  for (const [from, to] of hit.marks) {
    text += neutral(hit.snippet.slice(end, from)) + style.bold(neutral(hit.snippet.slice(from, to)))
    end = to
  }
  text += neutral(hit.snippet.slice(end))
  const source = `${hit.at.slice(0, 10)} ${neutralLine(hit.title ?? hit.conversationId)} (${hit.conversationId})`
  return `${style.dim(source)}\n  ${hit.tool ? `${neutral(hit.tool)}: ` : ''}${text.replaceAll(/\s+/g, ' ').trim()}`
}

/** A message of the log as lines for a terminal. */
export function messageLines(message: Message, style: Style): string[] {
  const author = message.role === 'assistant' ? `${message.origin.provider}/${message.origin.model}` : message.role
  const stop =
    message.role === 'assistant' && message.stop.reason !== 'done' && message.stop.reason !== 'tool-calls'
      ? ` (${message.stop.reason})`
      : ''
  return [style.bold(neutral(author) + stop), ...message.parts.map((part) => partText(part, style)), '']
}

function partText(part: Part, style: Style): string {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return neutral(part.text)
    case 'reasoning':
      return style.dim(
        (part.hidden && part.text === '' ? '(hidden reasoning)' : neutral(part.text)) +
          (part.durationMs === undefined ? '' : ` (${seconds(part.durationMs)} of thinking)`),
      )
    case 'media':
      return neutral(`[${part.mediaType}${part.name ? ` ${part.name}` : ''}]`)
    case 'tool-call':
      return `→ ${neutral(part.name)} ${neutral(part.malformed ?? JSON.stringify(part.input))}`
    case 'tool-result':
      return `← ${neutral(part.name)}${part.failed ? ' failed' : ''}: ${part.output.map((output) => partText(output, style)).join('\n')}`
    case 'server-tool':
      return neutral(`⇄ ${part.name} ${JSON.stringify(part.input ?? null)}`)
    case 'compaction':
      return style.dim(neutral(`(summary) ${part.text ?? ''}`))
    default:
      return style.dim(neutral(`(${part.kind})`))
  }
}
