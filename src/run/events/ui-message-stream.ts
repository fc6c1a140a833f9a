// A run in the UI message stream of the AI SDK (version 1 of the stream, checked 2026-11 with ai 7.0), which `useChat`
// reads. Each request to a model is a step; a tool's result belongs to the step that called it.

import type { ReplyEvent, RunEvent } from '../../core/event.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { textOf, type Part, type ToolResultPart } from '../../core/message.ts'
import { streamResponse } from './event-response.ts'

/** `messageId`: the id for the message on the client, which creates its own by default. */
export function uiMessageResponse(
  events: AsyncIterable<RunEvent>,
  init: ResponseInit = {},
  messageId?: string,
): Response {
  const headers = new Headers(init.headers)
  headers.set('x-vercel-ai-ui-message-stream', 'v1')
  return streamResponse(lines(), { ...init, headers })

  async function* lines(): AsyncGenerator<string> {
    const write = uiMessageWriter(messageId)
    for await (const event of events) {
      for (const chunk of write(event)) yield `data: ${JSON.stringify(chunk)}\n\n`
    }
    yield 'data: [DONE]\n\n'
  }
}

type Chunk = JsonObject & { type: string }

/** Returns the chunks for each event of a run, in order. */
function uiMessageWriter(messageId: string | undefined): (event: RunEvent) => Chunk[] {
  let inStep = false
  let parts = partWriter('')

  return (event) => {
    switch (event.type) {
      case 'run-start':
        return [
          {
            type: 'start',
            ...(messageId !== undefined && { messageId }),
            messageMetadata: { conversationId: event.conversationId },
          },
        ]
      case 'request': {
        const before = endStep()
        inStep = true
        parts = partWriter(event.exchangeId)
        return [...before, { type: 'start-step' }]
      }
      case 'reply-event':
        return parts.write(event.event)
      case 'tool-progress':
        return [{ ...output(event.call.callId, event.value), preliminary: true }]
      case 'tool-end':
        return [resultChunk(event.result)]
      case 'approval-needed':
        return [{ type: 'tool-approval-request', approvalId: event.argsHash, toolCallId: event.call.callId }]
      case 'run-end': {
        const { outcome, failure } = event
        const problem: Chunk[] = failure ? [{ type: 'error', errorText: failure.message }] : []
        const stopped: Chunk[] = outcome === 'cancelled' ? [{ type: 'abort' }] : []
        return [
          ...endStep(),
          ...problem,
          ...stopped,
          { type: 'finish', finishReason: finishReasons[outcome] ?? 'other' },
        ]
      }
      default:
        return []
    }
  }

  function endStep(): Chunk[] {
    if (!inStep) return []
    inStep = false
    return [...parts.closeAll(), { type: 'finish-step' }]
  }
}

const finishReasons: Readonly<Record<string, string>> = {
  done: 'stop',
  length: 'length',
  refusal: 'content-filter',
  waiting: 'tool-calls',
  failed: 'error',
  'storage-full': 'error',
}

/** The parts of one reply. */
function partWriter(exchangeId: string) {
  const open = new Map<number, 'text' | 'reasoning'>()
  let begun = false
  const idOf = (index: number): string => `${exchangeId}-${index}`
  return { write, closeAll }

  function write(event: ReplyEvent): Chunk[] {
    switch (event.type) {
      case 'reply-start': {
        // A provider that starts over discards what it sent.
        const again = begun
        begun = true
        if (!again) return []
        open.clear()
        return [{ type: 'reset-step' }]
      }
      case 'part-start':
        return startOf(event.index, event.part)
      case 'part-delta': {
        const kind = open.get(event.index)
        return kind ? [delta(kind, event.index, event.text)] : []
      }
      case 'part-end':
        return endOf(event.index, event.part)
      case 'reply-end':
        return closeAll()
    }
  }

  function startOf(index: number, part: Part): Chunk[] {
    if (part.type === 'tool-call') {
      return [{ type: 'tool-input-start', toolCallId: part.callId, toolName: part.name, dynamic: true }]
    }
    const kind = kindOf(part)
    if (!kind) return []
    open.set(index, kind)
    const text = textIn(part)
    return [{ type: `${kind}-start`, id: idOf(index) }, ...(text ? [delta(kind, index, text)] : [])]
  }

  function endOf(index: number, part: Part): Chunk[] {
    if (part.type === 'tool-call') return [callChunk(part)]
    if (part.type === 'server-tool') {
      const { name: toolName, input = {}, output: value } = part
      const own = { toolCallId: idOf(index), providerExecuted: true, dynamic: true }
      const called: Chunk = { type: 'tool-input-available', ...own, toolName, input }
      return value === undefined ? [called] : [called, { ...own, type: 'tool-output-available', output: value }]
    }
    if (part.type === 'media' && part.data.kind === 'base64') {
      return [{ type: 'file', mediaType: part.mediaType, url: `data:${part.mediaType};base64,${part.data.base64}` }]
    }
    const kind = kindOf(part)
    if (!kind) return []
    const before = open.has(index) ? [] : startOf(index, part)
    open.delete(index)
    return [...before, { type: `${kind}-end`, id: idOf(index) }]
  }

  function closeAll(): Chunk[] {
    const ends = [...open].map(([index, kind]): Chunk => ({ type: `${kind}-end`, id: idOf(index) }))
    open.clear()
    return ends
  }

  function delta(kind: string, index: number, text: string): Chunk {
    return { type: `${kind}-delta`, id: idOf(index), delta: text }
  }
}

function kindOf({ type }: Part): 'text' | 'reasoning' | undefined {
  if (type === 'text' || type === 'refusal') return 'text'
  return type === 'reasoning' ? 'reasoning' : undefined
}

function textIn(part: Part): string {
  return 'text' in part ? (part.text ?? '') : ''
}

function callChunk({ callId, name, input, malformed }: Extract<Part, { type: 'tool-call' }>): Chunk {
  const own = { toolCallId: callId, toolName: name, dynamic: true }
  if (malformed === undefined) return { type: 'tool-input-available', ...own, input }
  return { type: 'tool-input-error', ...own, input: malformed, errorText: 'The arguments are not a JSON object.' }
}

function resultChunk({ callId, output: parts, value, failed }: ToolResultPart): Chunk {
  const text = textOf(parts)
  if (failed) return { type: 'tool-output-error', toolCallId: callId, errorText: text, dynamic: true }
  return output(callId, value ?? text)
}

function output(toolCallId: string, value: Json): Chunk {
  return { type: 'tool-output-available', toolCallId, output: value, dynamic: true }
}
