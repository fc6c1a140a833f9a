// `synapse search`: searches messages and tool calls, over all conversations and branches.

import { badInput } from '../../core/error.ts'
import type { Hit, SearchQuery } from '../../store/store.ts'
import { type Command, exitCode, parse } from '../command.ts'
import { withLocalStore, storeOptions } from '../local-store.ts'
import { print, printError, printJson } from '../print.ts'
import { neutral, styleFor, type Style } from '../terminal.ts'

export const search: Command = {
  usage: `synapse search WORDS... [options]

Searches titles, messages, tool arguments and tool results; titles first, then newest first. All words must match;
"several words" in quotes match as a phrase, and prefix* matches words with that prefix.

      --in ID              only in this conversation
      --kind KIND          title, user, reply, input or output (of a tool)
      --provider NAME      only messages and tool calls of this provider's models
      --tool NAME          only arguments and results of this tool
      --label LABEL        only conversations with this label
      --after, --before T  time range (2026-11-15 or 2026-11-15T21:30:00Z)
      --limit N            20 by default
      --json               one hit per line, with ids
Exit code 1: no results.`,

  async run(argv) {
    const { values, positionals } = parse(argv, Infinity, {
      ...storeOptions,
      in: { type: 'string' },
      kind: { type: 'string' },
      provider: { type: 'string' },
      tool: { type: 'string' },
      label: { type: 'string' },
      after: { type: 'string' },
      before: { type: 'string' },
      limit: { type: 'string', default: '20' },
      json: { type: 'boolean' },
    })
    // An argument with spaces was quoted by the user: it is a phrase.
    const text = positionals.map((word) => (/\s/.test(word) && !word.includes('"') ? `"${word}"` : word)).join(' ')
    if (text.trim() === '') throw badInput('Name the words to search for: synapse search WORDS.')
    const limit = Number(values.limit)
    if (!Number.isInteger(limit) || limit < 1) throw badInput(`--limit takes a whole number, not "${values.limit}".`)
    return withLocalStore(values, async (local) => {
      const query: SearchQuery = {
        text,
        limit,
        ...(values.in !== undefined && { conversationId: (await local.find(values.in)).id }),
        ...(values.kind !== undefined && { kind: kindOf(values.kind) }),
        ...(values.provider !== undefined && { provider: values.provider }),
        ...(values.tool !== undefined && { tool: values.tool }),
        ...(values.label !== undefined && { label: values.label }),
        ...(values.after !== undefined && { after: values.after }),
        ...(values.before !== undefined && { before: values.before }),
      }
      const { items, next } = await local.store.search(local.owner, query)
      const style = styleFor(process.stdout, process.env)
      for (const hit of items) {
        if (values.json) printJson(hit)
        else print(hitText(hit, style))
      }
      if (items.length === 0) printError('No results.\n')
      if (next !== undefined && !values.json) printError(`There are more results: use --limit ${limit * 5}.\n`)
      return items.length > 0 ? exitCode.ok : exitCode.failed
    })
  },
}

function kindOf(text: string): NonNullable<SearchQuery['kind']> {
  if (text === 'title' || text === 'user' || text === 'reply' || text === 'input' || text === 'output') return text
  throw badInput(`--kind must be title, user, reply, input or output, not "${text}".`)
}

function hitText(hit: Hit, style: Style): string {
  const kind = hit.tool === undefined ? hit.kind : `${hit.tool} ${hit.kind}`
  const head = `${hit.conversationId}  ${hit.at.slice(0, 16).replace('T', ' ')}  ${kind}  ${hit.title ?? '(no title)'}`
  return `${style.dim(neutral(head).replaceAll('\n', ' '))}\n  ${markMatches(hit, style)}\n`
}

function markMatches({ snippet, marks }: Hit, style: Style): string {
  let text = ''
  let end = 0
  for (const [from, to] of marks) {
    text += plain(snippet.slice(end, from)) + style.bold(plain(snippet.slice(from, to)))
    end = to
  }
  return text + plain(snippet.slice(end))
}

function plain(text: string): string {
  return neutral(text).replaceAll(/\s+/g, ' ')
}
