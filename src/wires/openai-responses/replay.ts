// Sends native items back to their provider.
//
// Item ids are sent back only with a complete reply: a reasoning item with an id must be followed by exactly the item
// it produced, identified by its id (R4), and an item with an id must have its reasoning before it (R5). As soon as one
// item is left out or changed, none has an id; without ids the same items are accepted (checked 2026-11, both
// recorded).

import { isObject, type Json } from '../../core/json.ts'
import type { Reply } from '../../core/message.ts'
import { readArguments } from '../shared/decoding.ts'
import { cleanJson } from '../shared/clean-json.ts'
import { serverToolText } from '../shared/server-tool-text.ts'
import { cleanText } from '../shared/text.ts'
import { isWrapperName } from './read-reply.ts'
import {
  assistantText,
  groupedCalls,
  soundArguments,
  writeCall,
  type ReplyScope,
  type WrittenCall,
  type WrittenReply,
} from './reply-scope.ts'
import {
  answerKey,
  asksClient,
  assistantItem,
  factsOf,
  isOpenAI,
  itemId,
  maxIdLength,
  objectFields,
  sameModel,
  stringField,
  typeOf,
  withoutClientFields,
  type Item,
} from './types.ts'

interface Planned {
  item: Item
  from: number
  /** The item to send back, still with its id; absent: it cannot be sent. */
  sendable?: Item
  changed?: boolean
  call?: WrittenCall
  /** The number of the rule that keeps a reasoning or compaction item from being sent. */
  rule?: string
}

export function replay(reply: Reply, at: string, scope: ReplyScope): WrittenReply {
  const calls = callsByItem(reply, scope)
  const plan = reply.native.flatMap((item, from) =>
    isObject(item) ? [planItem(item, from, reply, at, calls.get(from), scope)] : [],
  )
  const isWhole = goesWhole(plan, scope)
  const items = isWhole
    ? plan.flatMap(({ sendable }) => (sendable ? [sendable] : []))
    : looseItems(plan, reply, at, scope)
  const usedIds: string[] = []
  const asked: string[] = []
  for (const { sendable } of plan) {
    if (!sendable) continue
    const id = stringField(sendable, 'id')
    if (isWhole && id !== undefined) usedIds.push(id)
    const key = answerKey(sendable)
    if (key !== undefined && items.includes(sendable)) asked.push(key)
  }
  noteReasoning(plan, items, at, scope)
  const sent = plan.flatMap(({ call, sendable }) => (call && sendable ? [withCallerOf(sendable, call)] : []))
  return { items, calls: sent, usedIds, asked }
}

function callsByItem(reply: Reply, scope: ReplyScope): Map<number, { call: WrittenCall; malformed?: string }> {
  const calls = new Map<number, { call: WrittenCall; malformed?: string }>()
  for (const parts of groupedCalls(reply)) {
    const first = parts[0]
    const item = reply.native[first?.from ?? -1]
    if (!first || first.from === undefined || !isObject(item)) continue
    const call = writeCall(parts, scope.id(first.callId), item)
    calls.set(first.from, { call, ...(first.malformed !== undefined && { malformed: first.malformed }) })
  }
  return calls
}

function planItem(
  item: Item,
  from: number,
  reply: Reply,
  at: string,
  call: { call: WrittenCall; malformed?: string } | undefined,
  scope: ReplyScope,
): Planned {
  const type = typeOf(item)
  const tidy = removeReplyFields(item, scope.target.provider)
  const clean = cleanJson(tidy, at, scope.notes)
  if (type === 'reasoning') return planReasoning(clean, item, from, reply, scope)
  if (type === 'compaction') {
    const readable = stringField(item, 'encrypted_content') && sameModel(reply.origin.model, scope.target.model)
    return readable ? { item, from, sendable: clean } : { item, from, rule: 'R7' }
  }
  if (call) {
    const sound =
      call.malformed === undefined ? cleanArguments(item, at, scope) : soundArguments(call.malformed, scope, at)
    const name = wireName(item, call.call, scope) ?? item.name
    const fields = {
      ...(call.call.id !== item.call_id && { call_id: call.call.id }),
      ...(name !== undefined && name !== item.name && { name }),
      ...(sound !== undefined && { arguments: sound }),
    }
    const changed = clean !== tidy || Object.keys(fields).length > 0
    if ('call_id' in fields) noteId(item, at, scope)
    if ('name' in fields) noteName(item, name ?? '', at, scope)
    return { item, from, sendable: { ...clean, ...fields }, changed, call: call.call }
  }
  return canGoBack(item, reply, scope) ? { item, from, sendable: clean, changed: clean !== tidy } : { item, from }
}

