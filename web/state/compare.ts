// An active comparison: one column per model, each from its events. It belongs to its viewer: closing it stops the
// answers, and what arrived so far is saved as branches.

import { batch, signal, type Signal } from '@preact/signals'
import { createParser } from 'eventsource-parser'
import { reach, refused } from '../api/client.ts'
import { paths } from '../api/routes.ts'
import type { Part, Reply, RunEvent, ToolResultPart } from '../api/types.ts'
import { announce } from './announce.ts'
import { current, ensure, goTo, loadDetails, loadTree, ready, showEnd } from './conversation.ts'
import { withReply, type LiveExchange } from './live-reply.ts'
import { attempt } from './session.ts'

export interface Column {
  model: string
  /** Complete replies; more than one if tools were called. */
  replies: Reply[]
  results: ReadonlyMap<string, ToolResultPart>
  exchange?: LiveExchange
  /** The ids of its requests, in order. */
  exchangeIds: string[]
  notes: number
  input: number
  cached: number
  output: number
  cost?: number
  startedAt: number
  endedAt?: number
  outcome?: string
  failure?: string
  /** Where its answer ends. */
  leaf?: string
}

interface Comparison {
  columns: Signal<Column>[]
  running: boolean
}

export const comparing = signal(false)
export const comparison = signal<Comparison | undefined>(undefined)

let stop = new AbortController()

type CompareEvent =
  | { type: 'started' | 'ended' }
  | { type: 'candidate'; index: number; event: RunEvent }
  | { type: 'answered'; index: number; leaf: string; outcome: string; cost: number; message?: string }

/** Without parts, the last user message is answered again. Returns whether it started. */
export async function compare(models: readonly string[], parts: readonly Part[]): Promise<boolean> {
  await ready()
  return attempt(async () => {
    const { id } = await ensure()
    stop = new AbortController()
    const body = { models, ...(parts.length > 0 && { parts }) }
    const answer = await reach('POST', paths.compare(id), {
      body,
      headers: { accept: 'text/event-stream' },
      signal: stop.signal,
    })
    if (!answer.ok || !answer.body) throw await refused(answer)
    comparison.value = { columns: models.map((model) => signal(columnOf(model))), running: true }
    showEnd.value++
    void follow(id, answer.body)
  })
}

function columnOf(model: string): Column {
  const counts = { notes: 0, input: 0, cached: 0, output: 0 }
  return { model, replies: [], results: new Map(), exchangeIds: [], startedAt: Date.now(), ...counts }
}

async function follow(id: string, body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
  const parser = createParser({ onEvent: ({ data }) => batch(() => take(JSON.parse(data) as CompareEvent)) })
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) parser.feed(chunk.value)
  } catch {
    // It was stopped, or the server is gone: what has arrived stays visible.
  }
  if (comparison.value) comparison.value = { ...comparison.value, running: false }
  announce('All models have answered')
  await attempt(async () => {
    await Promise.all([loadTree(id), loadDetails(id)])
  })
}

function take(event: CompareEvent): void {
  if (!('index' in event)) return
  const column = comparison.value?.columns[event.index]
  if (!column) return
  if (event.type === 'candidate') column.value = withEvent(column.value, event.event)
  else {
    const { exchange: _, ...rest } = column.value
    const { leaf, outcome, cost, message } = event
    column.value = {
      ...rest,
      leaf,
      outcome,
      cost,
      endedAt: Date.now(),
      ...(message !== undefined && { failure: message }),
    }
  }
}

function withEvent(column: Column, event: RunEvent): Column {
  switch (event.type) {
    case 'request': {
      const { exchangeId: id, provider, model, notes } = event
      const exchange = { id, provider, model, notes, parts: [] }
      return { ...column, exchange, exchangeIds: [...column.exchangeIds, id], notes: notes.length }
    }
    case 'reply-event':
      return column.exchange ? { ...column, exchange: withReply(column.exchange, event.event, false) } : column
    case 'message': {
      const { message, usage } = event
      if (message.role !== 'assistant') return column
      const { exchange: _, ...rest } = column
      return {
        ...rest,
        replies: [...column.replies, message],
        input: column.input + (usage?.input ?? 0),
        cached: column.cached + (usage?.cacheRead ?? 0),
        output: column.output + (usage?.output ?? 0),
      }
    }
    case 'tool-end':
      return { ...column, results: new Map(column.results).set(event.call.callId, event.result) }
    default:
      return column
  }
}

/** The conversation continues from this answer; the others stay as alternatives. */
export async function choose({ leaf }: Column): Promise<void> {
  if (leaf !== undefined && current.value) await goTo(leaf)
  closeComparison()
}

export function closeComparison(): void {
  stop.abort()
  comparing.value = false
  comparison.value = undefined
}
