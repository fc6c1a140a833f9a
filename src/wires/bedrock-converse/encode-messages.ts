// Replies and results as content of Converse: a reply's native data if this model wrote it here, otherwise built from
// its parts, without the reasoning of other models.

import type { Context } from '../../core/context.ts'
import { isObject, type JsonObject } from '../../core/json.ts'
import type { Part, Reply, ToolCallPart, ToolMessage, ToolResultPart } from '../../core/message.ts'
import { cleanJson } from '../shared/clean-json.ts'
import { emptyResultText, flatCall, flatResult, flatResultLabel } from '../shared/injected-text.ts'
import {
  callInput,
  isReplayed,
  isText,
  noteReasoning,
  replyPieces,
  resultPieces,
  textPieces,
  createEncoding,
  type Form,
  type Encoding,
} from '../shared/pieces.ts'
import { withSources } from '../shared/server-tool-text.ts'
import { isBlank } from '../shared/text.ts'
import type { Target } from '../wire.ts'
import {
  callIdGrammar,
  documentFormats,
  imageFormats,
  inside,
  isSignedReasoning,
  kindOf,
  protocolId,
  shortIds,
  textBlock,
  toolNameLength,
  toolNamePattern,
} from './types.ts'

const form: Form = {
  id: protocolId,
  text: textBlock,
  bytes: mediaBlock,
  file: () => undefined,
  own: ({ kind, data }) => (kind.startsWith(`${protocolId}/`) && isObject(data) ? data : undefined),
  ids: ({ capabilities: { callIdLength } }) => (callIdLength === undefined ? callIdGrammar : shortIds(callIdLength)),
  names: { pattern: toolNamePattern, length: toolNameLength },
  blanks: 'BC-6',
  midSystem: 'BC-2',
}

export function encodingFor(context: Context, target: Target, keepThoughts = false): Encoding {
  return createEncoding(form, context, target, keepThoughts)
}

/** The name of a document is decided when all of them are known. */
function mediaBlock(mediaType: string, base64: string): JsonObject | undefined {
  const image = imageFormats[mediaType]
  if (image !== undefined) return { image: { format: image, source: { bytes: base64 } } }
  const document = documentFormats[mediaType]
  return document === undefined
    ? undefined
    : { document: { format: document, name: 'document', source: { bytes: base64 } } }
}

/** All results of the message, and after them what a result cannot contain. */
export function encodeResults(message: ToolMessage, at: string, encoding: Encoding): JsonObject[] {
  const encoded = message.parts.map((part) => ({ part, ...resultPieces(part, at, encoding) }))
  const results = encoded.map(({ part, inside: content }) =>
    takesTools(encoding) ? result(part, content, encoding) : flatResultBlock(part, content, at, encoding),
  )
  return [...results, ...encoded.flatMap(({ after }) => after)]
}

function result(part: ToolResultPart, content: JsonObject[], { target, wireId }: Encoding): JsonObject {
  const blocks = content.length > 0 ? content : [textBlock(emptyResultText)]
  // Models whose results support media also support a status; for the others it is written into the text.
  const hasStatus = target.capabilities.resultMedia.length > 0
  return {
    toolResult: {
      toolUseId: wireId(part.callId),
      content: part.failed && !hasStatus ? failedInWords(blocks) : blocks,
      ...(part.failed && hasStatus && { status: 'error' }),
    },
  }
}

function failedInWords([first = textBlock(''), ...rest]: JsonObject[]): JsonObject[] {
  if (!isText(first)) return [textBlock('Error:'), first, ...rest]
  return [first.text.startsWith('Error: ') ? first : textBlock(`Error: ${first.text}`), ...rest]
}

function flatResultBlock(part: ToolResultPart, content: JsonObject[], at: string, { notes }: Encoding): JsonObject {
  notes.push({
    kind: 'changed',
    what: `result of ${part.name} to labelled text`,
    why: 'the target supports no tools',
    at,
  })
  const text = content.flatMap((piece) => (isText(piece) ? [piece.text] : [])).join('\n')
  return textBlock(flatResult(flatResultLabel, part.name, text || emptyResultText, part.failed === true))
}

