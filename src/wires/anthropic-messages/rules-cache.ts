// Cache marks: their number, positions, and the order of their lifetimes.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Report } from './rules.ts'
import type { WireMessage } from './rules-shape.ts'
import { isBlock } from './types.ts'

export function checkCache(body: JsonObject, messages: readonly WireMessage[], report: Report): void {
  const marks = [...marksIn(body.tools, 'tools'), ...marksIn(body.system, 'system')]
  for (const { content, index } of messages) {
    const at = `messages.${index}.content`
    for (const [i, block] of content.entries()) {
      marks.push(...marksIn([block], at, i))
      if (block.type === 'tool_result') marks.push(...marksIn(block.content, `${at}.${i}.tool_result.content`))
      if (block.type === 'text' && block.text === '' && isObject(block.cache_control)) {
        report('R-27', `${at}.${i}.text: cache_control cannot be set for empty text blocks`)
      }
    }
  }
  const automatic = isObject(body.cache_control) ? 1 : 0
  if (marks.length + automatic > 4) {
    const message = `A maximum of 4 blocks with cache_control may be provided. Found ${marks.length + automatic}.`
    report('R-26', message)
  }
  checkLifetimes(marks, report)
}

interface Mark {
  at: string
  ttl: '5m' | '1h'
}

function marksIn(blocks: Json | undefined, at: string, from = 0): Mark[] {
  if (!Array.isArray(blocks)) return []
  return blocks.flatMap((block, i) => {
    const control = isObject(block) || isBlock(block) ? block.cache_control : undefined
    return isObject(control) ? [{ at: `${at}.${from + i}`, ttl: control.ttl === '1h' ? '1h' : '5m' }] : []
  })
}

function checkLifetimes(marks: readonly Mark[], report: Report): void {
  let short = false
  for (const { at, ttl } of marks) {
    if (ttl === '5m') short = true
    else if (short) {
      const message =
        "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`."
      report('R-26', `${at}.cache_control.ttl: ${message}`)
    }
  }
}
