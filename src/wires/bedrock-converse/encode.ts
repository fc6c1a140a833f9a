// A context as a body of Converse. The model and whether the reply is streamed are in the path. User and assistant
// alternate; all results of a turn are in the next user message; nothing is blank.

import type { Context, Note } from '../../core/context.ts'
import { badInput } from '../../core/error.ts'
import { isObject, type JsonObject } from '../../core/json.ts'
import type { Message } from '../../core/message.ts'
import { originsIn } from '../shared/body-bytes.ts'
import { mergeExtra } from '../shared/options.ts'
import { systemPieces, textPieces, userPieces, type Encoding } from '../shared/pieces.ts'
import { normaliseTurns, type Turn, turnOf, wireList } from '../shared/turns.ts'
import type { Encoded, Target } from '../wire.ts'
import { encodeReply, encodeResults, encodingFor } from './encode-messages.ts'
import { encodeOptions, encodeTools } from './options.ts'
import { inside, textBlock } from './types.ts'

export function encode(context: Context, target: Target): Encoded {
  const encoding = encodingFor(context, target)
  const { notes } = encoding
  const marks = target.capabilities.cacheMarks ? new Set(context.cacheAfter) : new Set<number>()
  const mark = markOf(target)
  const system = context.system.flatMap((part) => textPieces(part.text, 'system', encoding))
  if (marks.has(-1) && system.length > 0) system.push(mark)

  const encodeOne = (message: Message, at: string) =>
    // A system message inside the history becomes user text.
    turnOf(message.role === 'system' ? 'user' : message.role, piecesOf(message, at, encoding), at)
  const turns = context.messages.map((message, index) => {
    const turn = encoding.cached(message, index, encodeOne)
    return marks.has(index) && turn.items.length > 0 ? turnOf(turn.role, [...turn.items, mark], turn.at) : turn
  })
  const settled = settleDocuments(normaliseTurns(turns, turnRules, notes), notes)
  const tools = encodeTools(context, ranByService(settled), encoding)
  const messages = wireList(settled, ({ role, items }) => [
    { role: role === 'assistant' ? 'assistant' : 'user', content: items },
  ])
  const body: JsonObject = {
    messages,
    ...(system.length > 0 && { system }),
    ...(tools && { toolConfig: tools }),
    ...encodeOptions(tools !== undefined, target, notes),
  }
  const { extra = {}, stream } = target.options
  const streams = stream === true && !(tools && target.capabilities.toolsInStream === false)
  return {
    path: pathOf(target, streams),
    body: mergeExtra(body, extra),
    notes,
    toolNames: encoding.names.changed,
    origins: originsIn('messages', messages),
  }
}

const turnRules = {
  text: textBlock,
  join: ['system', 'user', 'assistant', 'tool'] as const,
  toolIsUser: true,
  startWithUser: true,
  endWithUser: 'BC-16',
}

function piecesOf(message: Message, at: string, encoding: Encoding): JsonObject[] {
  switch (message.role) {
    case 'system':
      return systemPieces(message, at, encoding)
    case 'user':
      return userPieces(message, at, encoding)
    case 'tool':
      return encodeResults(message, at, encoding)
    case 'assistant':
      return encodeReply(message, at, encoding)
  }
}

/** Server tools in replies that are sent back unchanged. */
function ranByService(turns: readonly Turn<JsonObject>[]): Set<string> {
  const names = new Set<string>()
  for (const { items } of turns) {
    for (const { toolUse } of items) {
      if (isObject(toolUse) && toolUse.type !== undefined) names.add(String(toolUse.name))
    }
  }
  return names
}

function pathOf({ model }: Target, streams: boolean): string {
  // The only names that no encoding makes safe: they would lead to another path of the host.
  if (model === '.' || model === '..') throw badInput(`"${model}" is not the name of a model.`)
  return `/model/${encodeURIComponent(model)}/converse${streams ? '-stream' : ''}`
}

/** After the block that it closes. */
function markOf({ options }: Target): JsonObject {
  return { cachePoint: { type: 'default', ...(options.cacheTtl === '1h' && { ttl: '1h' }) } }
}

// Documents of a request: at most five, each with a unique name, and a text with them. The name of a document depends
// only on earlier ones, so that a longer history keeps the names of a shorter one.

const mostDocuments = 5

function settleDocuments(turns: Turn<JsonObject>[], notes: Note[]): Turn<JsonObject>[] {
  let total = 0
  for (const { items } of turns) for (const block of items) if (isDocument(block)) total++
  if (total === 0) return turns
  let seen = 0
  return turns.map((turn) => {
    if (!turn.items.some(isDocument)) return turn
    const items = turn.items.map((block): JsonObject => {
      const document = inside(block, 'document')
      if (!document) return block
      seen++
      // The newest ones are the most relevant.
      if (total - seen >= mostDocuments) {
        const why = `a request can have at most ${mostDocuments} documents`
        notes.push({ kind: 'dropped', what: 'document', why, at: turn.at, rule: 'BC-14' })
        return textBlock(`[a document in the format ${String(document.format)}, not sent]`)
      }
      const name = seen === 1 ? 'document' : `document-${seen}`
      return { document: { ...document, name } }
    })
    const speaks = items.some((block) => typeof block.text === 'string')
    if (!speaks) {
      const why = 'a message with documents needs a text'
      notes.push({ kind: 'added', what: 'text next to documents', why, at: turn.at, rule: 'BC-14' })
    }
    const all = speaks ? items : [...items, textBlock('See the document.')]
    return { ...turnOf(turn.role, all, turn.at), from: turn.from }
  })
}

function isDocument(block: JsonObject): boolean {
  return isObject(block.document)
}
