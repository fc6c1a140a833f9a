// A client decides how many messages and calls a request has. Reading and checking them must take time in proportion:
// the server does nothing else meanwhile.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json, JsonObject } from '../../src/core/json.ts'
import type { Message, Reply, ToolCallPart, ToolMessage } from '../../src/core/message.ts'
import { loadService, loadTranscript, loadWire, wireIds } from '../../src/wires/list.ts'
import { readRequestWith } from '../../src/wires/read-request.ts'
import { spent } from '../server/held.ts'

const few = 300
const times = 10

const shapes: Record<string, (n: number) => Message[]> = {
  'a call in each of many replies': (n) => [
    question(),
    ...counted(n).flatMap((i): Message[] => [reply([call(i)]), results([i])]),
  ],
  'many calls in one reply': (n) => [question(), reply(counted(n).map(call)), results(counted(n))],
  'many calls without a result': (n) => [
    question(),
    ...counted(n).flatMap((i): Message[] => [reply([call(i)]), question()]),
    ...counted(n).map((i) => results([i + n])),
  ],
}

for (const wire of wireIds) {
  for (const [shape, make] of Object.entries(shapes)) {
    test(`${wire}: ten times as many messages take about ten times as long to read and to check, with ${shape}`, async () => {
      const [transcript, service, { refuse }] = await Promise.all([
        loadTranscript(wire),
        loadService(wire),
        loadWire(wire),
      ])
      const bodyOf = (n: number): JsonObject => ({ model: 'm', [service.listField]: transcript.write(make(n)) })
      const work = (body: JsonObject) => async () => {
        readRequestWith({ transcript, service }, structuredClone(body))
        readRequestWith({ transcript, service }, withOneId(body))
        refuse(body)
      }
      const [short, long] = [bodyOf(few), bodyOf(few * times)]
      await work(short)()
      // A collection of garbage can take long once.
      for (let triesLeft = 3; triesLeft >= 0; triesLeft--) {
        const [one, ten] = [await spent(work(short)), await spent(work(long))]
        if (ten < 3 * times * one + 20) break
        assert.ok(triesLeft > 0, `${one} ms for ${few}, ${ten} ms for ${few * times}`)
      }
    })
  }
}

/** Some hosts begin at `call_0` in every reply. */
function withOneId(body: JsonObject): JsonObject {
  const names = /^(id|call_id|tool_call_id|tool_use_id|toolUseId)$/
  return JSON.parse(JSON.stringify(body), (key, value: Json) => (names.test(key) ? 'call_0' : value)) as JsonObject
}

function counted(n: number): number[] {
  return Array.from({ length: n }, (_, i) => i)
}

function question(): Message {
  return { role: 'user', parts: [{ type: 'text', text: 'Go on.' }] }
}

function reply(parts: ToolCallPart[]): Reply {
  const origin = { protocol: 'other', provider: 'other', model: 'other' }
  return { role: 'assistant', parts, native: [], origin, stop: { reason: 'tool-calls' } }
}

function call(i: number): ToolCallPart {
  return { type: 'tool-call', callId: `c${i}`, name: 'look', input: {} }
}

function results(ids: readonly number[]): ToolMessage {
  return {
    role: 'tool',
    parts: ids.map((i) => ({
      type: 'tool-result',
      callId: `c${i}`,
      name: 'look',
      output: [{ type: 'text', text: 'ok' }],
    })),
  }
}
