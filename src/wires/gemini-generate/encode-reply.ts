// A reply as the parts of a model content: its native data if this provider wrote it on this wire, otherwise built from
// its parts. Gemini 3 refuses a step whose first call has no signature, in both cases.

import type { Context } from '../../core/context.ts'
import { isObject } from '../../core/json.ts'
import type { Part, Reply } from '../../core/message.ts'
import {
  callInput,
  isReplayed,
  noteReasoning,
  patchedCall,
  replyPieces,
  writingFor,
  type Form,
  type Writing,
} from '../shared/pieces.ts'
import { googleForm } from '../google/options.ts'
import { cleanJson } from '../shared/clean-json.ts'
import { skipSignature } from '../google/models.ts'
import { withSources } from '../shared/server-tool-text.ts'
import type { Target } from '../wire.ts'
import { aboutTheAnswer, functionCallOf, protocolId, type GeminiPart } from './types.ts'

const form: Form = {
  id: protocolId,
  text: (text) => ({ text }),
  bytes: (mimeType, data) => ({ inlineData: { mimeType, data } }),
  file: (mimeType, fileUri) => ({ fileData: { mimeType, fileUri } }),
  own(part) {
    const [protocol, kind = ''] = part.kind.split('/')
    return protocol === protocolId && isObject(part.data) && !aboutTheAnswer.includes(kind) ? part.data : undefined
  },
  ...googleForm,
}

export function writing(context: Context, target: Target, keepThoughts = false): Writing {
  return writingFor(form, context, target, keepThoughts)
}

export function encodeReply(reply: Reply, at: string, write: Writing): GeminiPart[] {
  const parts = isReplayed(reply, write) ? replay(reply, at, write) : build(reply, at, write)
  const clean = cleanJson(parts, at, write.notes)
  return write.target.capabilities.signedCalls ? signed(clean, at, write) : clean
}

function replay(reply: Reply, at: string, write: Writing): GeminiPart[] {
  const parts = reply.native.filter(isObject)
  for (const part of reply.parts) {
    if (part.type !== 'tool-call' || part.from === undefined) continue
    const call = functionCallOf(parts[part.from])
    const id = part.alias === undefined ? undefined : write.wireId(part.callId)
    const wire = { id, arguments: 'args' as const }
    if (call) parts[part.from] = { ...parts[part.from], functionCall: patchedCall(call, part, wire, at, write) }
  }
  return parts
}

/** G-6 checks the current turn only; all steps are signed, so that they stay the same when the next turn begins. */
function signed(parts: GeminiPart[], at: string, { notes }: Writing): GeminiPart[] {
  const first = parts.findIndex((part) => functionCallOf(part) !== undefined)
  const call = parts[first]
  if (!call || (typeof call.thoughtSignature === 'string' && call.thoughtSignature !== '')) return parts
  const why = 'the model wants a signature on the first call of a step, and none was made for this one'
  notes.push({ kind: 'added', what: 'stand-in thought signature', why, at, rule: 'G-6' })
  return parts.with(first, { ...call, thoughtSignature: skipSignature })
}

function build(reply: Reply, at: string, write: Writing): GeminiPart[] {
  noteReasoning(reply, at, write)
  return withSources(reply, at, write.notes).parts.flatMap((part) => builtPart(part, at, write))
}

function builtPart(part: Part, at: string, write: Writing): GeminiPart[] {
  if (part.type === 'reasoning') {
    return write.keepThoughts && part.text !== '' ? [{ text: part.text, thought: true }] : []
  }
  if (part.type !== 'tool-call') return replyPieces(part, at, write)
  const args = callInput(part, at, write)
  const id = write.target.capabilities.callIds === false ? {} : { id: write.wireId(part.callId) }
  return [{ functionCall: { ...id, name: write.names.toWire(part.name), args } }]
}
