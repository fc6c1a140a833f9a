// A context as a body of Converse. The model and whether the reply is streamed are in the path. User and assistant
// alternate; all results of a turn are in the next user message; nothing is blank.

import { badInput } from '../../core/error.ts'
import type { Context } from '../../core/context.ts'
import { isObject, type JsonObject } from '../../core/json.ts'
import type { Message } from '../../core/message.ts'
import { originsIn } from '../shared/body-bytes.ts'
import { mergeExtra } from '../shared/options.ts'
import { systemPieces, textPieces, userPieces, type Writing } from '../shared/pieces.ts'
import { normaliseTurns, turnOf, wireList, type Turn } from '../shared/turns.ts'
import type { Encoded, Target } from '../wire.ts'
import { settleDocuments } from './documents.ts'
import { encodeReply, encodeResults, writing } from './encode-message.ts'
import { encodeOptions } from './options.ts'
import { encodeTools } from './tools.ts'
import { inside, textBlock } from './types.ts'

export function encode(context: Context, target: Target): Encoded {
  const write = writing(context, target)
  const { notes } = write
  const marks = target.capabilities.cacheMarks ? new Set(context.cacheAfter) : new Set<number>()
  const mark = markOf(target)
  const system = context.system.flatMap((part) => textPieces(part.text, 'system', write))
  if (marks.has(-1) && system.length > 0) system.push(mark)

  const turns = context.messages.map((message, index) => {
    const turn = write.cached(message, index, (one, at) =>
      // A system message inside the history becomes user text.
      turnOf(one.role === 'system' ? 'user' : one.role, piecesOf(one, at, write), at),
    )
    return marks.has(index) && turn.items.length > 0 ? turnOf(turn.role, [...turn.items, mark], turn.at) : turn
  })
  const settled = settleDocuments(normaliseTurns(turns, turnRules, notes), notes)
  const tools = encodeTools(context, ranByService(settled), write)
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
    toolNames: write.names.changed,
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

function piecesOf(message: Message, at: string, write: Writing): JsonObject[] {
  switch (message.role) {
    case 'system':
      return systemPieces(message, at, write)
    case 'user':
      return userPieces(message, at, write)
    case 'tool':
      return encodeResults(message, at, write)
    case 'assistant':
      return encodeReply(message, at, write)
  }
}

/** Server tools in replies that are sent back unchanged. */
function ranByService(turns: readonly Turn<JsonObject>[]): Set<string> {
  const uses = turns.flatMap(({ items }) => items.flatMap((block) => inside(block, 'toolUse') ?? []))
  return new Set(uses.filter(isObject).flatMap(({ type, name }) => (type === undefined ? [] : [String(name)])))
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
