// Responses over a WebSocket: each message of the client is a request, and the events of its answer come back as
// messages, one request at a time. A response that is not stored can be continued as long as the connection is open.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Socket } from '../websocket.ts'
import { connectionMemory, type ConnectionMemory } from './connection-memory.ts'
import { newId } from './responses.ts'

/** Answers a request as over HTTP. */
export type AnswerRequest = (request: Request, memory: ConnectionMemory) => Promise<Response>

export async function serveSocket(socket: Socket, url: URL, headers: Headers, answer: AnswerRequest): Promise<void> {
  const memory = connectionMemory()
  const prepared = new Map<string, Json[]>()
  for await (const text of socket.messages) {
    const event = parsedObject(text)
    if (event?.type !== 'response.create') {
      socket.send(errorEvent(400, 'invalid_request_error', 'The message must be a response.create event.'))
      continue
    }
    const { type: _type, generate, ...body } = event
    const whole = withPrepared(body)
    if (generate === false) socket.send(...prepare(whole))
    else await respond(whole)
  }

  async function respond(body: JsonObject): Promise<void> {
    const request = new Request(url, {
      method: 'POST',
      headers,
      body: JSON.stringify({ ...body, stream: true }),
      signal: socket.signal,
    })
    const response = await answer(request, memory)
    const isDone = response.status === 200 ? await forward(response).catch(brokenOff) : await refuse(response)
    // The predecessor of a failed request is not continued again.
    if (!isDone && typeof body.previous_response_id === 'string') memory.forget(body.previous_response_id)
  }

  /** Returns whether the answer was complete. */
  async function forward({ body }: Response): Promise<boolean> {
    const decoder = new TextDecoder()
    let rest = ''
    let isFailed = false
    for await (const piece of body ?? []) {
      rest += decoder.decode(piece, { stream: true })
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (!line.startsWith('data: {')) continue
        isFailed ||= /^data: \{"type":"(?:error|response\.failed)"/.test(line)
        socket.send(line.slice('data: '.length))
      }
    }
    return !isFailed
  }

  function brokenOff(): false {
    socket.send(errorEvent(502, 'server_error', 'The stream ended before the reply did.'))
    return false
  }

  async function refuse(response: Response): Promise<false> {
    const error = parsedObject(await response.text())?.error
    const { code, type, message, param } = isObject(error) ? error : {}
    const known = typeof code === 'string' ? code : typeof type === 'string' ? type : 'invalid_request_error'
    const words = typeof message === 'string' ? message : 'The request was refused.'
    socket.send(errorEvent(response.status, known, words, typeof param === 'string' ? param : null))
    return false
  }

  /** A request that only announces its input: it is stored, and a model reads it with the next one. */
  function prepare(body: JsonObject): [string] {
    const id = newId({ replyPrefix: 'resp_' })
    prepared.set(id, itemsIn(body))
    const response = { id, object: 'response', status: 'completed', model: body.model ?? '', output: [], usage: null }
    return [JSON.stringify({ type: 'response.completed', response, sequence_number: 0 })]
  }

  function withPrepared(body: JsonObject): JsonObject {
    const id = body.previous_response_id
    const before = typeof id === 'string' ? prepared.get(id) : undefined
    if (!before) return body
    const { previous_response_id: _id, ...rest } = body
    return { ...rest, input: [...before, ...itemsIn(body)] }
  }
}

function itemsIn({ input }: JsonObject): Json[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  return Array.isArray(input) ? input : []
}

function parsedObject(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as Json
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function errorEvent(status: number, code: string, message: string, param: string | null = null): string {
  return JSON.stringify({ type: 'error', status, error: { type: 'invalid_request_error', code, message, param } })
}
