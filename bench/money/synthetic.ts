// Conversations of the usual shapes, made up: for machines without recordings. They differ in what decides about money:
// how long they are, how much of them is results, how many calls are parallel, and how long people pause.

import type { Message, Part } from '../../src/core/message.ts'
import { gapsFor, type Clues } from './gaps.ts'
import { seeded } from './random.ts'
import { model, provider, type Trajectory } from './trajectory.ts'

interface Shape {
  id: string
  requests: number
  /** Tokens of system and tools. */
  system: number
  /** How many tool turns stand between two messages of the user. */
  loop: number
  calls: number
  /** Words of a result, of a call's arguments, and of a text. */
  result: number
  input: number
  text: number
}

const shapes: readonly Shape[] = [
  { id: 'S01 support chat', requests: 16, system: 4500, loop: 1, calls: 1, result: 120, input: 8, text: 60 },
  { id: 'S02 short task', requests: 30, system: 12_000, loop: 9, calls: 2, result: 260, input: 20, text: 30 },
  { id: 'S03 one long task', requests: 110, system: 2000, loop: 200, calls: 1, result: 220, input: 40, text: 20 },
  { id: 'S04 coding with pauses', requests: 180, system: 30_000, loop: 8, calls: 1, result: 420, input: 90, text: 50 },
  { id: 'S05 many calls at once', requests: 90, system: 25_000, loop: 12, calls: 6, result: 200, input: 25, text: 25 },
  { id: 'S06 talk without tools', requests: 70, system: 1500, loop: 0, calls: 0, result: 0, input: 0, text: 90 },
]

const vocabulary =
  'the of and to in file test line error value return import server request token cache where because index result'.split(
    ' ',
  )

export function syntheticTrajectories(): Trajectory[] {
  return shapes.map(synthetic)
}

function synthetic(shape: Shape, seed: number): Trajectory {
  const random = seeded(1000 + seed)
  const messages: Message[] = [userMessage(shape.text * 2)]
  const clues: Clues[] = []
  const replies: number[] = []
  let left = turnsOf()
  for (let request = 0; request < shape.requests; request++) {
    clues.push({ byUser: messages.at(-1)?.role === 'user' })
    replies.push(messages.length)
    const calls = left-- > 0 ? 1 + Math.floor(random() * shape.calls) : 0
    const ids = Array.from({ length: shape.calls === 0 ? 0 : calls }, (_, i) => `call-${request}-${i}`)
    const parts: Part[] = ids.map((callId) => ({
      type: 'tool-call',
      callId,
      name: 'read_file',
      input: { path: words(3, '/'), reason: words(around(shape.input)) },
    }))
    const text = words(around(ids.length > 0 ? shape.text / 2 : shape.text * 2))
    messages.push({
      role: 'assistant',
      parts: [{ type: 'text', text }, ...parts],
      native: [],
      origin: { protocol: 'openai-chat', provider, model },
      stop: { reason: ids.length > 0 ? 'tool-calls' : 'done' },
    })
    if (ids.length > 0) {
      messages.push({
        role: 'tool',
        parts: ids.map((callId) => ({
          type: 'tool-result',
          callId,
          name: 'read_file',
          output: [{ type: 'text', text: words(around(shape.result)) }],
        })),
      })
    } else {
      messages.push(userMessage(shape.text))
      left = turnsOf()
    }
  }
  const times = gapsFor(clues, 50 + seed)
  return {
    id: shape.id,
    messages,
    system: shape.system,
    requests: replies.map((reply, i) => ({ reply, at: times[i] ?? 0 })),
    sizes: { hidden: new Map(), scale: new Map() },
  }

  function turnsOf(): number {
    return shape.loop === 0 ? 0 : Math.ceil(shape.loop * (0.5 + random()))
  }

  /** Most are short and a few are very long, as results are. */
  function around(count: number): number {
    return Math.ceil(count * Math.exp(2.4 * (random() - 0.5)))
  }

  function userMessage(count: number): Message {
    return { role: 'user', parts: [{ type: 'text', text: words(around(count)) }] }
  }

  function words(count: number, between = ' '): string {
    return Array.from({ length: count }, () => vocabulary[Math.floor(random() * vocabulary.length)]).join(between)
  }
}
