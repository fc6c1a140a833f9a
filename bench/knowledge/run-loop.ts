// A session through the library as its users have it: `openSynapse`, the run loop with tools, and an emulator that bills
// by its own prompt cache and answers with the recorded replies. What is measured here are the requests that arrived.

import { openSynapse, type Message, type Part, type Policy, type Tool, type UserMessage } from '../../src/index.ts'
import { createEmulator } from '../../src/testing.ts'
import type { Sent } from '../money/bill.ts'
import type { PriceClass } from '../money/classes.ts'
import type { Trajectory } from '../money/trajectory.ts'

/** Bound to no earlier thinking, so that a fold costs what the policy thinks it costs. */
const model = 'anthropic/claude-opus-5'
const bytesPerToken = 3.3

export interface Played {
  sent: Sent[]
  cost: number
}

export async function playThroughRunLoop(session: Trajectory, policy: Policy, price: PriceClass): Promise<Played> {
  let clock = 0
  let reply: readonly Part[] = []
  const sent: Sent[] = []
  const emulator = createEmulator({
    now: () => clock,
    keep: 1,
    piece: 1_000_000,
    contextWindow: Infinity,
    countTokens: (text) => Buffer.byteLength(text) / bytesPerToken,
    reply({ messages }) {
      sent.push({ messages, places: [], cacheAfter: [], at: clock })
      return { parts: [...reply] }
    },
  })
  const results = resultsOf(session.messages)
  const synapse = await openSynapse({ offline: emulator, now: () => clock })
  const chat = await synapse.start({
    model,
    system: 'x'.repeat(Math.round(session.system * bytesPerToken)),
    tools: toolsOf(session.messages, results),
    policy,
    maxSteps: 1,
    guards: { repeats: false },
  })
  let cost = 0
  let read = 0
  for (const { reply: place, at } of session.requests) {
    clock = at
    const asked = session.messages.slice(read, place).filter((message) => message.role === 'user')
    const previous = session.messages[place - 1]
    read = place + 1
    reply = replyParts(session, place)
    // A recording may have two replies in a row; a loop asks for the second one only when the user says something.
    if (asked.length === 0 && previous?.role !== 'tool') asked.push(continuing)
    if (asked.length > 0) await chat.append(...asked)
    const { usage, outcome, failure } = await chat.resume().ended
    if (outcome !== 'done' && outcome !== 'max-steps') throw new Error(`${session.id}: ${failure?.message ?? outcome}`)
    const { input, cacheRead, cacheWrite } = usage
    cost += cacheRead * price.read + cacheWrite * price.write + (input - cacheRead - cacheWrite)
  }
  await synapse.close()
  return { sent, cost }
}

const continuing: UserMessage = { role: 'user', parts: [{ type: 'text', text: 'Continue.' }] }

/** Thoughts that a provider kept to itself come as long ones, so that they weigh what they weighed. */
function replyParts({ messages, sizes }: Trajectory, place: number): Part[] {
  const hidden = 'x'.repeat(Math.round((sizes.hidden.get(place) ?? 0) * bytesPerToken))
  return (messages[place]?.parts ?? []).flatMap((part): Part[] => {
    if (part.type === 'reasoning') {
      const text = part.text || hidden
      return text === '' ? [] : [{ type: 'reasoning', text }]
    }
    if (part.type === 'tool-call') return part.malformed === undefined ? [{ ...part, callId: '' }] : []
    return part.type === 'text' && part.text.trim() !== '' ? [part] : []
  })
}

/** What each call got, by its name and arguments; the same call may have got several, in this order. */
function resultsOf(messages: readonly Message[]): Map<string, string[]> {
  const calls = new Map<string, string>()
  const results = new Map<string, string[]>()
  for (const part of messages.flatMap((message) => message.parts as Part[])) {
    if (part.type === 'tool-call') calls.set(part.callId, keyOf(part.name, part.input))
    if (part.type !== 'tool-result') continue
    const key = calls.get(part.callId)
    const text = part.output.map((piece) => (piece.type === 'text' ? piece.text : '[picture]')).join('\n')
    if (key !== undefined) results.set(key, [...(results.get(key) ?? []), text])
  }
  return results
}

function keyOf(name: string, input: unknown): string {
  return `${name} ${JSON.stringify(input)}`
}

function toolsOf(messages: readonly Message[], results: Map<string, string[]>): Tool[] {
  const names = new Set<string>()
  for (const part of messages.flatMap((message) => message.parts as Part[]))
    if (part.type === 'tool-call') names.add(part.name)
  return [...names].map((name) => ({
    name,
    input: { type: 'object' },
    run: (input: unknown) => results.get(keyOf(name, input))?.shift() ?? 'There is no result.',
  }))
}
