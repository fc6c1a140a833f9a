// A summary by OpenAI that only it can read: items that are sent unchanged, with an encrypted one at their end (checked
// 2026-11).

import { isObject } from '../../core/json.ts'
import type { Compacting } from '../wire.ts'
import { readUsage } from './usage.ts'

export const compacting: Compacting = {
  kind: 'question',
  path: '/responses/compact',
  fields: ['model', 'input', 'instructions', 'prompt_cache_key'],
  read(answer) {
    const { output, usage } = isObject(answer) ? answer : {}
    const items = Array.isArray(output) ? output : []
    const isSealed = items.some((item) => isObject(item) && item.type === 'compaction' && item.encrypted_content)
    return { items: isSealed ? items : [], usage: readUsage(usage) }
  },
}
