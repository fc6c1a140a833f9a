// Compaction on the Responses wire: an encrypted item that replaces what came before it. It comes from a separate
// endpoint, from a trigger item at the end of the input, or automatically when the input has grown past a threshold.
//
// An item from the endpoint comes after the user messages that it keeps; one in a reply makes the server ignore
// everything before it.

import { isObject, type JsonObject } from '../../core/json.ts'
import { summaryLabel } from '../shared/injected-text.ts'
import { objectsIn } from '../shared/json-fields.ts'
import { promptTokens } from '../shared/prompt.ts'
import { promptOf } from './prompt.ts'
import { seal, unseal } from '../shared/seal.ts'
import type { Incoming } from '../service.ts'

export interface MadeCompaction {
  item: JsonObject
  /** What the model sees from now on. */
  items: JsonObject[]
  /** The item is the whole answer. */
  alone: boolean
}

/** The last input item requests it. */
export function requestedCompaction(incoming: Incoming, items: readonly JsonObject[]): MadeCompaction | undefined {
  if (items.at(-1)?.type !== 'compaction_trigger') return undefined
  const item = compactionItem(incoming, items.slice(0, -1), true)
  return { item, items: [item], alone: true }
}

/** The input has grown past `compact_threshold`, and there is something to compact. */
export function autoCompaction(incoming: Incoming, body: JsonObject): MadeCompaction | undefined {
  const setting = objectsIn(body.context_management).find((one) => one.type === 'compaction')
  const threshold = setting?.compact_threshold
  if (typeof threshold !== 'number') return undefined
  if (promptTokens(promptOf(body), incoming.count) < threshold) return undefined
  const items = objectsIn(body.input)
  const lastUser = items.findLastIndex((item) => item.role === 'user')
  if (lastUser <= 0) return undefined
  const item = compactionItem(incoming, items, true)
  return { item, items: [item, ...items.slice(lastUser)], alone: false }
}

export function compactionItem(incoming: Incoming, items: readonly JsonObject[], standsForAll: boolean): JsonObject {
  const { replyId, owner } = incoming
  const { messages } = incoming.read({ ...incoming.body, input: items.filter((item) => !sealedIn(item)) })
  const earlier = items.map((item) => sealedIn(item)?.text).filter((text) => typeof text === 'string')
  const text = [...earlier, incoming.summarise(messages)].join('\n')
  return {
    id: `cmp_${replyId.replace(/^[a-z]+_/, '')}`,
    type: 'compaction',
    encrypted_content: seal({ kind: 'compaction', owner, standsForAll, text }),
  }
}

/** What is left when everything before the newest complete compaction is ignored. */
export function pruned(items: readonly JsonObject[]): JsonObject[] {
  const last = items.findLastIndex((item) => sealedIn(item)?.standsForAll === true)
  return items.slice(Math.max(last, 0))
}

/** The items with every readable summary written out. */
export function readableItems(items: readonly JsonObject[]): JsonObject[] {
  return items
    .filter((item) => item.type !== 'compaction_trigger')
    .map((item) => {
      const text = sealedIn(item)?.text
      return typeof text === 'string'
        ? { type: 'message', role: 'developer', content: `${summaryLabel}\n${text}` }
        : item
    })
}

function sealedIn(item: JsonObject): JsonObject | undefined {
  if (item.type !== 'compaction' || typeof item.encrypted_content !== 'string') return undefined
  const payload = unseal(item.encrypted_content)
  return isObject(payload) ? payload : undefined
}
