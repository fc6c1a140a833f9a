// A reply as steps: its native steps if this provider wrote it on this wire, including thoughts with signatures;
// otherwise built from its parts, without the thoughts of other providers.

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
import {
  contentKind,
  hasSignature,
  isStep,
  mediaKind,
  protocolId,
  textContent,
  type Content,
  type Step,
} from './types.ts'

const form: Form = {
  id: protocolId,
  text: textContent,
  bytes: (mediaType, data) => mediaContent(mediaType, { data }),
  file: (mediaType, uri) => mediaContent(mediaType, { uri }),
  own: ({ kind, data }) => (kind.startsWith(contentKind) && isObject(data) ? data : undefined),
  ...googleForm,
}

function mediaContent(mediaType: string, where: { data: string } | { uri: string }): Content | undefined {
  const type = mediaKind(mediaType)
  return type && { type, mime_type: mediaType, ...where }
}

export function writing(context: Context, target: Target, keepThoughts = false): Writing {
  return writingFor(form, context, target, keepThoughts)
}

export function encodeReply(reply: Reply, at: string, write: Writing): Step[] {
  const steps = isReplayed(reply, write) ? replay(reply, at, write) : build(reply, at, write)
  const clean = cleanJson(steps, at, write.notes)
  return write.target.capabilities.signedCalls ? signed(clean, at, write) : clean
}

function replay(reply: Reply, at: string, write: Writing): Step[] {
  const steps = reply.native.filter(isObject)
  for (const part of reply.parts) {
    if (part.type !== 'tool-call' || part.from === undefined) continue
    const step = steps[part.from]
    const wire = { id: write.wireId(part.callId), arguments: 'arguments' as const }
    if (isStep(step, 'function_call')) steps[part.from] = patchedCall(step, part, wire, at, write)
  }
  return steps
}

/**
 * The signature of a call is on the thought before it, so an unsigned call gets a placeholder thought. All steps are
 * signed, not only those of the current turn, so that they stay the same when the next begins.
 */
function signed(steps: Step[], at: string, { notes }: Writing): Step[] {
  const first = steps.findIndex((step) => step.type === 'function_call')
  const call = steps[first]
  if (!call || hasSignature(call)) return steps
  if (steps.slice(0, first).some((step) => step.type === 'thought' && hasSignature(step))) return steps
  const why = 'the model wants its calls signed, and none was made for this one'
  notes.push({ kind: 'added', what: 'stand-in thought signature', why, at, rule: 'G-6' })
  return steps.toSpliced(first, 0, { type: 'thought', signature: skipSignature })
}

function build(reply: Reply, at: string, write: Writing): Step[] {
  noteReasoning(reply, at, write)
  const steps: Step[] = []
  let content: Content[] = []
  const speak = () => {
    if (content.length > 0) steps.push({ type: 'model_output', content })
    content = []
  }
  for (const part of withSources(reply, at, write.notes).parts) {
    const step = ownStep(part, at, write)
    if (step) {
      speak()
      steps.push(step)
    } else {
      content.push(...replyPieces(part, at, write))
    }
  }
  speak()
  return steps
}

function ownStep(part: Part, at: string, write: Writing): Step | undefined {
  if (part.type === 'tool-call') {
    const input = callInput(part, at, write)
    const name = write.names.toWire(part.name)
    return { type: 'function_call', id: write.wireId(part.callId), name, arguments: input }
  }
  if (part.type === 'opaque' && part.kind.startsWith(`${protocolId}/`) && !part.kind.startsWith(contentKind)) {
    return isObject(part.data) ? part.data : undefined
  }
  if (part.type === 'reasoning' && write.keepThoughts) return { type: 'thought', summary: [textContent(part.text)] }
  return undefined
}
