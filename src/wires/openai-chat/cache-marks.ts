// Where a prompt cache may end. OpenRouter takes Anthropic's `cache_control`, OpenAI its own breakpoint (GPT-5.6 and
// later, checked 2026-11). Both sit on a content part: so where marks can be set, content is always a list, marked or
// not, and a mark that moves changes nothing else (P4). Replies go back as they came and hold no marks.

import { isObject, type JsonObject } from '../../core/json.ts'
import type { Target } from '../wire.ts'
import type { Item } from './encode.ts'

export function takesMarks(target: Target): boolean {
  return target.capabilities.cacheMarks === true && !target.quirks.stringContent
}

/** The items with a mark on the last part that can hold one; undefined where none can. */
export function withMark(items: readonly Item[], target: Target): Item[] | undefined {
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index] as Item
    if ('part' in item) return items.with(index, { part: marked(item.part, target) })
    const { role, content } = item.message
    const last = role === 'tool' && Array.isArray(content) ? content.at(-1) : undefined
    if (!Array.isArray(content) || !isObject(last)) continue
    return items.with(index, { message: { ...item.message, content: [...content.slice(0, -1), marked(last, target)] } })
  }
  return undefined
}

function marked<P extends JsonObject>(part: P, target: Target): P {
  if (!target.quirks.cacheControl) return { ...part, prompt_cache_breakpoint: { mode: 'explicit' } }
  return { ...part, cache_control: { type: 'ephemeral', ...(target.options.cacheTtl === '1h' && { ttl: '1h' }) } }
}

/** Without a system prompt the tools are what comes first; OpenAI has no place for a mark on them. */
export function markTools(fields: JsonObject, target: Target): void {
  const { tools } = fields
  const last = Array.isArray(tools) ? tools.at(-1) : undefined
  if (!takesMarks(target) || !target.quirks.cacheControl || !Array.isArray(tools) || !isObject(last)) return
  fields.tools = [...tools.slice(0, -1), marked(last, target)]
}