/** A model may call an undeclared tool, under a name that is refused when it is sent back (C8). */
function wireName(item: Item, call: WrittenCall, scope: ReplyScope): string | undefined {
  // Only functions and free-form tools have a name here, and a name inside a namespace has a special form.
  if ((call.kind && call.kind !== 'free-form') || stringField(item, 'namespace') !== undefined) return undefined
  return isWrapperName(stringField(item, 'name')) ? 'parallel' : scope.toWire(call.names[0] ?? '')
}

/** Half a surrogate pair is well-formed in this text, as an escape, but breaks the server that parses it. */
function cleanArguments(item: Item, at: string, scope: ReplyScope): string | undefined {
  if (typeof item.arguments === 'object') return undefined
  const text = stringField(item, 'arguments') ?? ''
  if (text.trim() === '' && typeOf(item) === 'function_call') {
    scope.notes.push({
      kind: 'changed',
      what: 'empty arguments',
      why: 'servers require a JSON object',
      at,
      rule: 'C19',
    })
    return '{}'
  }
  const { input } = readArguments(text)
  const clean = cleanJson(input, at, scope.notes)
  return clean === input ? undefined : JSON.stringify(clean)
}

/**
 * Ciphertext can be read only by the model that wrote it (R7); without any, an id alone is useless once the server has
 * deleted it (R6). Providers with visible reasoning want it back as `content`; OpenAI refuses that (R9).
 */
function planReasoning(clean: Item, item: Item, from: number, reply: Reply, scope: ReplyScope): Planned {
  const { quirks, model } = scope.target
  const { content, encrypted_content: cipher, status: _, ...others } = clean
  const rest = { ...others, summary: others.summary ?? [] }
  const isReadable = typeof cipher === 'string' && cipher !== '' && sameModel(reply.origin.model, model)
  const echoed =
    quirks.echoReasoning === 'always' ||
    (quirks.echoReasoning === 'tool-turns' && reply.parts.some((part) => part.type === 'tool-call'))
  if (echoed && objectFields(item, 'content').length > 0) {
    return { item, from, sendable: { ...rest, content, ...(isReadable && { encrypted_content: cipher }) } }
  }
  if (isReadable) return { item, from, sendable: { ...rest, encrypted_content: cipher } }
  return { item, from, rule: typeof cipher === 'string' && cipher !== '' ? 'R7' : 'R6' }
}

/** Whether an item that is neither reasoning nor a call of ours has an input form. */
function canGoBack(item: Item, reply: Reply, scope: ReplyScope): boolean {
  const type = typeOf(item)
  if (factsOf(type).outputOnly) return false
  switch (type) {
    case 'message':
      return hasWords(item) && (isOpenAI(scope.target.provider) || !isRefusal(item))
    case 'custom_tool_call':
    case 'function_call':
      return false
    case 'web_search_call':
      return isObject(item.action)
    case 'additional_tools':
      return item.role === 'developer'
    case 'program_output':
      return reply.native.some((other) => isProgram(other, item.call_id)) || isSent(item.call_id, scope)
    default:
      return !asksClient(item) || scope.isAnswered(answerKey(item) ?? '')
  }
}

function isProgram(item: Json, callId: Json | undefined): boolean {
  return isObject(item) && item.type === 'program' && item.call_id === callId
}

function isSent(callId: Json | undefined, scope: ReplyScope): boolean {
  return typeof callId === 'string' && scope.isAsked(callId)
}

