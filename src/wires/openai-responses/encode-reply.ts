// A reply as input items: its native items if they may be sent back, otherwise built from its parts.

import { isObject } from '../../core/json.ts'
import type { Part, Reply, ToolCallPart } from '../../core/message.ts'
import { freeFormText, nameInside } from '../../core/tool-kinds.ts'
import { cleanJson } from '../shared/clean-json.ts'
import { serverToolText, withSources } from '../shared/server-tool-text.ts'
import { cleanText } from '../shared/text.ts'
import { flatCall, mediaStandIn, summaryLabel } from '../shared/injected-text.ts'
import { replay } from './replay.ts'
import {
  assistantText,
  isReplayed,
  soundArguments,
  writtenCall,
  type ReplyScope,
  type WrittenCall,
  type WrittenReply,
} from './reply-scope.ts'
import { asksClient, protocolId, typeOf, type Item } from './types.ts'

export function writeReply(reply: Reply, at: string, scope: ReplyScope): WrittenReply {
  return isReplayed(reply, scope.target, scope.flat) ? replay(reply, at, scope) : build(reply, at, scope)
}

/** Reasoning of another issuer stays in the log: as assistant text, models would begin to imitate it. */
function build(reply: Reply, at: string, scope: ReplyScope): WrittenReply {
  const { notes, target } = scope
  const content: Item[] = []
  const called: Item[] = []
  const calls: WrittenCall[] = []
  let open: { item: Item; from: number | undefined } | undefined
  let moved = false
  const drop = (what: string, why: string, rule?: string) =>
    notes.push({ kind: 'dropped', what, why, at, ...(rule && { rule }) })
  const change = (what: string, why: string) => notes.push({ kind: 'changed', what, why, at })
  const push = (item: Item) => {
    content.push(item)
    open = undefined
    if (called.length > 0) moved = true
  }
  /** Our own text is a separate message. */
  const tell = (text: string, part: Part) => {
    open = undefined
    say(text, part)
    open = undefined
  }
  const say = (text: string, part: Part) => {
    if (text === '') return
    const clean = cleanText(text, at, notes)
    const from = reply.origin.protocol === protocolId && 'from' in part ? part.from : undefined
    // Adjacent texts are pieces of one message, unless they were separate messages.
    if (open && open.from === from) open.item.content = String(open.item.content) + clean
    else {
      const item = assistantText(clean)
      push(item)
      open = { item, from }
    }
  }

  for (const part of withSources(reply, at, notes).parts) {
    switch (part.type) {
      case 'text':
        say(part.text, part)
        break
      case 'refusal':
        change('refusal to text', 'not every server of this wire accepts a refusal')
        say(part.text, part)
        break
      case 'tool-call': {
        if (scope.flat) {
          change(`call of ${part.name} to text`, 'the target takes no calls')
          tell(flatCall(part.name, part.malformed ?? part.input), part)
          break
        }
        open = undefined
        const item = callItem(part, scope.id(part.callId), scope, at)
        called.push(item)
        calls.push(writtenCall([part], scope.id(part.callId), item))
        break
      }
      case 'server-tool': {
        const text = serverToolText(part)
        if (text === undefined) drop(`server tool ${part.name}`, 'it has no input or output')
        else {
          change(`server tool ${part.name} to text`, 'only the provider that ran it has a form for it')
          tell(text, part)
        }
        break
      }
      case 'media':
        change(`${part.mediaType} to text`, 'an assistant message cannot have media')
        tell(mediaStandIn(part.mediaType, part.name), part)
        break
      case 'compaction':
        if (part.text) tell(`${summaryLabel}\n${part.text}`, part)
        else drop('compaction', 'only its own provider and model can read it', 'R7')
        break
      case 'opaque': {
        const isOwn = part.kind.startsWith(`${protocolId}/`) && reply.origin.provider === target.provider
        const { data } = part
        if (isOwn && isObject(data) && !asksClient(data)) push({ ...data, type: typeOf(data) })
        else drop(part.kind, 'it can be sent only in whole replies, to its own provider')
        break
      }
      case 'tool-result':
        drop('tool result in a reply', 'the wire has no place for it')
        break
      case 'reasoning':
        break
    }
  }
  if (reply.parts.some((part) => part.type === 'reasoning')) {
    drop(
      'reasoning',
      `it was made by ${reply.origin.provider || 'another provider'} and cannot be continued here`,
      'R7',
    )
  }
  if (moved) change('order of calls and text', 'calls go last: some servers want their outputs right after them')
  return { items: [...content, ...called], calls }
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
    const text = cleanText(malformed ?? freeFormText(input) ?? JSON.stringify(input), at, scope.notes)
    return { type: 'custom_tool_call', call_id: id, name: scope.toWire(part.name), input: text }
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
