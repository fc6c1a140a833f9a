// What must hold for any history on any provider: P2, P3 and P4.

import assert from 'node:assert/strict'
import test from 'node:test'
import fc from '../property.ts'
import type { Json } from '../../src/core/json.ts'
import type { Message } from '../../src/core/message.ts'
import { prepare, refuse } from '../../src/index.ts'
import { anyHistory, loopHistory } from '../arbitrary.ts'
import { messagesOf } from '../body.ts'
import { everyTarget, tools } from '../targets.ts'
import { policies } from './accepted.ts'

for (const target of everyTarget) {
  const name = `${target.provider}/${target.model} on ${target.protocol}`

  test(`no history is refused by ${name}`, () => {
    fc.assert(
      fc.property(anyHistory, fc.boolean(), fc.constantFrom(...policies), (messages, withTools, policy) => {
        const { body } = prepare({ ...target, messages, policy, ...(withTools && { tools }) })
        assert.deepEqual(refuse(target.protocol, body, target), [])
      }),
    )
  })

  test(`every text is in the body for ${name}, or in a note`, () => {
    fc.assert(
      fc.property(loopHistory, (messages) => {
        const { body, notes } = prepare({ ...target, messages, tools })
        const noted = new Set(notes.map((note) => Number(/^messages\[(\d+)\]/.exec(note.at ?? '')?.[1] ?? -1)))
        const sent = strings(body) + notes.map((note) => `${note.what}\n`).join('')
        for (const [place, message] of messages.entries()) {
          for (const text of textsOf(message)) {
            assert.ok(sent.includes(text) || noted.has(place), `${JSON.stringify(text)} of messages[${place}]`)
          }
        }
      }),
    )
  })

  test(`a longer history keeps the encoded prefix for ${name}`, () => {
    fc.assert(
      fc.property(loopHistory, (messages) => {
        let before: Json[] = []
        for (const [cut, message] of messages.entries()) {
          // A request is made where the user or a tool spoke last.
          if (message.role !== 'assistant' || messages[cut - 1]?.role === 'assistant') continue
          const after = messagesOf(prepare({ ...target, messages: messages.slice(0, cut), tools }).body)
          assert.deepEqual(after.slice(0, before.length - 1), before.slice(0, -1))
          before = after
        }
      }),
    )
  })
}

function textsOf(message: Message): string[] {
  return message.parts.flatMap((part): string[] => {
    if (part.type === 'text' || part.type === 'refusal') return part.text.trim() === '' ? [] : [part.text]
    if (part.type === 'tool-result')
      return part.output.flatMap((output) => (output.type === 'text' ? [output.text] : []))
    if (part.type === 'tool-call') return [part.malformed ?? JSON.stringify(part.name).slice(1, -1)]
    return []
  })
}

/** Every string of the body in one, arguments unpacked. */
function strings(value: Json): string {
  if (typeof value === 'string') return `${value}\n`
  if (typeof value !== 'object' || value === null) return ''
  return Object.values(value)
    .map((inner) => strings(inner as Json))
    .join('')
}
