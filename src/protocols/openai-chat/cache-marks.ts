// Where a prompt cache may end. OpenRouter takes Anthropic's `cache_control`, OpenAI its own breakpoint (GPT-5.6 and
// later, checked 2026-11). Both sit on a content part: so where marks can be set, content is always a list, marked or
// not, and a mark that moves changes nothing else (P4). Replies go back as they came and hold no marks.

import { isObject, type JsonObject } from '../../core/json.ts'
import type { Target } from '../protocol.ts'
import type { Item } from './encode.ts'
import type { ContentPart } from './wire.ts'

export function takesMarks(target: Target): boolean {
  return target.capabilities.cacheMarks === true && !target.quirks.stringContent
}

/** The last part of these items that can hold a mark. */
export function markable(items: readonly Item[]): ContentPart | undefined {
  for (const item of items.toReversed()) {
    if ('part' in item) return item.part
    const { role, content } = item.message
    const last = role === 'tool' && Array.isArray(content) ? content.at(-1) : undefined
    if (isObject(last)) return last
  }
  return undefined
}

export function mark(part: JsonObject, target: Target): void {
  if (!target.quirks.cacheControl) part.prompt_cache_breakpoint = { mode: 'explicit' }
  else part.cache_control = { type: 'ephemeral', ...(target.options.cacheTtl === '1h' && { ttl: '1h' }) }
}

/** Without a system prompt the tools are what comes first; OpenAI has no place for a mark on them. */
export function markTools(fields: JsonObject, target: Target): void {
  const last = Array.isArray(fields.tools) ? fields.tools.at(-1) : undefined
  if (takesMarks(target) && target.quirks.cacheControl && isObject(last)) mark(last, target)
}
