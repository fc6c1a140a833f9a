// Half a surrogate pair or a NUL makes providers refuse the whole request, and every later one with it. None may be in a
// body, whoever said it and however the reply is written.

import assert from 'node:assert/strict'
import test from 'node:test'
import { fold } from '../../src/core/fold.ts'
import { isObject, type Json } from '../../src/core/json.ts'
import type { Message, Part, Reply } from '../../src/core/message.ts'
import { noUsage } from '../../src/core/usage.ts'
import { prepare } from '../../src/index.ts'
import { allWires } from '../../src/wires/all.ts'
import { everyTarget, type TestTarget } from '../targets.ts'

for (const target of everyTarget) {
  test(`no unsendable character goes to ${target.provider}/${target.model} on ${target.protocol}`, () => {
    for (const character of ['\uD83D', '\uDE42', '\0']) {
      for (const reply of [said(character), inOwnWords(said(character), target)]) {
        const { body } = prepare({ ...target, messages: around(reply, character), system: `s${character}` })
        assert.deepEqual(unsendable(body), [])
      }
    }
  })
}

function said(character: string): Reply {
  const text = `a${character}b`
  const parts: Part[] = [
    { type: 'reasoning', text },
    { type: 'text', text },
    { type: 'refusal', text },
    { type: 'tool-call', callId: 'c1', name: 'clock', input: { [text]: [text] } },
    { type: 'tool-call', callId: 'c2', name: 'clock', input: {}, malformed: `{${text}` },
  ]
  const origin = { protocol: 'elsewhere', provider: 'elsewhere', model: 'm' }
  return { role: 'assistant', parts, native: [], origin, stop: { reason: 'tool-calls' } }
}

/** The reply as if the provider that is asked had given it. */
function inOwnWords(reply: Reply, { provider, protocol: id, model }: TestTarget): Reply {
  const protocol = allWires().find((one) => one.id === id)
  assert.ok(protocol)
  const origin = { protocol: id, provider, model }
  const whole = protocol.whole(reply, { model, replyId: 'r1', createdAt: 0, usage: noUsage })
  const decoder = protocol.decoder(origin)
  return fold([...protocol.split(whole).flatMap((chunk) => decoder.push(chunk)), ...decoder.end()], origin).reply
}

function around(reply: Reply, character: string): Message[] {
  const text = `a${character}b`
  const results = reply.parts.flatMap((part): Message[] => {
    if (part.type !== 'tool-call') return []
    const { callId, name } = part
    return [{ role: 'tool', parts: [{ type: 'tool-result', callId, name, output: [{ type: 'text', text }] }] }]
  })
  return [{ role: 'user', parts: [{ type: 'text', text }] }, reply, ...results]
}

/** Every such text, also in the JSON that some wires carry as text. */
function unsendable(value: Json | undefined): string[] {
  if (typeof value === 'string') {
    const inside = value.startsWith('{') ? unsendable(parsed(value)) : []
    return value.isWellFormed() && !value.includes('\0') ? inside : [value]
  }
  if (Array.isArray(value)) return value.flatMap(unsendable)
  return isObject(value) ? Object.entries(value).flatMap(([key, one]) => [...unsendable(key), ...unsendable(one)]) : []
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