/** An empty message is refused by xAI, and by vLLM with a 500. */
function hasWords(item: Item): boolean {
  const { content } = item
  if (typeof content === 'string') return content !== ''
  return objectFields(item, 'content').some((part) => part.text !== '' && part.refusal !== '')
}

function isRefusal(item: Item): boolean {
  const parts = objectFields(item, 'content')
  return parts.length > 0 && parts.every((part) => part.type === 'refusal')
}

/** Only OpenAI's own servers store items under their ids; every other one accepts them without (recorded for xAI). */
function goesWhole(plan: readonly Planned[], scope: ReplyScope): boolean {
  if (!isOpenAI(scope.target.provider)) return false
  if (!plan.every(({ sendable, changed }) => sendable && !changed)) return false
  const last = plan.at(-1)
  if (last && typeOf(last.item) === 'reasoning') return false
  const ids = plan.flatMap(({ item }) => stringField(item, 'id') ?? [])
  if (new Set(ids).size < ids.length || ids.some((id) => scope.isUsed(id))) return false
  return plan.every(({ item }) => idFits(item)) && plan.some(({ sendable }) => sendable && needsId(sendable))
}

function idFits(item: Item): boolean {
  const id = stringField(item, 'id')
  if (id === undefined) return factsOf(typeOf(item)).idOptional === true && !item.encrypted_content
  return id.length <= maxIdLength && id.startsWith(factsOf(typeOf(item)).prefix ?? '')
}

function needsId(item: Item): boolean {
  return item.encrypted_content !== undefined || !factsOf(typeOf(item)).idOptional
}

/** What is left of a reply that is not sent back completely: nothing that relies on an id. */
function looseItems(plan: readonly Planned[], reply: Reply, at: string, scope: ReplyScope): Item[] {
  const items: Item[] = []
  const calls = new Set<Item>()
  for (const planned of plan) {
    const { sendable, from, call } = planned
    const type = typeOf(planned.item)
    if (sendable && (call || factsOf(type).idOptional)) {
      const loose = withoutId(withCaller(sendable, at, scope), `${at}.native[${from}]`)
      planned.sendable = loose
      if (call) calls.add(loose)
      items.push(loose)
    } else {
      delete planned.sendable
      if (planned.rule === undefined) items.push(...itemAsText(planned.item, from, reply, at, scope))
    }
  }
  while (items.length > 0 && typeOf(items.at(-1) ?? {}) === 'reasoning') {
    const last = items.pop()
    const planned = plan.find(({ sendable }) => sendable === last)
    if (planned) {
      delete planned.sendable
      planned.rule = 'R4'
    }
  }
  const lastOther = items.findLastIndex((item) => !calls.has(item))
  if (!items.slice(0, lastOther).some((item) => calls.has(item))) return items
  const what = 'order of calls and text'
  scope.notes.push({ kind: 'changed', what, why: 'some servers require the outputs right after the calls', at })
  return [...items.filter((item) => !calls.has(item)), ...calls]
}

/** An item that cannot be sent back, as text if it has any. */
function itemAsText(item: Item, from: number, reply: Reply, at: string, scope: ReplyScope): Item[] {
  const type = typeOf(item)
  if (type === 'message') return refusalItems(from, reply, at, scope)
  for (const part of reply.parts) {
    const text = part.type === 'server-tool' && part.from === from ? serverToolText(part) : undefined
    if (text === undefined) continue
    scope.notes.push({ kind: 'changed', what: `${type} to text`, why: 'it cannot be sent without its id', at })
    return [assistantText(text)]
  }
  scope.notes.push({ kind: 'dropped', what: type, why: 'it cannot be sent alone and has no text', at })
  return []
}

/** vLLM answers 500 to a message with only a refusal. */
function refusalItems(from: number, reply: Reply, at: string, scope: ReplyScope): Item[] {
  const texts = reply.parts.flatMap((part) => (part.type === 'refusal' && part.from === from ? [part.text] : []))
  const text = cleanText(texts.join('\n'), at, scope.notes)
  if (text === '') return []
  const why = 'not every server of this wire accepts a refusal'
  scope.notes.push({ kind: 'changed', what: 'refusal to text', why, at })
  return [assistantText(text)]
}

