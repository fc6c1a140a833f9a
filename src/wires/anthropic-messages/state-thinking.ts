// Signatures of thinking. A signature covers the text of its block; on models that bind thinking to its prefix it also
// covers everything before it: system, tools and all earlier content (R-18, R-19; checked 2026-11).
//
// Not in the prefix: cache marks, and other thinking. Thinking may be removed from the start, but a gap makes what
// follows it invalid, and removed thinking may not come back: each block also names the previous one.

import { createHash, type Hash } from 'node:crypto'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { textIn } from '../shared/json-fields.ts'
import { couldBeReal, seal, unseal } from '../shared/seal.ts'

export interface BrokenBlock {
  message: number
  block: number
  why: 'signature' | 'words' | 'prefix'
}

/** Signs the thinking of a reply to this body. */
export function signThinking(content: readonly JsonObject[], body: JsonObject, model: string): JsonObject[] {
  const prefix = prefixOf(body)
  for (const { role, block } of blocksOf(body)) prefix.add(role, block)
  return content.map((block) => {
    const signed = block.type === 'thinking' ? { ...block, signature: signatureOf(block, prefix, model) } : block
    prefix.add('assistant', signed)
    return signed
  })
}

/** The thinking blocks of the body that would be refused, in order. */
export function brokenThinking(body: JsonObject, bound: boolean): BrokenBlock[] {
  const prefix = prefixOf(body)
  let broken: BrokenBlock[] = []
  for (const { role, block, at } of blocksOf(body)) {
    const why = block.type === 'thinking' ? faultOf(block, prefix, bound) : undefined
    if (why) broken.push({ ...at, why })
    // What comes before a compaction is not read any more.
    if (isCompaction(block)) broken = []
    prefix.add(role, block)
  }
  return broken
}

function faultOf(block: JsonObject, prefix: Prefix, bound: boolean): BrokenBlock['why'] | undefined {
  const signature = typeof block.signature === 'string' ? block.signature : ''
  const payload = unseal(signature)
  if (!payload) return couldBeReal(signature) ? undefined : 'signature'
  if (payload.kind !== 'thinking') return 'signature'
  if (payload.words !== digest(textIn(block.thinking))) return 'words'
  const { last } = prefix
  const follows = last === undefined || payload.follows === last
  return bound && (payload.prefix !== prefix.digest() || !follows) ? 'prefix' : undefined
}

function signatureOf(block: JsonObject, prefix: Prefix, model: string): string {
  return seal({
    kind: 'thinking',
    model,
    words: digest(textIn(block.thinking)),
    prefix: prefix.digest(),
    follows: prefix.last ?? '',
  })
}

interface Prefix {
  add(role: string, block: JsonObject): void
  digest(): string
  /** A digest of the last thinking block. */
  readonly last: string | undefined
}

function prefixOf(body: JsonObject): Prefix {
  const system = typeof body.system === 'string' ? [{ type: 'text', text: body.system }] : (body.system ?? [])
  const start = JSON.stringify([unmarked(system), unmarked(body.tools ?? [])])
  let hash: Hash = createHash('sha256').update(start)
  let last: string | undefined
  return {
    add(role, block) {
      if (block.type === 'thinking' || block.type === 'redacted_thinking') {
        last = digest(textIn(block.signature ?? block.data))
        return
      }
      // The server's own compaction is not an edit: what came before it may or may not be there.
      if (isCompaction(block)) {
        hash = createHash('sha256').update(start)
        last = undefined
      }
      hash.update(`\n${role} ${JSON.stringify(unmarked(block))}`)
    },
    digest: () => hash.copy().digest('base64url'),
    get last() {
      return last
    },
  }
}

/** A block without content is a failed compaction, and replaces nothing. */
export function isCompaction(block: JsonObject): boolean {
  return block.type === 'compaction' && typeof block.content === 'string'
}

export function* blocksOf(
  body: JsonObject,
): Generator<{ role: string; block: JsonObject; at: { message: number; block: number } }> {
  const messages = Array.isArray(body.messages) ? body.messages : []
  for (const [i, message] of messages.entries()) {
    if (!isObject(message)) continue
    const { content } = message
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
    if (!Array.isArray(blocks)) continue
    for (const [j, block] of blocks.entries()) {
      if (isObject(block)) yield { role: textIn(message.role), block, at: { message: i, block: j } }
    }
  }
}

/** A block as the model reads it: without cache marks, and without reply-only fields. */
function unmarked(value: Json): Json {
  if (Array.isArray(value)) return value.map(unmarked)
  if (!isObject(value)) return value
  const { cache_control: _mark, citations, caller: _caller, ...rest } = value
  const cited = Array.isArray(citations) && citations.length > 0
  return {
    ...rest,
    ...(Array.isArray(rest.content) && { content: unmarked(rest.content) }),
    ...(cited && { citations }),
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
