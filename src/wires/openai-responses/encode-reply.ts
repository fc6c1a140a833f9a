// A reply as input items: its native items if they may be sent back, otherwise built from its parts.

import { isObject } from '../../core/json.ts'
import type { OpaquePart, Part, Reply, ToolCallPart } from '../../core/message.ts'
import { nameInside, textOfCall } from '../../core/tool-kinds.ts'
import { cleanJson } from '../shared/clean-json.ts'
import { serverToolText, withSources } from '../shared/server-tool-text.ts'
import { cleanText } from '../shared/text.ts'
import { flatCall, mediaStandIn, summaryLabel } from '../shared/injected-text.ts'
import { clientCall, isClientTool } from './client-tools.ts'
import { replay } from './replay.ts'
import {
  assistantText,
  isReplayed,
  soundArguments,
  writeCall,
  type ReplyScope,
  type WrittenCall,
  type WrittenReply,
} from './reply-scope.ts'
import { asksClient, itemId, protocolId, typeOf, type Item } from './types.ts'

export function writeReply(reply: Reply, at: string, scope: ReplyScope): WrittenReply {
  return isReplayed(reply, scope.target, scope.flat) ? replay(reply, at, scope) : build(reply, at, scope)
}

/** A reply while it is built from its parts. */
interface Building {
  readonly reply: Reply
  readonly at: string
  readonly scope: ReplyScope
  readonly content: Item[]
  readonly callItems: Item[]
  readonly calls: WrittenCall[]
  /** The message that the next text continues. */
  open: { item: Item; from: number | undefined } | undefined
  /** Some content came after a call. */
  moved: boolean
}

/** Reasoning of another issuer stays in the log: as assistant text, models would begin to imitate it. */
function build(reply: Reply, at: string, scope: ReplyScope): WrittenReply {
  const state: Building = { reply, at, scope, content: [], callItems: [], calls: [], open: undefined, moved: false }
  for (const part of withSources(reply, at, scope.notes).parts) addPart(state, part)
  if (reply.parts.some((part) => part.type === 'reasoning')) {
    const maker = reply.origin.provider || 'another provider'
    drop(state, 'reasoning', `it was made by ${maker} and cannot be continued here`, 'R7')
  }
  if (state.moved) {
    change(state, 'order of calls and text', 'calls go last: some servers want their outputs right after them')
  }
  return { items: [...state.content, ...state.callItems], calls: state.calls }
}

function addPart(state: Building, part: Part): void {
  switch (part.type) {
    case 'text':
      return addText(state, part.text, part)
    case 'refusal':
      change(state, 'refusal to text', 'not every server of this wire accepts a refusal')
      return addText(state, part.text, part)
    case 'tool-call':
      return addCall(state, part)
    case 'server-tool': {
      const text = serverToolText(part)
      if (text === undefined) return drop(state, `server tool ${part.name}`, 'it has no input or output')
      change(state, `server tool ${part.name} to text`, 'only the provider that ran it has a form for it')
      return addMessage(state, text, part)
    }
    case 'media':
      change(state, `${part.mediaType} to text`, 'an assistant message cannot have media')
      return addMessage(state, mediaStandIn(part.mediaType, part.name), part)
    case 'compaction':
      if (part.text) return addMessage(state, `${summaryLabel}\n${part.text}`, part)
      return drop(state, 'compaction', 'only its own provider and model can read it', 'R7')
    case 'opaque':
      return addOpaque(state, part)
    case 'tool-result':
      return drop(state, 'tool result in a reply', 'the wire has no place for it')
    case 'reasoning':
  }
}

function addCall(state: Building, part: ToolCallPart): void {
  const { scope, at } = state
  if (scope.flat) {
    change(state, `call of ${part.name} to text`, 'the target takes no calls')
    return addMessage(state, flatCall(part.name, part.malformed ?? part.input), part)
  }
  state.open = undefined
  const id = scope.id(part.callId)
  const item = callItem(part, id, scope, at)
  state.callItems.push(item)
  state.calls.push(writeCall([part], id, item))
}

function addOpaque(state: Building, { kind, data }: OpaquePart): void {
  const isOwn = kind.startsWith(`${protocolId}/`) && state.reply.origin.provider === state.scope.target.provider
  if (isOwn && isObject(data) && !asksClient(data)) addItem(state, { ...data, type: typeOf(data) })
  else drop(state, kind, 'it can be sent only in whole replies, to its own provider')
}

function addItem(state: Building, item: Item): void {
  state.content.push(item)
  state.open = undefined
  if (state.callItems.length > 0) state.moved = true
}

/** Adjacent texts are pieces of one message, unless they were separate messages. */
function addText(state: Building, text: string, part: Part): void {
  if (text === '') return
  const clean = cleanText(text, state.at, state.scope.notes)
  const from = state.reply.origin.protocol === protocolId && 'from' in part ? part.from : undefined
  if (state.open && state.open.from === from) {
    state.open.item.content = String(state.open.item.content) + clean
    return
  }
  const item = assistantText(clean)
  addItem(state, item)
  state.open = { item, from }
}

/** Our own text is a separate message. */
function addMessage(state: Building, text: string, part: Part): void {
  state.open = undefined
  addText(state, text, part)
  state.open = undefined
}

function drop({ scope, at }: Building, what: string, why: string, rule?: string): void {
  scope.notes.push({ kind: 'dropped', what, why, at, ...(rule && { rule }) })
}

function change({ scope, at }: Building, what: string, why: string): void {
  scope.notes.push({ kind: 'changed', what, why, at })
}

/** Names of tools that the server accepts. */
export const nameFits = /^[a-zA-Z0-9_-]+$/

/** The name of a tool inside its namespace; undefined if one of the two is refused, so that the flat name has to do. */
export function inNamespace(
  namespace: string | undefined,
  flatName: string,
): { name: string; namespace: string } | undefined {
  if (namespace === undefined) return undefined
  const name = nameInside(namespace, flatName)
  return nameFits.test(name) && nameFits.test(namespace) ? { name, namespace } : undefined
}

/** A call in the form of its tool in this request; if the tool is not declared, in its original form. */
function callItem(part: ToolCallPart, id: string, scope: ReplyScope, at: string): Item {
  const { malformed, input } = part
  const isKnown = scope.target.capabilities.toolKinds === true
  const kind = isKnown ? (scope.toolKind(part.name) ?? part.kind) : undefined
  const inside = isKnown ? inNamespace(scope.namespaceOf(part.name) ?? part.namespace, part.name) : undefined
  if (kind === 'free-form') {
    const text = cleanText(textOfCall(part), at, scope.notes)
    return { type: 'custom_tool_call', call_id: id, name: scope.toWire(part.name), input: text }
  }
  if (isClientTool(kind)) {
    const clean = cleanJson(clientCall(kind, part), at, scope.notes)
    const needsId = kind !== 'shell' && kind !== 'apply-patch'
    return { ...clean, call_id: id, ...(needsId && { id: itemId(typeOf(clean), `${at} ${id}`) }) }
  }
  const isSound = malformed === undefined && isObject(input)
  if (kind === 'search' && isSound) {
    const query = cleanJson(input, at, scope.notes)
    return { type: 'tool_search_call', call_id: id, execution: 'client', status: 'completed', arguments: query }
  }
  return {
    type: 'function_call',
    call_id: id,
    ...(inside ?? { name: scope.toWire(part.name) }),
    arguments: isSound
      ? JSON.stringify(cleanJson(input, at, scope.notes))
      : soundArguments(malformed ?? JSON.stringify(input), scope, at),
  }
}
