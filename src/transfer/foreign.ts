// Conversations from other programs, as archives: a list of messages becomes a new conversation. The exports of ChatGPT
// and Claude have many conversations in one file; ChatGPT's are imported as whole trees, not only the current branch.

import { badInput } from '../core/error.ts'
import type { Note } from '../core/context.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Message } from '../core/message.ts'
import { shortTitle, titleOf } from '../core/title.ts'
import type { Archive, ArchivedEntry } from '../store/archive.ts'
import { uuidv7 } from '../store/ids.ts'
import { readTranscript } from '../transcripts/index.ts'
import { mostEntries, type ReadArchive } from './archive-read.ts'

/** `json`: the value of the file, or its text if it is JSON Lines. */
export function readForeign(
  json: Json,
  format: string | undefined,
  now: string,
  progress: (share: number) => void = () => {},
): ReadArchive[] {
  const conversations = conversationsIn(json)
  return (conversations ?? [json]).flatMap((conversation, i, all) => {
    progress(i / all.length)
    // An export also contains empty conversations.
    if (conversations && isEmpty(conversation)) return []
    return [readConversation(conversation, format, now)]
  })
}

/** The conversations in a data export. */
function conversationsIn(json: Json): Json[] | undefined {
  const list = isObject(json) && Array.isArray(json['conversations']) ? json['conversations'] : json
  if (!Array.isArray(list) || list.length === 0) return undefined
  return list.every((item) => isObject(item) && (isObject(item['mapping']) || Array.isArray(item['chat_messages'])))
    ? list
    : undefined
}

function isEmpty(json: Json): boolean {
  if (!isObject(json)) return true
  const { mapping, chat_messages: messages } = json
  if (isObject(mapping)) return !Object.values(mapping).some((node) => isObject(node) && isObject(node['message']))
  return Array.isArray(messages) && messages.length === 0
}

function readConversation(json: Json, format: string | undefined, now: string): ReadArchive {
  const { messages, system, notes } = readTranscript(json, format === undefined ? {} : { format })
  const branches = isObject(json) && isObject(json['mapping']) ? otherBranches(json, json['mapping']) : []
  const at = timeIn(json, ['update_time', 'updated_at']) ?? now
  const entries = new Map<string, ArchivedEntry>()
  const head = addPath(entries, messages, at)
  for (const branch of branches) addPath(entries, branch.map(withoutSource), at)
  if (entries.size > mostEntries) throw badInput(`Conversations are limited to ${mostEntries} messages.`)
  const archive: Archive = {
    conversation: {
      id: uuidv7(),
      ...titleIn(json, messages),
      labels: [],
      settings: system && system.length > 0 ? { system: system.map((part) => part.text).join('\n') } : {},
      createdAt: timeIn(json, ['create_time', 'created_at']) ?? at,
      head,
    },
    branches: [],
    entries: [...entries.values()],
    exchanges: [],
    toolRuns: [],
    overlays: [],
  }
  return { archive, notes: branches.length > 0 ? notes.filter((note) => !isAboutBranches(note)) : notes }
}

/** Adds messages to the tree, after the beginning that they share with earlier ones. Returns the last entry. */
function addPath(entries: Map<string, ArchivedEntry>, messages: readonly Message[], at: string): string | null {
  let parentId: string | null = null
  for (const message of messages) {
    const key: string = `${parentId} ${JSON.stringify(withoutSource(message))}`
    let entry: ArchivedEntry | undefined = entries.get(key)
    if (!entry) {
      entry = { id: uuidv7(), parentId, at, message }
      entries.set(key, entry)
    }
    parentId = entry.id
  }
  return parentId
}

function withoutSource<M extends Message>(message: M): M {
  const { source: _, ...others } = message
  return others as M
}

/** The paths to all leaves of the tree except the current one. */
function otherBranches(conversation: JsonObject, mapping: JsonObject): Message[][] {
  const nodes = Object.entries(mapping)
  if (nodes.length > mostEntries) throw badInput(`Conversations are limited to ${mostEntries} nodes.`)
  const parents = new Set(nodes.map(([, node]) => (isObject(node) ? node['parent'] : undefined)))
  const leaves = nodes.filter(([id, node]) => isObject(node) && isObject(node['message']) && !parents.has(id))
  return leaves
    .filter(([id]) => id !== conversation['current_node'])
    .slice(0, mostBranches)
    .map(([id]) => readTranscript({ ...conversation, current_node: id }, { format: 'chatgpt-export' }).messages)
}

/** More regenerated answers in one conversation than a person would request. */
const mostBranches = 1000

function isAboutBranches({ what }: Note): boolean {
  return what.includes('of other branches')
}

function titleIn(json: Json, messages: readonly Message[]): { title?: string } {
  const name = isObject(json) ? (json['title'] ?? json['name']) : undefined
  const first = messages.find((message) => message.role === 'user')
  const title = typeof name === 'string' && name !== '' ? shortTitle(name) : first ? titleOf(first) : ''
  return title ? { title } : {}
}

/** Seconds since 1970, or a time as text. */
function timeIn(json: Json, fields: readonly string[]): string | undefined {
  if (!isObject(json)) return undefined
  for (const field of fields) {
    const value = json[field]
    const ms = typeof value === 'number' ? value * 1000 : typeof value === 'string' ? Date.parse(value) : Number.NaN
    if (Math.abs(ms) < 8.64e15) return new Date(ms).toISOString()
  }
  return undefined
}
