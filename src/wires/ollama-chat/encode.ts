// A context as the body of an Ollama chat request. The server cuts a history that is too long from the front and says
// nothing, so it is told not to: an error can be handled, a silent cut cannot be explained (P3).

import type { Context, Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import type { MediaPart, Message, ToolMessage, ToolResultPart, UserMessage } from '../../core/message.ts'
import { wireIds } from '../shared/ids.ts'
import { encodeCache, type Cached } from '../shared/encode-cache.ts'
import { takesMedia } from '../shared/media.ts'
import type { Encoded, Target } from '../wire.ts'
import { cleanText, isBlank } from '../shared/text.ts'
import { normaliseTurns, turnOf, wireList, type Turn } from '../shared/turns.ts'
import {
  emptyResultText,
  flatResult,
  flatResultLabel,
  mediaStandIn,
  summaryLabel,
  systemLabel,
} from '../shared/injected-text.ts'
import { encodeOptions } from './options.ts'
import { encodeReply, isReplayed, sendsId } from './encode-reply.ts'
import { callIdGrammar, protocolId, type WireMessage } from './types.ts'
import type { Item, Writer } from './writer.ts'

export function encode(context: Context, target: Target): Encoded {
  const notes: Note[] = []
  const idOf = wireIds(context.messages, callIdGrammar, (reply) => isReplayed(reply, target))
  const idless = idlessCalls(context, target)
  const asks = { idOf, isIdless: (callId: string) => idless.has(callId) }
  const { lookups, cached } = encodeCache(context, target, protocolId, asks, notes)
  const writer: Writer = { target, notes, ...lookups }

  const turns = normaliseTurns(
    turnsOf(context, writer, cached),
    {
      text: (text) => ({ text }),
      join: target.quirks.alternate ? ['user', 'assistant'] : [],
      ...(target.quirks.alternate && { startWithUser: true }),
      ...(!target.capabilities.prefill && { endWithUser: 'prefill' }),
      neverEmpty: 'empty',
      ...(target.quirks.bridgeAfterTool && { bridgeAfterTool: true }),
    },
    notes,
  )
  const body: JsonObject = {
    model: target.model,
    messages: wireList(turns, writeTurn),
    ...encodeOptions(context.tools, target, notes),
    ...target.options.extra,
  }
  return { path: '/api/chat', body, notes, toolNames: {} }
}

/** Calls that go back as they came, without an id. */
function idlessCalls({ messages }: Context, target: Target): Set<string> {
  const idless = new Set<string>()
  for (const message of messages) {
    if (message.role !== 'assistant') continue
    for (const part of message.parts) {
      if (part.type === 'tool-call' && !sendsId(message, part, target)) idless.add(part.callId)
    }
  }
  return idless
}

function turnsOf(context: Context, writer: Writer, cached: Cached): Turn<Item>[] {
  const turns: Turn<Item>[] = []
  const system = context.system
    .map((part) => cleanText(part.text, 'system', writer.notes))
    .filter((text) => text !== '')
  if (system.length > 0) turns.push(turnOf<Item>('system', [{ text: system.join('\n\n') }], 'system'))
  const write = (message: Message, at: string) => writeMessage(message, at, writer)
  for (const [index, message] of context.messages.entries()) turns.push(cached(message, index, write))
  return turns
}

function writeMessage(message: Message, at: string, writer: Writer): Turn<Item> {
  switch (message.role) {
    case 'system':
      return midSystem(message.parts, at, writer)
    case 'user':
      return turnOf('user', userItems(message, at, writer), at)
    case 'assistant':
      return turnOf('assistant', encodeReply(message, at, writer), at)
    case 'tool':
      if (writer.target.quirks.flattenToolHistory) return flatResults(message, at, writer)
      return turnOf('tool', toolItems(message, at, writer), at)
  }
}

function midSystem(parts: readonly { text: string }[], at: string, writer: Writer): Turn<Item> {
  const text = parts.map((part) => cleanText(part.text, at, writer.notes)).join('\n\n')
  if (writer.target.capabilities.midSystem) return turnOf('system', text === '' ? [] : [{ text }], at)
  if (isBlank(text)) return turnOf('user', [], at)
  const why = 'the model takes a system message only at the top'
  writer.notes.push({ kind: 'changed', what: 'system message to labelled user text', why, at })
  return turnOf('user', [{ text: `${systemLabel}\n${text}` }], at)
}

function userItems(message: UserMessage, at: string, writer: Writer): Item[] {
  const items: Item[] = []
  for (const part of message.parts) {
    switch (part.type) {
      case 'text':
        if (part.text !== '') items.push({ text: cleanText(part.text, at, writer.notes) })
        break
      case 'media':
        items.push(image(part, writer.target.capabilities.media) ?? standIn(part, at, writer))
        break
      case 'compaction':
        if (part.text) items.push({ text: cleanText(`${summaryLabel}\n${part.text}`, at, writer.notes) })
        else writer.notes.push({ kind: 'dropped', what: 'compaction', why: 'it has no words of ours', at })
        break
      case 'opaque':
        if (part.kind === `${protocolId}/fields` && part.data !== undefined)
          items.push({ fields: part.data as JsonObject })
        else writer.notes.push({ kind: 'dropped', what: part.kind, why: 'it is not of this wire', at })
    }
  }
  return items
}

/** Only bytes: the server never fetches anything. */
function image(part: MediaPart, taken: readonly string[]): { image: string } | undefined {
  if (part.data.kind !== 'base64' || !takesMedia(taken, part.mediaType)) return undefined
  return { image: part.data.base64 }
}

function standIn(part: MediaPart, at: string, writer: Writer): { text: string } {
  const why = 'the model does not take it; a line of text says so'
  writer.notes.push({ kind: 'dropped', what: part.mediaType, why, at })
  return { text: mediaStandIn(part.mediaType, part.name) }
}

function toolItems(message: ToolMessage, at: string, writer: Writer): Item[] {
  return message.parts.map((part) => {
    const { lines, images } = outputOf(part, writer.target.capabilities.resultMedia, at, writer)
    const wire: WireMessage = {
      role: 'tool',
      tool_name: part.name,
      ...(!writer.isIdless(part.callId) && { tool_call_id: writer.idOf(part.callId) }),
      content: resultText(lines.join('\n'), part, images.length > 0),
      ...(images.length > 0 && { images }),
    }
    return { message: wire }
  })
}

function outputOf(part: ToolResultPart, taken: readonly string[], at: string, writer: Writer) {
  const lines: string[] = []
  const images: string[] = []
  for (const piece of part.output) {
    if (piece.type === 'text') {
      if (piece.text !== '') lines.push(cleanText(piece.text, at, writer.notes))
      continue
    }
    const item = image(piece, taken)
    if (item) images.push(item.image)
    else lines.push(standIn(piece, at, writer).text)
  }
  return { lines, images }
}

function flatResults(message: ToolMessage, at: string, writer: Writer): Turn<Item> {
  const items = message.parts.flatMap((part): Item[] => {
    const { lines, images } = outputOf(part, writer.target.capabilities.media, at, writer)
    const text = lines.join('\n') || emptyResultText
    return [
      { text: flatResult(flatResultLabel, part.name, text, part.failed === true) },
      ...images.map((base64) => ({ image: base64 })),
    ]
  })
  if (items.length > 0) {
    const why = 'the model behind this server does not take tool messages'
    writer.notes.push({ kind: 'changed', what: 'tool results to labelled user text', why, at })
  }
  return turnOf('user', items, at)
}

/** The wire has no flag for a failed result, so the text says it, once. */
function resultText(text: string, part: ToolResultPart, mayBeEmpty: boolean): string {
  if (part.failed) return text.startsWith('Error: ') ? text : `Error: ${text || emptyResultText}`
  return text || (mayBeEmpty ? '' : emptyResultText)
}

function writeTurn(turn: Turn<Item>): JsonObject[] {
  const [only] = turn.items
  if (turn.items.length === 1 && only && 'message' in only) return [only.message]
  if (turn.role === 'tool') return turn.items.flatMap((item) => ('message' in item ? [item.message] : []))

  const items = turn.items.flatMap((item) => ('message' in item ? takenApart(item.message) : [item]))
  const texts = items.flatMap((item) => ('text' in item ? [item.text] : []))
  const images = items.flatMap((item) => ('image' in item ? [item.image] : []))
  const calls = items.flatMap((item) => ('call' in item ? [item.call] : []))
  const fields = items.flatMap((item) => ('fields' in item ? [item.fields] : []))
  return [
    {
      role: turn.role,
      content: texts.join('\n'),
      ...(images.length > 0 && { images }),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...Object.assign({}, ...fields),
    },
  ]
}

/** A reply in its own words, as pieces, where it has to be joined with its neighbour; its thinking stays behind. */
function takenApart(message: JsonObject): Item[] {
  const items: Item[] = []
  if (typeof message.content === 'string' && message.content !== '') items.push({ text: message.content })
  if (Array.isArray(message.tool_calls)) {
    for (const call of message.tool_calls) items.push({ call: call as JsonObject })
  }
  return items
}
