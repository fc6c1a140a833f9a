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
  writingFor,
  type Form,
  type Writing,
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

export function writing(context: Context, target: Target, keepThoughts = false): Writing {
  return writingFor(form, context, target, keepThoughts)
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
export function encodeResults(message: ToolMessage, at: string, write: Writing): JsonObject[] {
  const written = message.parts.map((part) => ({ part, ...resultPieces(part, at, write) }))
  const results = written.map(({ part, inside: content }) =>
    takesTools(write) ? result(part, content, write) : flat(part, content, at, write),
  )
  return [...results, ...written.flatMap(({ after }) => after)]
}

function result(part: ToolResultPart, content: JsonObject[], { target, wireId }: Writing): JsonObject {
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

function flat(part: ToolResultPart, content: JsonObject[], at: string, { notes }: Writing): JsonObject {
  notes.push({
    kind: 'changed',
    what: `result of ${part.name} to labelled text`,
    why: 'the target supports no tools',
    at,
  })
  const text = content.flatMap((piece) => (isText(piece) ? [piece.text] : [])).join('\n')
  return textBlock(flatResult(flatResultLabel, part.name, text || emptyResultText, part.failed === true))
}

export function encodeReply(reply: Reply, at: string, write: Writing): JsonObject[] {
  if (isReplayed(reply, write) && takesTools(write) && sameModel(reply.origin.model, write.target.model)) {
    return cleanJson(replay(reply, at, write), at, write.notes)
  }
  noteReasoning(reply, at, write)
  return withSources(reply, at, write.notes).parts.flatMap((part) => built(part, at, write))
}

function takesTools({ target }: Writing): boolean {
  return target.capabilities.tools
}

/** One model refuses the reasoning of another; Claude accepts that of any Claude. */
function sameModel(a: string, b: string): boolean {
  return a === b || (/claude/i.test(a) && /claude/i.test(b))
}

function replay(reply: Reply, at: string, write: Writing): JsonObject[] {
  const calls = new Map(reply.parts.flatMap((part) => (part.type === 'tool-call' ? [[part.from, part] as const] : [])))
  const drop = (what: string, why: string, rule: string): JsonObject[] => {
    write.notes.push({ kind: 'dropped', what, why, at, rule })
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
    return call ? [{ toolUse: replayedUse(use, call, at, write) }] : drop('a call', 'the log has no such call', 'BC-3')
  })
  if (blocks.some((block) => kindOf(block) !== 'reasoningContent')) return blocks
  return blocks.length > 0 ? drop('reply', 'it is nothing but reasoning', 'BC-16') : []
}

function replayedUse(use: JsonObject, call: ToolCallPart, at: string, write: Writing): JsonObject {
  const [toolUseId, name] = [write.wireId(call.callId), write.names.toWire(call.name)]
  if (toolUseId !== use.toolUseId) {
    const why = 'ids must be unique in a request, and some models require short ones'
    write.notes.push({ kind: 'changed', what: `id of the call of ${call.name}`, why, at, rule: 'BC-11' })
  }
  const input = call.malformed === undefined && isObject(use.input) ? use.input : callInput(call, at, write)
  return { ...use, toolUseId, name, input }
}

function built(part: Part, at: string, write: Writing): JsonObject[] {
  switch (part.type) {
    case 'reasoning':
      return write.keepThoughts && part.text !== ''
        ? [{ reasoningContent: { reasoningText: { text: part.text } } }]
        : []
    case 'media':
      write.notes.push({ kind: 'dropped', what: part.mediaType, why: 'an assistant message cannot have media', at })
      return replyPieces({ ...part, data: { kind: 'file', fileId: '', provider: '' } }, at, { ...write, notes: [] })
    case 'tool-call': {
      const input = callInput(part, at, write)
      if (takesTools(write)) {
        return [{ toolUse: { toolUseId: write.wireId(part.callId), name: write.names.toWire(part.name), input } }]
      }
      write.notes.push({
        kind: 'changed',
        what: `call of ${part.name} to labelled text`,
        why: 'the target supports no tools',
        at,
      })
      return textPieces(flatCall(part.name, input), at, write)
    }
    default:
      return replyPieces(part, at, write)
  }
}
