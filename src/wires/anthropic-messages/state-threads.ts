// Message threads: a conversation that the Anthropic server stores between turns, under the id of its last reply. Each
// reply can be continued once, within five minutes, with the new messages alone (beta, checked 2026-11).
//
// The error codes are documented; their texts are not recorded, and are ours.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { listIn, textIn } from '../shared/json-fields.ts'
import { anthropicRefusal } from '../shared/refusal.ts'
import type { Incoming } from '../service.ts'
import { createExpiringMap, type ExpiringMap } from '../shared/expiring-map.ts'

interface StoredThread {
  system?: Json
  tools?: Json
  messages: Json[]
  /** The fields that must stay the same, as JSON. */
  fixed: Record<string, string>
  continued: 'no' | 'now' | 'done'
}

export interface Threads {
  stored: ExpiringMap<StoredThread>
  /** The complete request, and the thread it continues from. Throws a Refusal. */
  resolve(incoming: Incoming): { body: JsonObject; from?: StoredThread }
  keep(incoming: Incoming, body: JsonObject, reply: JsonObject, from: StoredThread | undefined): void
}

const lifetimeMs = 5 * 60_000
/** Fields that must stay the same; the list is assumed, because none is published. */
const fixedFields = ['model', 'thinking'] as const

export function createThreads(): Threads {
  const stored = createExpiringMap<StoredThread>(lifetimeMs)
  return {
    stored,
    resolve(incoming) {
      const { thread, ...body } = incoming.body
      if (!isObject(thread)) return { body }
      const unsupported = ['context_management', 'fallbacks'].filter(
        (field) => isObject(body[field]) || Array.isArray(body[field]),
      )
      if (unsupported.length > 0) {
        throw anthropicRefusal(
          400,
          'thread_unsupported_request',
          `thread: not supported together with ${unsupported.join(', ')}.`,
          {
            unsupported,
          },
        )
      }
      return thread.type === 'continue' ? continueThread(incoming, textIn(thread.previous_message_id), body) : { body }
    },
    keep({ body: sent, owner, now, replyId }, body, reply, from) {
      if (!isObject(sent.thread)) return
      if (from) from.continued = 'done'
      const thread: StoredThread = {
        ...(body.system !== undefined && { system: body.system }),
        ...(body.tools !== undefined && { tools: body.tools }),
        messages: [...unmarkedMessages(body.messages), { role: 'assistant', content: reply.content ?? [] }],
        fixed: fixedIn(body),
        continued: 'no',
      }
      stored.put(replyId, owner, thread, now)
    },
  }

  function continueThread(incoming: Incoming, id: string, body: JsonObject): { body: JsonObject; from: StoredThread } {
    const from = stored.get(id, incoming.owner, incoming.now)
    if (!from) {
      throw anthropicRefusal(404, 'thread_not_found', `No usable thread state was found for previous_message_id ${id}.`)
    }
    if (from.continued === 'done') {
      throw anthropicRefusal(400, 'thread_already_continued', `The response ${id} has already been continued.`)
    }
    if (from.continued === 'now') {
      throw anthropicRefusal(400, 'thread_continue_in_flight', `Another request is still continuing from ${id}.`)
    }
    const fixed = fixedIn(body)
    const changed = fixedFields.filter((field) => from.fixed[field] !== fixed[field])
    const repeated = (['system', 'tools'] as const).filter((field) => body[field] !== undefined)
    if (changed.length > 0 || repeated.length > 0) {
      const fields = [...changed, ...repeated].join(', ')
      throw anthropicRefusal(
        400,
        'thread_fingerprint_mismatch',
        `These fields belong to the thread and cannot be sent again: ${fields}.`,
      )
    }
    const messages = [...from.messages, ...listIn(body.messages)]
    const { system, tools } = from
    return {
      body: { ...body, ...(system !== undefined && { system }), ...(tools !== undefined && { tools }), messages },
      from,
    }
  }
}

function fixedIn(body: JsonObject): Record<string, string> {
  return Object.fromEntries(fixedFields.map((field) => [field, JSON.stringify(body[field] ?? null)]))
}

/** The marks of an answered message were set for its own request. */
function unmarkedMessages(messages: Json | undefined): Json[] {
  if (!Array.isArray(messages)) return []
  return messages.map((message) => {
    if (!isObject(message) || !Array.isArray(message.content)) return message
    const content = message.content.map((block) => {
      if (!isObject(block)) return block
      const { cache_control: _mark, ...rest } = block
      return rest
    })
    return { ...message, content }
  })
}