export function encodeReply(reply: Reply, at: string, encoding: Encoding): JsonObject[] {
  if (isReplayed(reply, encoding) && takesTools(encoding) && sameModel(reply.origin.model, encoding.target.model)) {
    return cleanJson(replay(reply, at, encoding), at, encoding.notes)
  }
  noteReasoning(reply, at, encoding)
  return withSources(reply, at, encoding.notes).parts.flatMap((part) => buildPart(part, at, encoding))
}

function takesTools({ target }: Encoding): boolean {
  return target.capabilities.tools
}

/** One model refuses the reasoning of another; Claude accepts that of any Claude. */
function sameModel(a: string, b: string): boolean {
  return a === b || (/claude/i.test(a) && /claude/i.test(b))
}

function replay(reply: Reply, at: string, encoding: Encoding): JsonObject[] {
  const calls = new Map(reply.parts.flatMap((part) => (part.type === 'tool-call' ? [[part.from, part] as const] : [])))
  const drop = (what: string, why: string, rule: string): JsonObject[] => {
    encoding.notes.push({ kind: 'dropped', what, why, at, rule })
    return []
  }
  const blocks = reply.native.filter(isObject).flatMap((block, index) => {
    if (isText(block) && isBlank(block.text)) return drop('blank text', 'the wire refuses it', 'BC-6')
    if (kindOf(block) === 'reasoningContent' && !isSignedReasoning(block)) {
      return drop('reasoning', 'nothing signs it, and only signed reasoning is read', 'BM-1')
    }
    const use = inside(block, 'toolUse')
    const call = calls.get(index)
    if (!use || use.type !== undefined) return [block]
    return call ? [{ toolUse: replayUse(use, call, at, encoding) }] : drop('a call', 'the log has no such call', 'BC-3')
  })
  if (blocks.some((block) => kindOf(block) !== 'reasoningContent')) return blocks
  return blocks.length > 0 ? drop('reply', 'it is nothing but reasoning', 'BC-16') : []
}

function replayUse(use: JsonObject, call: ToolCallPart, at: string, encoding: Encoding): JsonObject {
  const [toolUseId, name] = [encoding.wireId(call.callId), encoding.names.toWire(call.name)]
  if (toolUseId !== use.toolUseId) {
    const why = 'ids must be unique in a request, and some models require short ones'
    encoding.notes.push({ kind: 'changed', what: `id of the call of ${call.name}`, why, at, rule: 'BC-11' })
  }
  const input = call.malformed === undefined && isObject(use.input) ? use.input : callInput(call, at, encoding)
  return { ...use, toolUseId, name, input }
}

function buildPart(part: Part, at: string, encoding: Encoding): JsonObject[] {
  switch (part.type) {
    case 'reasoning':
      return encoding.keepThoughts && part.text !== ''
        ? [{ reasoningContent: { reasoningText: { text: part.text } } }]
        : []
    case 'media':
      encoding.notes.push({ kind: 'dropped', what: part.mediaType, why: 'an assistant message cannot have media', at })
      return replyPieces({ ...part, data: { kind: 'file', fileId: '', provider: '' } }, at, { ...encoding, notes: [] })
    case 'tool-call': {
      const input = callInput(part, at, encoding)
      if (takesTools(encoding)) {
        return [{ toolUse: { toolUseId: encoding.wireId(part.callId), name: encoding.names.toWire(part.name), input } }]
      }
      encoding.notes.push({
        kind: 'changed',
        what: `call of ${part.name} to labelled text`,
        why: 'the target supports no tools',
        at,
      })
      return textPieces(flatCall(part.name, input), at, encoding)
    }
    default:
      return replyPieces(part, at, encoding)
  }
}
