// What must hold for any history under any policy, on any provider: P1 to P4.

import assert from 'node:assert/strict'
import test from 'node:test'
import fc, { runs } from '../property.ts'
import type { Note } from '../../src/core/context.ts'
import type { Json } from '../../src/core/json.ts'
import type { Message } from '../../src/core/message.ts'
import { estimateMessage } from '../../src/context/count.ts'
import { noDecisions, type Decisions } from '../../src/context/decisions.ts'
import type { Policy, PolicySettings } from '../../src/settings/policy.ts'
import { assemble } from '../../src/context/assemble.ts'
import { prepare, refuse } from '../../src/index.ts'
import { allWires } from '../../src/wires/all.ts'
import { openaiChat } from '../../src/wires/openai-chat/index.ts'
import type { Wire } from '../../src/wires/wire.ts'
import { catalogue } from '../../src/providers/catalogue.ts'
import { resolveWith } from '../../src/providers/resolve-with.ts'
import { rows } from '../../src/providers/rows.ts'
import { anyHistory, loopHistory } from '../arbitrary.ts'
import { call, reply, result, user } from '../histories.ts'
import { everyTarget, someTargets, tools } from '../targets.ts'

const anySettings: fc.Arbitrary<PolicySettings> = fc.record(
  {
    maxMessages: fc.option(fc.integer({ min: 1, max: 8 })),
    maxTokens: fc.option(fc.integer({ min: 20, max: 300 })),
    maxToolTurns: fc.option(fc.integer({ min: 0, max: 3 })),
    fold: fc.constantFrom('stub', 'results', 'remove', 'provider'),
    step: fc.integer({ min: 1, max: 4 }),
    rhythm: fc.constantFrom('steps', 'economy'),
    pinned: fc.constant('A long manual.'),
  },
  { requiredKeys: [] },
)
const anyPolicy: fc.Arbitrary<Policy> = fc.oneof(
  fc.constantFrom<Policy>('economy', 'classic', 'full', 'small'),
  anySettings,
)

/** Decisions that some other history may have asked for: they must do no harm to this one. */
const anyDecisions: fc.Arbitrary<Decisions> = fc
  .record({
    from: fc.integer({ min: 0, max: 10 }),
    length: fc.integer({ min: 0, max: 10 }),
    style: fc.constantFrom('stub', 'results', 'remove', 'provider'),
    before: fc.option(fc.integer({ min: 0, max: 14 })),
    summary: fc.option(fc.integer({ min: 0, max: 10 })),
    plain: fc.boolean(),
  })
  .map(({ from, length, style, before, summary, plain }) => ({
    folds: [{ from, through: from + length, style, why: 'old' }],
    ...(before !== null && { cut: { before, why: 'too long' } }),
    compactions: summary === null ? [] : [{ through: summary, text: 'what was said before' }],
    plain: plain ? [{ through: 20, provider: 'elsewhere', protocol: 'elsewhere' }] : [],
  }))

for (const target of someTargets) {
  const name = `${target.provider}/${target.model} on ${target.protocol}`

  test(`whatever a policy leaves of a history is accepted by ${name}, and applying it twice is the same`, () => {
    fc.assert(
      fc.property(anyHistory, anyPolicy, (messages, policy) => {
        const before = JSON.stringify(messages)
        const { body, notes } = prepare({ ...target, messages, policy, tools })
        assert.deepEqual(refuse(target.protocol, body, target), [])
        assert.equal(JSON.stringify(prepare({ ...target, messages, policy, tools }).body), JSON.stringify(body))
        assert.equal(JSON.stringify(messages), before, 'the log is not touched')
        for (const note of notes) assert.ok(note.what !== '' && note.why !== '')
      }),
      { numRuns: runs(60) },
    )
  })
}

test('everything that is not sent is in a note, under any policy', () => {
  fc.assert(
    fc.property(loopHistory, anyPolicy, (messages, policy) => {
      const { body, notes } = prepare({
        provider: 'openai',
        protocol: 'openai-chat',
        model: 'gpt-4o',
        messages,
        policy,
      })
      const noted = placesIn(notes)
      const sent = strings(body)
      for (const [place, message] of messages.entries()) {
        for (const part of message.parts) {
          if (part.type !== 'text' || part.text.trim() === '') continue
          assert.ok(sent.includes(part.text) || noted.has(place), `messages[${place}] ${JSON.stringify(part.text)}`)
        }
      }
    }),
  )
})

test('recorded decisions leave a valid request on every provider', () => {
  for (const target of everyTarget) {
    const endpoint = resolveWith({ ...target, rows, env: {}, keyless: true, baseUrl }, protocolOf, catalogue)
    fc.assert(
      fc.property(anyHistory, anyDecisions, anyPolicy, (history, decisions, policy) => {
        const { quirks, capabilities, protocol } = endpoint
        const { body } = assemble({
          history,
          policy,
          tools,
          decisions,
          protocol,
          target: { ...target, options: {}, quirks, capabilities },
        })
        assert.deepEqual(refuse(target.protocol, body, target), [], target.provider)
      }),
      { numRuns: runs(30) },
    )
  }
})

test('recorded decisions do not change, whatever follows', () => {
  fc.assert(
    fc.property(loopHistory, anyDecisions, (messages, decisions) => {
      let before: { body: Json[]; notes: string } | undefined
      for (const cut of requestsIn(messages)) {
        const { body, context, notes } = assembled(messages.slice(0, cut), 'economy', decisions)
        const list = body['messages'] as Json[]
        const about = JSON.stringify(notes.filter((note) => note.rule !== 'pair'))
        if (before && before.notes === about)
          assert.deepEqual(list.slice(0, before.body.length - 1), before.body.slice(0, -1))
        assert.ok(context.messages.length > 0)
        before = { body: list, notes: about }
      }
    }),
  )
})

