// What a server does around generateContent: explicit caches, and thought signatures. These are issued with the first
// call of a step, and checked only on the calls of the current turn. Google's documented placeholder for calls from
// elsewhere is accepted.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { digestOf, escapes, geminiVersion } from '../google/models.ts'
import type { EndpointRequest, Incoming, Opened, ServerState } from '../service.ts'
import { objectsIn, textIn, valuesIn } from '../shared/json-fields.ts'
import { lettersFrom } from '../shared/letters.ts'
import { promptTokens } from '../shared/prompt.ts'
import { Refusal, refusalFor } from '../shared/refusal.ts'
import { couldBeReal, seal, unseal } from '../shared/seal.ts'
import { promptOf } from './service.ts'
import { functionCallOf } from './types.ts'

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
          const finish = (reply: JsonObject) => {
            const counted = withCachedTokens(reply, cached)
            return (geminiVersion(model) ?? 0) < 300 ? counted : signReply(counted, model)
          }
          return { view: body, finish }
        },
      }
    },
  }
}

function checkSignatures({ body, protocol }: Incoming): void {
  const contents = valuesIn(body.contents).filter(isObject)
  const asks = (content: JsonObject) =>
    content.role !== 'model' && !valuesIn(content.parts).some((part) => isObject(part) && 'functionResponse' in part)
  for (const content of contents.slice(contents.findLastIndex(asks) + 1)) {
    for (const part of valuesIn(content.parts)) {
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
function signReply(reply: JsonObject, model: string): JsonObject {
  const [candidate, ...others] = valuesIn(reply.candidates)
  if (!isObject(candidate) || !isObject(candidate.content)) return reply
  const parts = valuesIn(candidate.content.parts)
  const first = parts.findIndex((part) => functionCallOf(part) !== undefined)
  const part = parts[first]
  const call = functionCallOf(part)
  if (!isObject(part) || !call) return reply
  const thoughtSignature = seal({ kind: 'thought', model, call: digestOf(call) })
  const content = { ...candidate.content, parts: parts.with(first, { ...part, thoughtSignature }) }
  return { ...reply, candidates: [{ ...candidate, content }, ...others] }
}

// Explicit caches of Gemini: content that is stored under a name, and prepended to the contents of requests that name
// it.

interface GeminiCaches {
  /** Creates, lists, reads, changes and deletes. Throws a Refusal. */
  visit(id: string | undefined, visit: EndpointRequest): Json
  /** The request with the cached content, and how many tokens of it are cached. Throws a Refusal. */
  expand(body: JsonObject, owner: string, now: number): { body: JsonObject; cached: number }
  expire(id: string): boolean
  clear(): void
}

interface Cache {
  owner: string
  content: JsonObject
  tokens: number
  createdAt: number
  updatedAt: number
  expiresAt: number
  displayName: string
  model: string
}

const usualLifetime = 3_600_000

function createGeminiCaches(): GeminiCaches {
  const caches = new Map<string, Cache>()

  return {
    visit(id, visit) {
      const { method, owner, now } = visit
      if (id === undefined) return method === 'POST' ? create(visit) : list(owner, now)
      const name = `cachedContents/${id}`
      const cache = findCache(name, owner, now)
      if (method === 'DELETE') {
        caches.delete(name)
        return {}
      }
      if (method === 'PATCH') {
        cache.expiresAt = expiryOf(visit.body, now) ?? cache.expiresAt
        cache.updatedAt = now
      }
      return cacheBody(name, cache)
    },
    expand(body, owner, now) {
      const name = textIn(body.cachedContent)
      // A request that also sends what the cache contains is refused by the rules.
      if (name === '' || ['systemInstruction', 'tools', 'toolConfig'].some((field) => body[field] !== undefined)) {
        return { body, cached: 0 }
      }
      const { content, tokens } = findCache(name, owner, now)
      const { cachedContent: _, ...rest } = body
      const contents = [...objectsIn(content.contents), ...objectsIn(body.contents)]
      return { body: { ...content, ...rest, contents }, cached: tokens }
    },
    expire: (id) => caches.delete(id),
    clear: () => caches.clear(),
  }

  function create({ body, owner, now, seed, count }: EndpointRequest): Json {
    const { model, ttl: _, expireTime: __, displayName, ...content } = body
    if (typeof model !== 'string') throw refusal(400, 'INVALID_ARGUMENT', 'CachedContent model is required.')
    const tokens = promptTokens(promptOf({ contents: [], ...content }), count)
    const least = 1024
    if (tokens < least) {
      const message = `Cached content is too small. total_token_count=${tokens}, min_total_token_count=${least}`
      throw refusal(400, 'INVALID_ARGUMENT', message)
    }
    const name = `cachedContents/${lettersFrom(seed, 24).toLowerCase()}`
    const expiresAt = expiryOf(body, now) ?? now + usualLifetime
    const times = { createdAt: now, updatedAt: now, expiresAt }
    caches.set(name, { owner, content, tokens, ...times, displayName: textIn(displayName), model })
    return cacheBody(name, findCache(name, owner, now))
  }

  function list(owner: string, now: number): Json {
    const owned = [...caches].filter(([, cache]) => cache.owner === owner && cache.expiresAt > now)
    return { cachedContents: owned.map(([name, cache]) => cacheBody(name, cache)) }
  }

  function findCache(name: string, owner: string, now: number): Cache {
    const cache = caches.get(name)
    if (cache && cache.owner === owner && cache.expiresAt > now) return cache
    throw refusal(403, 'PERMISSION_DENIED', 'CachedContent not found (or permission denied)')
  }
}

/** When the cache expires, by `ttl` in seconds or by a time. */
function expiryOf({ ttl, expireTime }: JsonObject, now: number): number | undefined {
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(textIn(ttl))?.[1]
  if (seconds !== undefined) return now + Number(seconds) * 1000
  const time = Date.parse(textIn(expireTime))
  return Number.isNaN(time) ? undefined : time
}

function cacheBody(name: string, cache: Cache): JsonObject {
  return {
    name,
    model: cache.model,
    displayName: cache.displayName,
    createTime: new Date(cache.createdAt).toISOString(),
    updateTime: new Date(cache.updatedAt).toISOString(),
    expireTime: new Date(cache.expiresAt).toISOString(),
    usageMetadata: { totalTokenCount: cache.tokens },
  }
}

function refusal(status: number, type: string, message: string): Refusal {
  return new Refusal(status, { error: { code: status, message, status: type } })
}

/** The usage of a reply, with the tokens that came from an explicit cache. */
function withCachedTokens(reply: JsonObject, cached: number): JsonObject {
  if (cached === 0 || !isObject(reply.usageMetadata)) return reply
  return { ...reply, usageMetadata: { ...reply.usageMetadata, cachedContentTokenCount: cached } }
}
