// A tool that finds again what was cut from the request or summed up: it searches the whole log of the conversation, on
// all branches, and reads a single entry in full. It reads only, so it may always be run again.

import { isObject, type Json } from '../core/json.ts'
import type { Message, Part } from '../core/message.ts'
import type { Tool } from '../core/tool.ts'
import type { Hit, Store } from '../store/store.ts'

const hitsShown = 10
const pageLength = 8000

export function recallTool(store: Store, owner: string, conversationId: string): Tool {
  return {
    name: 'recall',
    description:
      'Searches everything that was said in this conversation, and what tools were given and gave back, also what is no ' +
      'longer in your context. Give `query` to search: words that must all be there, "phrases" in quotes, begin* for ' +
      'words that begin so. Give `entry` with an id from a search to read it in full, and `offset` to read on.',
    input: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What to look for.' },
        entry: { type: 'string', description: 'The id of an entry to read in full.' },
        offset: { type: 'integer', minimum: 0, description: 'Where in the entry to continue reading.' },
      },
      additionalProperties: false,
    },
    repeatable: true,
    async run(input) {
      const { query, entry, offset } = isObject(input) ? input : {}
      if (typeof entry === 'string') return readEntry(entry, typeof offset === 'number' ? offset : 0)
      if (typeof query === 'string' && query.trim() !== '') return find(query)
      throw new TypeError('give a query to search for, or the id of an entry to read')
    },
  }

  async function find(query: string): Promise<Json> {
    const { items } = await store.search(owner, { text: query, conversationId, limit: hitsShown })
    const whole = items.length > 0 ? items : await byWord(query)
    if (whole.length === 0) return 'Nothing in this conversation matches. Try fewer or other words.'
    const about = items.length > 0 ? {} : { note: 'No entry has all the words; these have some.' }
    return { ...about, found: whole.map(shown) }
  }

  /** Whoever remembers half of it should still find it. */
  async function byWord(query: string): Promise<Hit[]> {
    const found = new Map<string, Hit>()
    for (const word of new Set(query.match(/[\p{L}\p{N}]{3,}/gu))) {
      const { items } = await store.search(owner, { text: word, conversationId, limit: 3 })
      for (const hit of items) found.set(`${hit.entryId} ${hit.kind}`, hit)
      if (found.size >= hitsShown) break
    }
    return [...found.values()].slice(0, hitsShown)
  }

  async function readEntry(id: string, offset: number): Promise<Json> {
    const entry = await store.entry(owner, id)
    if (entry?.conversationId !== conversationId) throw new TypeError(`there is no entry ${id} in this conversation`)
    const text = textIn(entry.message)
    const page = text.slice(offset, offset + pageLength)
    const rest = text.length - offset - page.length
    return {
      entry: id,
      role: entry.message.role,
      at: entry.at,
      text: page.toWellFormed(),
      ...(rest > 0 && { more: `${rest} characters are left: continue with offset ${offset + page.length}.` }),
    }
  }
}

function shown({ entryId, kind, tool, at, snippet }: Hit): Json {
  return { entry: entryId, kind, ...(tool !== undefined && { tool }), at, snippet }
}

function textIn(message: Message): string {
  return message.parts.map(partText).join('\n')
}

function partText(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text
    case 'tool-call':
      return `${part.name} was called with ${part.malformed ?? JSON.stringify(part.input)}`
    case 'tool-result':
      return `${part.name} gave: ${part.output.map(partText).join('\n')}`
    case 'server-tool':
      return `${part.name}: ${JSON.stringify({ input: part.input, output: part.output })}`
    case 'media':
      return `[${part.mediaType}${part.name === undefined ? '' : ` ${part.name}`}]`
    case 'compaction':
      return part.text ?? ''
    default:
      return ''
  }
}
