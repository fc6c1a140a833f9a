// Responses that a server stores for its clients: the fields that repeat the request, their items, and compaction.

import { isObject, type JsonObject } from '../../core/json.ts'
import type { StoredItems, StoredReplies } from '../service.ts'
import { requestFields } from './state-fields.ts'
import { withItemId } from './state-items.ts'
import { itemId } from './types.ts'
import { writeUsage } from './usage.ts'

export const storedResponses: StoredReplies = {
  endpoint: 'responses',
  fields(body) {
    const id = conversationId(body)
    return { ...requestFields(body), ...(typeof id === 'string' && { conversation: { id } }) }
  },
  previousId: (body) => body.previous_response_id,
  conversationId,
  unknown: (id) => ({ kind: 'not-found', message: `Response with id '${id}' not found.` }),
  unknownPrevious: (id) => ({
    kind: 'bad-input',
    // The code that OpenAI's clients expect.
    code: 'previous_response_not_found',
    message: `Previous response with id '${id}' not found.`,
  }),
  deleted: (id) => ({ id, object: 'response', deleted: true }),
  notCancellable: 'Cannot cancel a synchronous response. Only responses created with background=true can be cancelled.',
  items: responseItems(),
}

function conversationId({ conversation }: JsonObject) {
  return isObject(conversation) ? conversation.id : conversation
}

function responseItems(): StoredItems {
  return {
    withId: withItemId,
    asksForCompaction({ input }) {
      const last = Array.isArray(input) ? input.at(-1) : undefined
      return isObject(last) && last.type === 'compaction_trigger'
    },
    compaction: (exchangeId, token) => ({
      id: itemId('compaction', exchangeId),
      type: 'compaction',
      encrypted_content: token,
    }),
    compacted: ({ replyId, createdAt, output, usage }) => ({
      id: replyId,
      object: 'response.compaction',
      created_at: createdAt,
      output,
      usage: writeUsage(usage),
    }),
  }
}
