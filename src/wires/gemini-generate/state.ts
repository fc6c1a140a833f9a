// What a server does around generateContent: explicit caches, and thought signatures. These are issued with the first
// call of a step, and checked only on the calls of the current turn. Google's documented placeholder for calls from
// elsewhere is accepted.

import { isObject, type JsonObject } from '../../core/json.ts'
import { geminiVersion } from '../google/models.ts'
import { digestOf, escapes } from '../google/thought-signature.ts'
import { functionCallOf, listOf } from './types.ts'
import { createGeminiCaches, withCachedTokens } from './state-caches.ts'
import { refusalFor } from '../shared/refusal.ts'
import { couldBeReal, seal, unseal } from '../shared/seal.ts'
import type { Incoming, Opened, ServerState } from '../service.ts'

export function createGeminiState(): ServerState {
  const caches = createGeminiCaches()
  return {
    visit: ({ id }, request) => ({ body: caches.visit(id, request) }),
    expire: (id) => caches.expire(id),
    clear: () => caches.clear(),
    open(incoming): Opened {
      const { model, owner, now } = incoming
      const { body, cached } = caches.expand(incoming.body, owner, now)
      return {
        body,
        see() {
          checkSignatures({ ...incoming, body })
          const finish = (whole: JsonObject) => {
            const counted = withCachedTokens(whole, cached)
            return (geminiVersion(model) ?? 0) < 300 ? counted : signed(counted, model)
          }
          return { view: body, finish }
        },
      }
    },
  }
}

function checkSignatures({ body, protocol }: Incoming): void {
  const contents = listOf(body.contents).filter(isObject)
  const asks = (content: JsonObject) =>
    content.role !== 'model' && !listOf(content.parts).some((part) => isObject(part) && 'functionResponse' in part)
  for (const content of contents.slice(contents.findLastIndex(asks) + 1)) {
    for (const part of listOf(content.parts)) {
      const call = functionCallOf(part)
      const signature = isObject(part) ? (part.thoughtSignature ?? part.thought_signature) : undefined
      if (!call || typeof signature !== 'string' || escapes.has(signature)) continue
      const payload = unseal(signature)
      if (payload ? payload.call === digestOf(call) : couldBeReal(signature)) continue
      const message = 'Unable to submit request because Thought signature is not valid.'
      throw refusalFor(protocol, { rule: 'G-7', status: 400, type: 'INVALID_ARGUMENT', message })
    }
  }
}

/** The complete reply with the emulator's signature on its first call. */
function signed(whole: JsonObject, model: string): JsonObject {
  const [candidate, ...others] = listOf(whole.candidates)
  if (!isObject(candidate) || !isObject(candidate.content)) return whole
  const parts = listOf(candidate.content.parts)
  const first = parts.findIndex((part) => functionCallOf(part) !== undefined)
  const part = parts[first]
  const call = functionCallOf(part)
  if (!isObject(part) || !call) return whole
  const thoughtSignature = seal({ kind: 'thought', model, call: digestOf(call) })
  const content = { ...candidate.content, parts: parts.with(first, { ...part, thoughtSignature }) }
  return { ...whole, candidates: [{ ...candidate, content }, ...others] }
}
