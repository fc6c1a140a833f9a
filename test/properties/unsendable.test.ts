// Half a surrogate pair or a NUL makes providers refuse the whole request, and every later one with it. None may be in a
// body, whoever said it and however the reply is written.

import assert from 'node:assert/strict'
import test from 'node:test'
import { isObject, type Json } from '../../src/core/json.ts'
import type { Message, Part, Reply } from '../../src/core/message.ts'
import { prepare } from '../../src/index.ts'
import { inOwnWords } from '../own-words.ts'
import { everyTarget } from '../targets.ts'

for (const target of everyTarget) {
  test(`no unsendable character is sent to ${target.provider}/${target.model} on ${target.protocol}`, () => {
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
