// A provider that answers from memory, and what one attempt to ask it returns.

import type { Json } from '../../src/core/json.ts'
import { send, SendError, type Attempt, type Fetch } from '../../src/transport/send.ts'
import type { Framing } from '../../src/wires/wire.ts'
import { toy } from './toy-protocol.ts'

export interface Memory {
  status?: number
  headers?: Record<string, string>
  pieces?: (string | Uint8Array)[]
}

interface Asked {
  url: string
  headers: Record<string, string>
  signal: AbortSignal | undefined
}

/** A server that gives these replies, one after the other, and remembers what was asked. */
export function memory(...replies: Memory[]) {
  const asked: Asked[] = []
  const state = { read: 0, cancelled: 0 }
  const fetch: Fetch = async (url, { headers, signal }) => {
    asked.push({ url, headers, signal })
    const { status = 200, headers: given = {}, pieces = [] } = replies[asked.length - 1] ?? {}
    const left = pieces.map((piece) => (typeof piece === 'string' ? new TextEncoder().encode(piece) : piece))
    const cancel = async () => void state.cancelled++
    const read = async () => {
      const value = left.shift()
      if (value) state.read++
      return value ? { done: false, value } : { done: true }
    }
    const text = async () => Buffer.concat(left).toString()
    return { status, headers: new Headers(given), body: { getReader: () => ({ read, cancel }), cancel }, text }
  }
  return { fetch, asked, state }
}

export const events = { 'content-type': 'text/event-stream' }
export const json = { 'content-type': 'application/json' }
export const aws = { 'content-type': 'application/vnd.amazon.eventstream' }
export const event = (chunk: Json) => `data: ${JSON.stringify(chunk)}\n\n`

export async function chunksOf(reply: Memory, more: Partial<Attempt> & { framing?: Framing } = {}) {
  const { fetch, asked, state } = memory(reply)
  const chunks: Json[] = []
  const { framing, ...rest } = more
  const attempt: Attempt = {
    protocol: toy(framing),
    url: 'https://toy.example/v1/chat',
    headers: { authorization: 'Bearer canary-0123456789-abcdef' },
    body: '{}',
    fetch,
    ...rest,
  }
  let error: unknown
  try {
    await send(attempt, (chunk) => void chunks.push(chunk))
  } catch (thrown) {
    error = thrown
  }
  return { chunks, asked, state, failure: error instanceof SendError ? error.failure : undefined, error }
}
