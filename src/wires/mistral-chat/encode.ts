// A context as the body of a Mistral chat request. Three orders are kept that other chat wires do not ask for: system
// messages only at the top, an assistant message between a tool's and a user's, and never an assistant message last.

import type { Context, Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Message, ToolMessage, UserMessage } from '../../core/message.ts'
import { wireIds } from '../shared/ids.ts'
import { encodeCache, type Cached } from '../shared/encode-cache.ts'
import { mapNames } from '../shared/names.ts'
import type { Encoded, Target } from '../wire.ts'
import { cleanText, isBlank } from '../shared/text.ts'
import { normaliseTurns, turnOf, wireList, type Turn } from '../shared/turns.ts'
import { emptyResultText, flatResult, flatResultLabel, summaryLabel, systemLabel } from '../shared/injected-text.ts'
import { encodeOptions } from './options.ts'
import { mediaChunk, mediaFollows, standIn } from './media.ts'
import { encodeReply, isReplayed } from './encode-reply.ts'
import {
  callIdGrammar,
  protocolId,
  textChunk,
  toolNameLength,
  toolNamePattern,
  type Chunk,
  type WireCall,
} from './types.ts'
import type { Item, Writer } from './writer.ts'

export function encode(context: Context, target: Target): Encoded {
  const notes: Note[] = []
  const names = mapNames(context, toolNamePattern, toolNameLength, notes)
  const idOf = wireIds(context.messages, callIdGrammar, (reply) => isReplayed(reply, target))
  const { lookups, cached } = encodeCache(context, target, protocolId, { idOf, toWire: names.toWire }, notes)
  const writer: Writer = { target, notes, names: lookups, idOf: lookups.idOf }

  const turns = normaliseTurns(
    turnsOf(context, writer, cached),
    {
      text: (text) => ({ chunk: textChunk(text) }),
      join: target.quirks.alternate ? ['user', 'assistant'] : [],
      startWithUser: true,
      endWithUser: 'T-3',
      bridgeAfterTool: true,
    },
    notes,
  )
  const messages = wireList(turns, (turn) => writeTurn(turn, target))
  const body: JsonObject = {
    model: target.model,
    messages,
    ...encodeOptions(context.tools, writer),
    ...target.options.extra,
  }
  return { path: '/chat/completions', body, notes, toolNames: names.changed }
}

function turnsOf(context: Context, writer: Writer, cached: Cached): Turn<Item>[] {
  const turns: Turn<Item>[] = []
  const system = context.system
    .map((part) => cleanText(part.text, 'system', writer.notes))
    .filter((text) => text !== '')
  if (system.length > 0) turns.push(turnOf<Item>('system', [{ chunk: textChunk(system.join('\n\n')) }], 'system'))

  const write = (message: Message, at: string) => writeMessage(message, at, writer)
  let following: Item[] = []
  for (const [index, message] of context.messages.entries()) {
    if (message.role !== 'tool') flushMedia()
    const turn = cached(message, index, write)
    turns.push(turn)
    if (turn.media) following.push(...turn.media)
  }
  flushMedia()
  return turns

  function flushMedia(): void {
    if (following.length > 0) turns.push(turnOf('user', following, ''))
    following = []
  }
}

interface Written extends Turn<Item> {
  /** Of results, to be shown in a user message after the whole block of them. */
  media?: Item[]
}

function writeMessage(message: Message, at: string, writer: Writer): Written {
  switch (message.role) {
    case 'system':
      return turnOf('user', midSystem(message.parts, at, writer), at)
    case 'user':
      return turnOf('user', userItems(message, at, writer), at)
    case 'assistant':
      return turnOf('assistant', encodeReply(message, at, writer), at)
    case 'tool': {
      if (writer.target.quirks.flattenToolHistory) return turnOf('user', flatResults(message, at, writer), at)
      const media: Item[] = []
      const turn = turnOf('tool', toolItems(message, at, writer, media), at)
      return media.length > 0 ? { ...turn, media } : turn
    }
  }
}

function midSystem(parts: readonly { text: string }[], at: string, writer: Writer): Item[] {
  const text = parts.map((part) => cleanText(part.text, at, writer.notes)).join('\n\n')
  if (isBlank(text)) return []
  writer.notes.push({
    kind: 'changed',
    what: 'system message to labelled user text',
    why: 'a system message is only taken at the top',
    at,
    rule: 'T-1',
  })
  return [{ chunk: textChunk(`${systemLabel}\n${text}`) }]
}

