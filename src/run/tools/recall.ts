// A tool that retrieves what was folded, cut or summarised: it returns a result in full by the number in its fold,
// searches the whole log of the conversation, on all branches, and reads a single entry in full. It only reads, so it
// may always be run again.

import type { ToolSpec } from '../../core/context.ts'
import { isObject, type Json } from '../../core/json.ts'
import type { Entry } from '../../core/log.ts'
import type { Message, Part, ToolResultPart } from '../../core/message.ts'
import type { Tool } from '../../core/tool.ts'
import { numberedResult } from '../../context/numbered-result.ts'
import { recallName } from '../../context/mention-recall.ts'
import type { Hit, Store } from '../../store/store.ts'

const mostHits = 10
const pageLength = 8000

/** The description for the model. It is part of every request, so it is short. */
export const recallSpec: ToolSpec = {
  name: recallName,
  description:
    'Reads what is no longer in your context. `id`: the number of an earlier tool use, such as 41 for "[Tool use #41]", ' +
    'to read its whole result. `query`: words to search the conversation for. `entry`: the id of an entry that a search ' +
    'found. `offset`: where to continue reading.',
  input: {
    type: 'object',
    properties: {
      id: { type: 'string' },
      query: { type: 'string' },
      entry: { type: 'string' },
      offset: { type: 'integer', minimum: 0 },
    },
    additionalProperties: false,
  },
}

/**
 * The tool that retrieves what a request left out of a long history. Runs offer it automatically; this is for your own
 * loops. Numbers refer to the given path; by default to the current one.
 *
 * @example
 * const recall = recallTool(synapse.store, 'local', chat.id)
 */
export function recallTool(
  store: Store,
  owner: string,
  conversationId: string,
  path: () => Promise<readonly Entry[]> = () => currentPath(store, owner, conversationId),
): Tool {
  return {
    ...recallSpec,
    repeatable: true,
    async run(input) {
      const { id, query, entry, offset } = isObject(input) ? input : {}
      const from = typeof offset === 'number' ? offset : 0
      if (typeof id === 'string') return readNumber(id, from)
      if (typeof entry === 'string') return readEntry(entry, from)
      if (typeof query === 'string' && query.trim() !== '') return find(query)
      throw new TypeError('give a query to search for, the id of a tool use, or the id of an entry to read')
    },
  }

  async function readNumber(id: string, offset: number): Promise<Json> {
    const number = id.replace(/^.*#/, '').replace(/]$/, '').trim()
    const entries = await path()
    const found = numberedResult(
      entries.map((entry) => entry.message),
      number,
    )
    if (found) {
      const { call, result } = found
      const input = call ? `${call.name} was called with ${call.malformed ?? JSON.stringify(call.input)}\n` : ''
      return { id: number, tool: result.name, ...pageOf(`${input}${wholeResult(result)}`, offset) }
    }
    // A model may confuse the two kinds of id.
    if (!/^[\d.]+$/.test(number)) return readEntry(id, offset)
    const entry = entries[Number(number)]
    if (!entry) throw new TypeError(`there is no tool use #${number} in this conversation`)
    return { id: number, role: entry.message.role, at: entry.at, ...pageOf(textIn(entry.message), offset) }
  }

  async function find(query: string): Promise<Json> {
    const { items } = await store.search(owner, { text: query, conversationId, limit: mostHits })
    const hits = items.length > 0 ? items : await findByWord(query)
    if (hits.length === 0) return 'Nothing in this conversation matches. Try fewer or other words.'
    const about = items.length > 0 ? {} : { note: 'No entry has all the words; these have some.' }
    return { ...about, found: hits.map(hitView) }
  }

  /** A query with some wrong words should still find something. */
  async function findByWord(query: string): Promise<Hit[]> {
    const found = new Map<string, Hit>()
    for (const word of new Set(query.match(/[\p{L}\p{N}]{3,}/gu))) {
      const { items } = await store.search(owner, { text: word, conversationId, limit: 3 })
      for (const hit of items) found.set(`${hit.entryId} ${hit.kind}`, hit)
      if (found.size >= mostHits) break
    }
    return [...found.values()].slice(0, mostHits)
  }

  async function readEntry(id: string, offset: number): Promise<Json> {
    const entry = await store.entry(owner, id)
    if (entry?.conversationId !== conversationId) throw new TypeError(`there is no entry ${id} in this conversation`)
    return { entry: id, role: entry.message.role, at: entry.at, ...pageOf(textIn(entry.message), offset) }
  }
}

async function currentPath(store: Store, owner: string, conversationId: string): Promise<Entry[]> {
  const head = (await store.conversation(owner, conversationId))?.head
  return head ? store.history(owner, head) : []
}

function pageOf(text: string, offset: number): { text: string; more?: string } {
  const page = text.slice(offset, offset + pageLength)
  const remaining = text.length - offset - page.length
  return {
    text: page.toWellFormed(),
    ...(remaining > 0 && { more: `${remaining} characters are left: continue with offset ${offset + page.length}.` }),
  }
}

function hitView({ entryId, kind, tool, at, snippet }: Hit): Json {
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
      return wholeResult(part)
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

/** As the tool returned it: the model has seen only a part of a long result. */
function wholeResult({ name, output, value, failed }: ToolResultPart): string {
  const shown = output.map(partText).join('\n')
  const raw = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
  return `${name} ${failed ? 'failed' : 'gave'}: ${raw.length > shown.length ? raw : shown}`
}
