// Sessions of unchanged clients, as they were recorded: each request is cut back to what the client had sent before, a
// provider answers what the record says, and each step must find the conversation of the step before it.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import type { Part, Reply } from '../../src/core/message.ts'
import { doorOf } from '../../src/server/doors/door.ts'
import { loadService, loadTranscript, loadWire } from '../../src/wires/list.ts'
import { clientBodies, noBodies } from '../client-bodies.ts'
import { serving } from '../server/serving.ts'

interface Step {
  body: JsonObject
  /** What the provider answered; absent: the record ends here. */
  reply?: Part[]
}

/** The requests of a session, each with the reply that the next one has in its history. */
async function stepsOf(wire: string, body: JsonObject): Promise<Step[]> {
  const [{ listField }, transcript] = await Promise.all([loadService(wire), loadTranscript(wire)])
  const list = body[listField]
  if (!Array.isArray(list)) return []
  const steps: Step[] = []
  for (let at = 0; at < list.length; at++) {
    if (!isOfReply(list[at]) || at === 0) continue
    let end = at
    while (isOfReply(list[end])) end++
    const said = list.slice(at, end)
    const { messages } = transcript.read({ ...body, [listField]: said })
    const parts = messages.flatMap((message) => (message.role === 'assistant' ? message.parts : []))
    steps.push({ body: { ...body, [listField]: list.slice(0, at) }, reply: parts.filter(isShown) })
    at = end
  }
  return steps.length === 0 ? [] : [...steps, { body }]
}

function isOfReply(item: Json | undefined): boolean {
  if (!isObject(item)) return false
  const { role, type } = item
  if (role === 'assistant' || role === 'model') return true
  return role === undefined && typeof type === 'string' && /^(?:reasoning|.*_call)$/.test(type)
}

function isShown({ type }: Part): boolean {
  return type === 'text' || type === 'tool-call'
}

/** The stream of a provider that says this. */
async function streamOf(parts: Part[]): Promise<Response> {
  const wire = await loadWire('anthropic-messages')
  const calls = parts.some(({ type }) => type === 'tool-call')
  const origin = { protocol: 'other', provider: 'other', model: 'other' }
  const stop = { reason: calls ? 'tool-calls' : 'done' } as const
  const reply: Reply = { role: 'assistant', parts, native: [], origin, stop }
  const usage = { input: 10, output: 10, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
  const whole = wire.whole(reply, { model: 'claude-opus-5', replyId: 'msg_1', createdAt: 1_760_000_000, usage })
  const events = wire.split(whole).map((chunk) => {
    const name = isObject(chunk) && typeof chunk.type === 'string' ? chunk.type : ''
    return `event: ${name}\ndata: ${JSON.stringify(chunk)}\n\n`
  })
  return new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } })
}

/** Steps after the first of a session, by where they were answered. */
const counted = { inItsConversation: 0, asSideCall: 0, elsewhere: 0 }

describe('a recorded session is one conversation', { skip: noBodies }, () => {
  for (const { name, url: path, headers: recorded, body } of clientBodies) {
    test(name, async (t) => {
      const door = await doorOf('POST', new URL(path, 'http://127.0.0.1'), new Headers(recorded))
      const session = door?.operation.do === 'reply' ? await stepsOf(door.wire, body) : []
      let answer: Part[] = []
      const between = () => () => streamOf(answer)
      const doorModel = { model: 'anthropic/claude-opus-5', always: true }
      const { url, store } = await serving(t, { doorModel, between })
      const found: (string | null)[] = []
      for (const { body: asked, reply = [{ type: 'text', text: 'That is all.' }] } of session) {
        answer = reply as Part[]
        const { model, ...rest } = asked
        const bare = typeof model === 'string' ? { model: model.split('/').at(-1) ?? model } : {}
        const response = await fetch(url + path, {
          method: 'POST',
          headers: { ...recorded, 'content-type': 'application/json' },
          body: JSON.stringify({ ...bare, ...rest }),
        })
        const text = await response.text()
        assert.equal(response.status, 200, text.slice(0, 500))
        found.push(response.headers.get('x-synapse-conversation'))
      }
      const { items } = await store.conversations('local')
      const aside = new Set(items.filter(({ labels }) => labels.includes('side-call')).map(({ id }) => id))
      for (const id of found.slice(1)) {
        if (id === found[0]) counted.inItsConversation++
        else if (id !== null && aside.has(id)) counted.asSideCall++
        else counted.elsewhere++
      }
      const own = found.filter((id) => id !== null && !aside.has(id))
      assert.ok(new Set(own).size <= 1, JSON.stringify(found))
    })
  }

  // The recorded bodies are a part of the sessions in which 34 steps were once measured.
  test('each of the 20 recorded steps finds its conversation, one of them as a request for a summary', () =>
    assert.deepEqual(counted, { inItsConversation: 19, asSideCall: 1, elsewhere: 0 }))
})