test('between two steps of a policy a longer history keeps the encoded prefix', () => {
  const steps = anySettings.map((settings): PolicySettings => ({ ...settings, rhythm: 'steps' }))
  fc.assert(
    fc.property(loopHistory, steps, (messages, policy) => {
      let before: { body: Json[]; notes: string } | undefined
      for (const cut of requestsIn(messages)) {
        const { body, notes } = assembled(messages.slice(0, cut), policy)
        const list = body['messages'] as Json[]
        const about = JSON.stringify(notes.filter(({ rule }) => rule === 'window' || rule === 'tool-turns'))
        if (before?.notes === about) assert.deepEqual(list.slice(0, before.body.length - 1), before.body.slice(0, -1))
        before = { body: list, notes: about }
      }
    }),
  )
})

test('in a long conversation most requests begin with the whole request before them', () => {
  const messages = longHistory(120)
  for (const policy of [
    'classic',
    { maxToolTurns: 10 },
    { maxMessages: 40 },
    { maxTokens: 2000 },
    'small',
  ] as Policy[]) {
    let breaks = 0
    let before: Json[] = []
    const cuts = requestsIn(messages)
    for (const cut of cuts) {
      const list = assembled(messages.slice(0, cut), policy).body['messages'] as Json[]
      if (JSON.stringify(list.slice(0, before.length)) !== JSON.stringify(before)) breaks++
      before = list
    }
    // The small sizes of `classic` are passed often, whatever the step.
    assert.ok(
      breaks <= cuts.length * (policy === 'classic' ? 0.4 : 0.25),
      `${breaks} breaks in ${cuts.length} requests: ${JSON.stringify(policy)}`,
    )
  }
})

test('no request exceeds the limit of the model, except for its newest turn', () => {
  fc.assert(
    fc.property(loopHistory, anyPolicy, fc.integer({ min: 200, max: 1500 }), (messages, policy, contextWindow) => {
      const { context, estimate } = assembled(messages, policy, undefined, contextWindow)
      const newest = context.messages.slice(context.messages.findLastIndex((message) => message.role !== 'tool'))
      const pinned = context.messages.find((message) => message.role === 'user')
      const least = [...newest, ...(pinned ? [pinned] : [])].reduce((sum, one) => sum + estimateMessage(one), 0)
      assert.ok(estimate.input <= Math.max(contextWindow, least + 20), `${estimate.input} of ${contextWindow}`)
    }),
  )
})

test('the work grows with the history, not with its square', () => {
  for (const policy of ['economy', 'classic', 'full', 'small'] as const) {
    const [short, long] = [250, 500].map((turns) => {
      let looks = 0
      const messages = longHistory(turns).map((message) => ({
        ...message,
        get parts() {
          looks++
          return message.parts
        },
      })) as Message[]
      assembled(messages, policy, policy === 'economy' ? manyFolds(messages.length) : undefined)
      return looks
    })
    assert.ok((long ?? 0) <= (short ?? 0) * 2.3, `${policy}: ${short} looks, then ${long}`)
  }
})

const baseUrl = 'https://nowhere.invalid/v1'

function protocolOf(id: string): Wire {
  const found = allWires().find((protocol) => protocol.id === id)
  assert.ok(found)
  return found
}

function manyFolds(length: number): Decisions {
  const folds = []
  for (let from = 0; from < length - 40; from += 40)
    folds.push({ from, through: from + 38, style: 'stub' as const, why: 'old' })
  return { ...noDecisions, folds }
}

function assembled(history: readonly Message[], policy: Policy, decisions?: Decisions, contextWindow?: number) {
  return assemble({
    history,
    policy,
    protocol: openaiChat,
    target: {
      provider: 'openai',
      model: 'gpt-4o',
      options: {},
      quirks: {},
      capabilities: { ...openaiChat.capabilities, ...(contextWindow !== undefined && { contextWindow }) },
    },
    ...(decisions && { decisions }),
  })
}

function longHistory(turns: number): Message[] {
  return Array.from({ length: turns }, (_, i) => [
    user(`question ${i}`),
    reply(call(`c${i}`, 'clock', { zone: `z${i}` })),
    result(`c${i}`, `answer ${i} `.repeat(60), 'clock'),
    reply(`It is ${i}.`),
  ]).flat()
}

/** Where requests are made: the user or a tool spoke last. */
function requestsIn(messages: readonly Message[]): number[] {
  return [...messages.keys()].filter(
    (cut) => cut > 0 && messages[cut]?.role === 'assistant' && messages[cut - 1]?.role !== 'assistant',
  )
}

function placesIn(notes: readonly Note[]): Set<number> {
  const places = new Set<number>()
  for (const { at } of notes) {
    const [, from, to] = /^messages\[(\d+)(?:\.\.(\d+))?\]/.exec(at ?? '') ?? []
    if (from === undefined) continue
    for (let place = Number(from); place <= Number(to ?? from); place++) places.add(place)
  }
  return places
}

function strings(value: Json): string {
  if (typeof value === 'string') return `${value}\n`
  if (typeof value !== 'object' || value === null) return ''
  return Object.values(value)
    .map((inner) => strings(inner as Json))
    .join('')
}
