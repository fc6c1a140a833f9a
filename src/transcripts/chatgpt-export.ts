// The `conversations.json` of a ChatGPT data export: a list of conversations, each a tree of nodes in `mapping`. The
// current branch is the path from `current_node` up to the root; edited questions and regenerated answers are the other
// branches. Tools are ChatGPT's own: the model writes to a recipient, and a node of role `tool` answers.

import type { Note } from '../core/context.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Message } from '../core/message.ts'
import { readNodes } from './chatgpt-nodes.ts'
import { addNodes, newConversation } from './chatgpt-write.ts'
import {
  sourced,
  unreadable,
  writeBySource,
  type Transcript,
  type TranscriptFormat,
} from '../wires/shared/transcript.ts'

const formatId = 'chatgpt-export'

export const chatgptExportFormat: TranscriptFormat = { id: formatId, recognise, read, write }

function recognise(json: Json): boolean {
  const conversation = Array.isArray(json) ? json[0] : json
  return isObject(conversation) && isObject(conversation.mapping)
}

/** One conversation: the only one in the file, or the first of several. */
function read(json: Json): Transcript {
  const path = Array.isArray(json) ? '$[0]' : '$'
  const conversation = Array.isArray(json) ? json[0] : json
  if (!isObject(conversation) || !isObject(conversation.mapping)) {
    throw unreadable(formatId, path, 'a conversation with a mapping')
  }
  const notes: Note[] = []
  if (Array.isArray(json) && json.length > 1) {
    const why = 'a transcript is one conversation, and the first was read; the file keeps them'
    notes.push({ kind: 'dropped', what: `${json.length - 1} other conversations`, why })
  }
  const branch = currentBranch(conversation, conversation.mapping, path, notes)
  const messages = readNodes(branch, conversation)
  return { messages: sourced(formatId, json, messages), notes }
}

function currentBranch(conversation: JsonObject, mapping: JsonObject, path: string, notes: Note[]): JsonObject[] {
  const branch: JsonObject[] = []
  const seen = new Set<string>()
  let id = typeof conversation.current_node === 'string' ? conversation.current_node : lastLeaf(mapping)
  while (id !== undefined && !seen.has(id)) {
    seen.add(id)
    const node = mapping[id]
    if (!isObject(node)) throw unreadable(formatId, `${path}.mapping.${id}`, 'a node')
    branch.push(node)
    id = typeof node.parent === 'string' && mapping[node.parent] !== undefined ? node.parent : undefined
  }
  const others = Object.entries(mapping).filter(
    ([key, node]) => !seen.has(key) && isObject(node) && isObject(node.message),
  )
  if (others.length > 0) {
    const why = 'only the branch that was last shown is read; the file keeps them'
    notes.push({ kind: 'dropped', what: `${others.length} messages of other branches`, why })
  }
  return branch.toReversed()
}

/** Old exports do not record the current node: then it is the newest leaf. */
function lastLeaf(mapping: JsonObject): string | undefined {
  let last: { id: string; time: number } | undefined
  for (const [id, node] of Object.entries(mapping)) {
    if (!isObject(node) || (Array.isArray(node.children) && node.children.length > 0)) continue
    const time = isObject(node.message) && typeof node.message.create_time === 'number' ? node.message.create_time : 0
    if (!last || time >= last.time) last = { id, time }
  }
  return last?.id
}

/** The original file, with new messages appended to the branch that was read. */
function write(messages: Message[]): Json {
  const fresh: Message[] = []
  const files = writeBySource(messages, formatId, (run) => {
    fresh.push(...run)
    return []
  })
  const file = files.length > 1 ? files.flat() : files[0]
  if (file === undefined) return [newConversation(fresh)]
  if (fresh.length === 0) return file
  const conversation = Array.isArray(file) ? file[0] : file
  if (!isObject(conversation)) return [newConversation(fresh)]
  const longer = addNodes(conversation, fresh)
  return Array.isArray(file) ? [longer, ...file.slice(1)] : longer
}