function userItems(message: UserMessage, at: string, writer: Writer): Item[] {
  const items: Item[] = []
  for (const part of message.parts) {
    switch (part.type) {
      case 'text':
        if (part.text !== '') items.push({ chunk: textChunk(cleanText(part.text, at, writer.notes)) })
        break
      case 'media':
        items.push({ chunk: mediaChunk(part, writer.target) ?? standIn(part, at, writer.notes) })
        break
      case 'compaction':
        if (part.text) items.push({ chunk: textChunk(cleanText(`${summaryLabel}\n${part.text}`, at, writer.notes)) })
        else writer.notes.push({ kind: 'dropped', what: 'compaction', why: 'it has no words of ours', at })
        break
      case 'opaque':
        if (part.kind.startsWith(`${protocolId}/`) && part.data !== undefined) items.push({ chunk: part.data as Chunk })
        else writer.notes.push({ kind: 'dropped', what: part.kind, why: 'it is not of this wire', at })
    }
  }
  return items
}

/** One message per result. Media goes to `following`, to be shown behind the whole block of results. */
function toolItems(message: ToolMessage, at: string, writer: Writer, following: Item[]): Item[] {
  return message.parts.map((part) => {
    const chunks: Chunk[] = []
    const lines: string[] = []
    for (const piece of part.output) {
      if (piece.type === 'text') {
        if (piece.text !== '') lines.push(cleanText(piece.text, at, writer.notes))
        continue
      }
      const inResult = mediaChunk(piece, writer.target, writer.target.capabilities.resultMedia)
      const inUser = inResult ? undefined : mediaChunk(piece, writer.target)
      if (inResult) chunks.push(inResult)
      else if (inUser) {
        lines.push(mediaFollows(piece))
        following.push({ chunk: inUser })
        writer.notes.push({
          kind: 'changed',
          what: `${piece.mediaType} of a result of ${part.name} to a user message after the results`,
          why: 'a tool message takes text only',
          at,
          rule: 'T-9',
        })
      } else lines.push(standIn(piece, at, writer.notes).text)
    }
    const text = resultText(lines, part.failed === true, chunks.length > 0)
    return {
      message: {
        role: 'tool',
        tool_call_id: writer.idOf(part.callId),
        name: writer.names.toWire(part.name),
        content: chunks.length > 0 ? [...(text === '' ? [] : [textChunk(text)]), ...chunks] : text,
      },
    }
  })
}

/** The wire has no flag for a failed result, so the text says it, once. */
function resultText(lines: readonly string[], failed: boolean, mayBeEmpty: boolean): string {
  const text = lines.join('\n')
  if (failed) return text.startsWith('Error: ') ? text : `Error: ${text || emptyResultText}`
  return text || (mayBeEmpty ? '' : emptyResultText)
}

function flatResults(message: ToolMessage, at: string, writer: Writer): Item[] {
  const items: Item[] = []
  for (const part of message.parts) {
    const media: Item[] = []
    const lines: string[] = []
    for (const piece of part.output) {
      if (piece.type === 'text') {
        if (piece.text !== '') lines.push(cleanText(piece.text, at, writer.notes))
        continue
      }
      const chunk = mediaChunk(piece, writer.target)
      if (chunk) media.push({ chunk })
      else lines.push(standIn(piece, at, writer.notes).text)
    }
    const text = lines.join('\n') || emptyResultText
    items.push({ chunk: textChunk(flatResult(flatResultLabel, part.name, text, part.failed === true)) }, ...media)
  }
  if (items.length > 0) {
    writer.notes.push({
      kind: 'changed',
      what: 'tool results to labelled user text',
      why: 'this host refuses tool messages in the history',
      at,
    })
  }
  return items
}

function writeTurn(turn: Turn<Item>, target: Target): JsonObject[] {
  const [only] = turn.items
  if (turn.items.length === 1 && only && 'message' in only) return [only.message]
  if (turn.role === 'tool') return turn.items.flatMap((item) => ('message' in item ? [item.message] : []))

  const chunks: Chunk[] = []
  const calls: WireCall[] = []
  for (const item of turn.items) {
    for (const one of 'message' in item ? takenApart(item.message) : [item]) {
      if ('chunk' in one) chunks.push(one.chunk)
      else if ('call' in one) calls.push(one.call)
    }
  }
  return [{ role: turn.role, content: contentOf(chunks, target), ...(calls.length > 0 && { tool_calls: calls }) }]
}

/** A reply in its own words, as pieces, where it has to be joined with its neighbour. */
function takenApart(message: JsonObject): Item[] {
  const items: Item[] = []
  if (typeof message.content === 'string' && message.content !== '') items.push({ chunk: textChunk(message.content) })
  if (Array.isArray(message.content)) for (const chunk of message.content) items.push({ chunk: chunk as Chunk })
  if (Array.isArray(message.tool_calls)) for (const call of message.tool_calls) items.push({ call: call as WireCall })
  return items
}

function contentOf(chunks: readonly Chunk[], target: Target): string | Chunk[] {
  const texts = chunks.flatMap((chunk) => (chunk.type === 'text' && typeof chunk.text === 'string' ? [chunk.text] : []))
  const plain = texts.length === chunks.length && (chunks.length <= 1 || target.quirks.stringContent)
  return plain ? texts.join('\n') : [...chunks]
}
