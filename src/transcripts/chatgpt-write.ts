// Messages as nodes of a ChatGPT conversation. Ids are derived from the content, so that writing twice gives the same.

import { createHash } from 'node:crypto'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Message, Part } from '../core/message.ts'
import { mediaStandIn, summaryLabel } from '../wires/shared/injected-text.ts'
import { listIn } from '../wires/shared/json-fields.ts'

export function newConversation(messages: readonly Message[]): JsonObject {
  const root = 'client-created-root'
  const empty = {
    title: '',
    mapping: { [root]: { id: root, message: null, parent: null, children: [] } },
    current_node: root,
  }
  return addNodes(empty, messages)
}

/** A copy of the conversation with the messages after its current node. */
export function addNodes(conversation: JsonObject, messages: readonly Message[]): JsonObject {
  const mapping: JsonObject = isObject(conversation.mapping) ? { ...conversation.mapping } : {}
  let parent =
    typeof conversation.current_node === 'string' ? conversation.current_node : (Object.keys(mapping).at(-1) ?? null)
  for (const message of messages.flatMap(nodeMessages)) {
    const id = idFor({ ...message, parent })
    const parentNode = parent === null ? undefined : mapping[parent]
    if (parent !== null && isObject(parentNode)) {
      const children = listIn(parentNode.children)
      mapping[parent] = { ...parentNode, children: [...children, id] }
    }
    mapping[id] = { id, message: { id, ...message }, parent, children: [] }
    parent = id
  }
  return { ...conversation, mapping, current_node: parent }
}

/** In ChatGPT's id format. */
function idFor(value: JsonObject): string {
  const hash = createHash('sha256').update(JSON.stringify(value)).digest('hex')
  return [hash.slice(0, 8), hash.slice(8, 12), hash.slice(12, 16), hash.slice(16, 20), hash.slice(20, 32)].join('-')
}

function nodeMessages(message: Message): JsonObject[] {
  switch (message.role) {
    case 'system':
      return [
        textMessage(
          'system',
          message.parts.map((part) => part.text),
        ),
      ]
    case 'user':
      return [textMessage('user', message.parts.map(wordsOf))]
    case 'assistant': {
      const metadata: JsonObject = message.origin.model === '' ? {} : { model_slug: message.origin.model }
      return message.parts.flatMap(replyNodes).map((node) => ({ ...node, metadata }))
    }
    default:
      return message.parts.map((part) => resultContent(part.name, part.output.map(wordsOf).join('\n')))
  }
}

function textMessage(role: string, parts: Json[]): JsonObject {
  return {
    author: { role, name: null, metadata: {} },
    create_time: null,
    content: { content_type: 'text', parts },
    status: 'finished_successfully',
    weight: 1,
    metadata: {},
    recipient: 'all',
  }
}

function resultContent(name: string, text: string): JsonObject {
  return {
    ...textMessage('tool', []),
    author: { role: 'tool', name, metadata: {} },
    content: { content_type: 'execution_output', text },
  }
}

function callContent(name: string, input: Json): JsonObject {
  return {
    ...textMessage('assistant', []),
    content: { content_type: 'code', language: 'json', text: JSON.stringify(input) },
    recipient: name,
  }
}

function replyNodes(part: Part): JsonObject[] {
  switch (part.type) {
    case 'reasoning': {
      const thoughts = [{ summary: '', content: part.text }]
      return [{ ...textMessage('assistant', []), content: { content_type: 'thoughts', thoughts } }]
    }
    case 'tool-call':
      return [callContent(part.name, part.malformed ?? part.input)]
    case 'server-tool': {
      const question = callContent(part.name, part.input ?? {})
      if (part.output === undefined) return [question]
      const text = typeof part.output === 'string' ? part.output : JSON.stringify(part.output)
      return [question, resultContent(part.name, text)]
    }
    default:
      return [textMessage('assistant', [wordsOf(part)])]
  }
}

function wordsOf(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      return part.text
    case 'compaction':
      return `${summaryLabel}\n${part.text ?? ''}`
    case 'media':
      return part.data.kind === 'url' ? part.data.url : mediaStandIn(part.mediaType, part.name)
    default:
      return JSON.stringify(part)
  }
}
