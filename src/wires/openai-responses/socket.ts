// Responses over a WebSocket: each message of the client is a request, and the events of its answer come back as
// messages. A lane, which the client names, answers one request at a time; several lanes answer concurrently.

import { isObject, parseJson, type Json, type JsonObject } from '../../core/json.ts'
import type { ServiceSocket } from '../service.ts'

/** How many requests that only announce their input are remembered: a client continues from its last one. */
const mostPrepared = 4

const mostLanes = 16

export async function serveSocket(socket: ServiceSocket): Promise<void> {
  const prepared = new Map<string, Json[]>()
  const lanes = new Map<string, Promise<void>>()
  for await (const text of socket.messages) {
    const { stream_id: lane, ...event } = parsedObject(text) ?? {}
    if (lane !== undefined && !isLane(lane)) {
      send(undefined, error(400, 'invalid_request_error', `stream_id must match ${laneName.source}.`))
    } else if (event.type === 'response.steer') send(undefined, notSteered(event))
    else if (event.type !== 'response.create') {
      send(lane, error(400, 'invalid_request_error', 'The message must be a response.create event.'))
    } else await startTurn(lane, event)
  }

  /** Waits for the request before it on the same lane. */
  async function startTurn(lane: string | undefined, { type: _type, generate, ...body }: JsonObject): Promise<void> {
    const name = lane ?? ''
    await lanes.get(name)
    if (lanes.size >= mostLanes) await Promise.race(lanes.values())
    const whole = withPrepared(body)
    if (generate === false) return send(lane, prepare(whole))
    const turn = respond(lane, whole)
      .catch(() => socket.close(1011, 'Something went wrong on the server.'))
      .finally(() => lanes.delete(name))
    lanes.set(name, turn)
  }

  async function respond(lane: string | undefined, body: JsonObject): Promise<void> {
    const response = await socket.answer({ ...body, stream: true })
    const isDone = response.status === 200 ? await forward(lane, response) : await refuse(lane, response)
    // The predecessor of a failed request is not continued again.
    if (!isDone && typeof body.previous_response_id === 'string') socket.forget(body.previous_response_id)
  }

  /** Returns whether the answer was complete. */
  async function forward(lane: string | undefined, response: Response): Promise<boolean> {
    let isFailed = false
    try {
      for await (const data of socket.events(response)) {
        if (!data.startsWith('{')) continue
        isFailed ||= /^\{\s*"type"\s*:\s*"(?:error|response\.failed)"/.test(data)
        send(lane, data)
      }
      return !isFailed
    } catch {
      send(lane, error(502, 'server_error', 'The stream ended before the reply did.'))
      return false
    }
  }

  async function refuse(lane: string | undefined, response: Response): Promise<false> {
    const refusal = parsedObject(await response.text())?.error
    const { code, type, message, param } = isObject(refusal) ? refusal : {}
    const known = typeof code === 'string' ? code : typeof type === 'string' ? type : 'invalid_request_error'
    const words = typeof message === 'string' ? message : 'The request was refused.'
    send(lane, error(response.status, known, words, typeof param === 'string' ? param : null))
    return false
  }

  /** `event`: a JSON object. */
  function send(lane: string | undefined, event: string): void {
    socket.send(lane === undefined ? event : `${event.trimEnd().slice(0, -1)},"stream_id":${JSON.stringify(lane)}}`)
  }

  /** A request that only announces its input: it is stored, and a model reads it with the next one. */
  function prepare(body: JsonObject): string {
    const id = socket.newId()
    prepared.set(id, itemsIn(body))
    const [oldest] = prepared.keys()
    if (prepared.size > mostPrepared && oldest !== undefined) prepared.delete(oldest)
    const response = { id, object: 'response', status: 'completed', model: body.model ?? '', output: [], usage: null }
    return JSON.stringify({ type: 'response.completed', response, sequence_number: 0 })
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
  const value = parseJson(text)
  return isObject(value) ? value : undefined
}

function error(status: number, code: string, message: string, param: string | null = null): string {
  return JSON.stringify({ type: 'error', status, error: { type: 'invalid_request_error', code, message, param } })
}

/** The client gets its input back, to send it as the next request. */
function notSteered({ input = null, previous_response_id: id = null }: JsonObject): string {
  const message = 'Steering is not supported: send the input as the next response.create.'
  return JSON.stringify({
    type: 'response.steer.failed',
    sequence_number: 0,
    steer: { input, previous_response_id: id },
    error: { type: 'invalid_request_error', code: 'steering_not_supported', message },
  })
}

const laneName = /^[A-Za-z0-9_.-]{1,256}$/

function isLane(value: Json): value is string {
  return typeof value === 'string' && laneName.test(value)
}
