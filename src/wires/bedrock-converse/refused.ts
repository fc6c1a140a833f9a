// Requests that Converse refuses.

import type { JsonObject } from '../../core/json.ts'
import { clockInput, put, refused, type RefusedCheck } from '../shared/refused-check.ts'

const user: JsonObject = { role: 'user', content: [{ text: 'Say ok.' }] }
function toolConfig(spec: JsonObject): JsonObject {
  return { tools: [{ toolSpec: { name: 'clock', inputSchema: { json: clockInput }, ...spec } }] }
}

export const refusedRequests: readonly RefusedCheck[] = [
  refused(
    'BC-1',
    'a conversation that starts with the assistant',
    put({ messages: [{ ...user, role: 'assistant' }, user] }),
  ),
  refused('BC-2', 'two messages of the user in a row', put({ messages: [user, user] })),
  refused('BC-6', 'a message without content', put({ messages: [{ role: 'user', content: [] }] })),
  refused('BC-9', 'a tool with a space in its name', put({ toolConfig: toolConfig({ name: 'the clock' }) })),
  refused('BC-10', 'a tool with an empty description', put({ toolConfig: toolConfig({ description: '' }) })),
]