/**
 * Some servers require their own id of a call; other than that, only readable reasoning keeps its id. If the official
 * type requires one, it is an id that no server has issued: nothing is tied to it. Encrypted reasoning has none,
 * because the ciphertext may contain its own (recorded without one for OpenAI, Azure and xAI).
 */
function withoutId(item: Item, seed: string): Item {
  const type = typeOf(item)
  const { id, status, ...rest } = item
  switch (type) {
    case 'reasoning':
      return { ...rest, ...(item.encrypted_content === undefined && id !== undefined && { id }) }
    case 'message':
      return Array.isArray(item.content)
        ? assistantItem({ ...rest, ...(status !== undefined && { status }) }, seed)
        : rest
    case 'function_call':
    case 'custom_tool_call':
      return rest
    case 'web_search_call':
    case 'local_shell_call':
    case 'computer_call':
      return { ...rest, id: itemId(type, seed), status: status ?? 'completed' }
    default:
      return { ...rest, ...(status !== undefined && { status }) }
  }
}

/** A call may name the program that made it only if that program is in the request too. */
function withCaller(item: Item, at: string, scope: ReplyScope): Item {
  const { caller, ...rest } = item
  if (!isObject(caller) || caller.type !== 'program' || isSent(caller.caller_id, scope)) return item
  scope.notes.push({ kind: 'changed', what: 'caller of a call', why: 'the program that made it is not sent', at })
  return rest
}

function withCallerOf(item: Item, call: WrittenCall): WrittenCall {
  const { callIds, names, id, kind } = call
  return { callIds, names, id, ...(kind && { kind }), ...(isObject(item.caller) && { caller: item.caller }) }
}

const replyOnly: ReadonlySet<string> = new Set(['created_by', 'parsed_arguments', 'item_id', 'output_index'])

/** The item without reply-only fields. xAI refuses a null key; OpenAI's own tools have some that are required. */
function removeReplyFields(item: Item, provider: string): Item {
  const keepsNull = isOpenAI(provider) && !factsOf(typeOf(item)).idOptional
  const entries = Object.entries(withoutClientFields(item, provider)).filter(
    ([key, value]) => !replyOnly.has(key) && (keepsNull || value !== null),
  )
  const clean: Item = { ...(item.type === undefined && { type: typeOf(item) }), ...Object.fromEntries(entries) }
  const { content } = clean
  if (
    typeOf(item) === 'message' &&
    Array.isArray(content) &&
    content.some((part) => isObject(part) && 'parsed' in part)
  ) {
    clean.content = content.map((part) => (isObject(part) ? withoutParsed(part) : part))
  }
  return clean
}

function withoutParsed(part: Item): Item {
  const { parsed: _, ...rest } = part
  return rest
}

function noteId(item: Item, at: string, scope: ReplyScope): void {
  const original = stringField(item, 'call_id') ?? ''
  const why = original.length > maxIdLength ? `longer than ${maxIdLength}` : 'empty, or used by an earlier call'
  scope.notes.push({ kind: 'changed', what: `call id ${JSON.stringify(original)}`, why, at, rule: 'R12' })
}

function noteName(item: Item, name: Json, at: string, scope: ReplyScope): void {
  const what = `name of a call from ${JSON.stringify(item.name ?? '')} to ${JSON.stringify(name)}`
  scope.notes.push({ kind: 'changed', what, why: 'no tool can have it on the wire', at, rule: 'C8' })
}

function noteReasoning(plan: readonly Planned[], items: readonly Item[], at: string, scope: ReplyScope): void {
  const dropped = plan.filter(({ sendable, rule }) => rule !== undefined && !(sendable && items.includes(sendable)))
  const rule = dropped[0]?.rule
  if (rule === undefined) return
  const what = [...new Set(dropped.map(({ item }) => typeOf(item)))].join(' and ')
  const why = {
    R4: 'nothing follows it in its reply',
    R6: 'the provider sent no ciphertext to send back',
    R7: 'only the model that wrote it can read it',
  }[rule]
  scope.notes.push({ kind: 'dropped', what, why: why ?? '', at, rule })
}
