// One suite for every wire in the list: the same histories, options and oddities go through each of them. A wire that is
// added to src/wires/list.ts is in it; the tests in a wire's own folder are about what only that wire has.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { pair } from '../../src/context/pair.ts'
import { fold, type Folded } from '../../src/core/fold.ts'
import type { Json } from '../../src/core/json.ts'
import type { Message, Part, Reply } from '../../src/core/message.ts'
import type { Options } from '../../src/settings/options.ts'
import { loadTranscript, loadWire, wireIds } from '../../src/wires/list.ts'
import type { EndCause, Quirks, Wire } from '../../src/wires/wire.ts'
import { anyHistory, loopHistory } from '../arbitrary.ts'
import { messagesOf } from '../body.ts'
import { call, failure, onePixel, reply, result, user, whatTimeIsIt } from '../histories.ts'
import fc, { runs } from '../property.ts'
import { everyTarget, tools } from '../targets.ts'

/** What a reply of the wire may contain besides text and calls. */
interface Carries {
  reasoning?: boolean
  malformed?: boolean
}

const carries: Record<string, Carries> = {
  'mistral-chat': { reasoning: true, malformed: true },
  'ollama-chat': { reasoning: true, malformed: true },
  'openai-chat': { malformed: true },
  'openai-responses': { malformed: true },
  'gemini-generate': { reasoning: true },
  'cohere-chat': { reasoning: true, malformed: true },
}

/** What every wire must bring across, in its own way. */
const histories: Record<string, Message[]> = {
  'one call and its result': whatTimeIsIt,
  'two calls at once, one of which fails': [
    user('Please go.'),
    reply(call('a', 'clock', { zone: 'UTC' }), call('b', 'clock')),
    failure('a', 'It broke.', 'clock'),
    result('b', 'It is fine.', 'clock'),
    user('And now?'),
  ],
  'a call that no one answered': [user('Please go.'), reply('Gladly.', call('a', 'clock')), user('Well?')],
  'two users in a row': [user('First.'), user('Second.'), reply('Third.'), user('Fourth.')],
  'two replies in a row': [user('First.'), reply('Second.'), reply('Third.'), user('Fourth.')],
  'an image beside words': [user('Look at this.', onePixel), reply('A dot.'), user('Which colour?')],
  'a tool that is called by a name that no wire allows': [
    user('Read it.'),
    reply(call('a', 'fs.read file', { path: '/etc/motd' })),
    result('a', 'Welcome.', 'fs.read file'),
    user('Thank you.'),
  ],
}

function textsOf(messages: readonly Message[], also?: 'reasoning'): string[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part): string[] => {
      if (part.type === 'tool-result') return part.output.flatMap((one) => (one.type === 'text' ? [one.text] : []))
      return part.type === 'text' || part.type === also ? [part.text] : []
    }),
  )
}

const oddities = fc.constantFrom<Quirks>(
  {},
  { toolMessages: 'text' },
  { alternate: true },
  { stringContent: true },
  { bridgeAfterTool: true },
  { flatArguments: true },
)

const wishes = fc.constantFrom<Options>(
  {},
  { stream: false },
  { maxOutput: 100 },
  { temperature: 0.5, topP: 0.9 },
  { topK: 40, seed: 7, presencePenalty: 0.5, frequencyPenalty: 0.5 },
  { stop: ['END'] },
  { effort: 'low' },
  { store: false },
)

const words = fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' })
const input = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), {
  maxKeys: 3,
  noNullPrototype: true,
}) as fc.Arbitrary<Json>

/** A reply as the wire can carry it: a thought, then words, then calls. */
function carriedBy({ reasoning = false, malformed = false }: Carries): fc.Arbitrary<Reply> {
  const one = fc.record({
    name: fc.constantFrom('a', 'b'),
    input,
    broken: malformed ? fc.boolean() : fc.constant(false),
  })
  return fc
    .record({
      thought: reasoning ? fc.option(words) : fc.constant(null),
      said: fc.option(words),
      calls: fc.array(one, { maxLength: 3 }),
      length: fc.boolean(),
    })
    .map(({ thought, said, calls, length }) => ({
      role: 'assistant',
      parts: [
        ...(thought === null ? [] : [{ type: 'reasoning' as const, text: thought }]),
        ...(said === null ? [] : [{ type: 'text' as const, text: said }]),
        ...calls.map(({ name, input: given, broken }, n): Part => ({
          type: 'tool-call',
          callId: `call-${n}`,
          name,
          ...(broken ? { input: {}, malformed: '{"a": ' } : { input: given }),
        })),
      ],
      native: [],
      origin: { protocol: 'elsewhere', provider: 'elsewhere', model: 'm' },
      stop: { reason: length ? 'length' : calls.length > 0 ? 'tool-calls' : 'done' },
    }))
}

const usage = { input: 5, output: 7, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
const profile = { model: 'm', replyId: 'r', createdAt: 1, usage }

function readBack(wire: Wire, chunks: readonly Json[], cause?: EndCause): Folded {
  const origin = { protocol: wire.id, provider: 'elsewhere', model: 'm' }
  const decoder = wire.decoder(origin, { callId: (n) => `call-${n}` })
  return fold([...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end(cause)], origin)
}

/** A part without what only its own reply knows. */
function portable(part: Part): Part {
  const { from: _, alias: __, ...rest } = part as Part & { from?: number; alias?: string }
  return rest
}

const numRuns = runs(300)

for (const id of wireIds) {
  const wire = await loadWire(id)
  const served = everyTarget.find(({ protocol }) => protocol === id) ?? assert.fail(`no provider serves ${id}`)
  const encode = (messages: Message[], quirks: Quirks = {}, options: Options = {}, places?: number[]) =>
    wire.encode(
      { system: [{ type: 'text', text: 'be kind' }], messages, tools, cacheAfter: [], ...(places && { places }) },
      { provider: 'elsewhere', model: served.model, quirks, capabilities: wire.capabilities, options },
    )

  describe(id, () => {
    test('no history, with any oddity of a server and any option, makes a body that is refused', () => {
      fc.assert(
        fc.property(anyHistory, oddities, wishes, (history, quirks, options) => {
          const { messages, places } = pair(history)
          const { body } = encode(messages, quirks, options, places)
          assert.deepEqual(wire.refuse(body, { provider: 'elsewhere', model: served.model }), [])
        }),
        { numRuns },
      )
    })

    test('the same history gives the same bytes, and a longer one begins as a shorter one does', () => {
      // Where neighbours are joined, a reply that cannot be sent joins the messages around it.
      const steady = oddities.filter(({ alternate }) => !alternate)
      fc.assert(
        fc.property(loopHistory, steady, (history, quirks) => {
          const whole = encode(history, quirks)
          assert.equal(JSON.stringify(whole.body), JSON.stringify(encode(structuredClone(history), quirks).body))
          for (const [cut, message] of history.entries()) {
            if (message.role !== 'assistant' || history[cut - 1]?.role === 'assistant') continue
            // The last element may be one that the wire asks for at the end.
            const before = messagesOf(encode(history.slice(0, cut), quirks).body).slice(0, -1)
            assert.deepEqual(messagesOf(whole.body).slice(0, before.length), before)
          }
        }),
        { numRuns: numRuns / 2 },
      )
    })

    test('a reply is decoded the same, complete or in pieces of any size, and is written unchanged', () => {
      fc.assert(
        fc.property(carriedBy(carries[id] ?? {}), fc.integer({ min: 1, max: 12 }), (sent, piece) => {
          const { reply: read, usage: reported } = readBack(wire, wire.split(wire.whole(sent, profile), piece))
          assert.deepEqual(read.parts.map(portable), sent.parts)
          assert.equal(read.stop.reason, sent.stop.reason)
          assert.deepEqual([reported?.input, reported?.output], [usage.input, usage.output])
          assert.deepEqual(readBack(wire, wire.split(wire.whole(sent, profile))).reply.parts, read.parts)
          assert.deepEqual(readBack(wire, wire.split(wire.whole(read, profile), piece)).reply.native, read.native)
        }),
        { numRuns },
      )
    })

    test('counts of tokens below zero are none', () => {
      const text = JSON.stringify(wire.whole(reply('Hello.'), profile))
      const negative = text.replaceAll(/("[^"]*(?:token|count|input|output)[^"]*":)(\d)/gi, '$1-$2')
      assert.notEqual(negative, text)
      const { usage: reported } = readBack(wire, wire.split(JSON.parse(negative) as Json))
      for (const [name, value] of Object.entries(reported ?? {})) {
        if (name !== 'raw') assert.ok(Number(value) >= 0, `${name} ${String(value)}`)
      }
    })

    test('an interrupted stream is never mistaken for a complete reply', () => {
      fc.assert(
        fc.property(carriedBy(carries[id] ?? {}), fc.nat(), (sent, at) => {
          const chunks = wire.split(wire.whole(sent, profile), 8)
          const cut = chunks.slice(0, at % chunks.length)
          const { stop, parts } = readBack(wire, cut).reply
          if (stop.reason === 'interrupted') {
            assert.equal(readBack(wire, cut, { reason: 'cancelled' }).reply.stop.reason, 'cancelled')
          } else {
            // Only what says nothing about the content was cut off, such as the usage.
            assert.equal(stop.reason, sent.stop.reason)
            assert.deepEqual(parts.map(portable), sent.parts)
          }
        }),
        { numRuns },
      )
    })

    test('unexpected input is read without an error, and ends as interrupted', () => {
      for (const chunk of [null, 1, 'x', [], {}, { type: 'unheard-of' }, { choices: 'none' }] satisfies Json[]) {
        assert.equal(readBack(wire, [chunk]).reply.stop.reason, 'interrupted', JSON.stringify(chunk))
      }
    })

    test('an invalid body is refused: none at all, and one of the wrong type', () => {
      for (const body of [null, [], 'x', {}] satisfies Json[]) {
        const issues = wire.refuse(body, { provider: 'elsewhere', model: served.model })
        assert.ok(issues.length > 0, JSON.stringify(body))
        for (const issue of issues) {
          assert.ok(issue.status >= 400 && issue.message !== '' && issue.rule !== '')
          assert.equal(typeof wire.errorBody(issue), 'object')
        }
      }
    })

    for (const [name, history] of Object.entries(histories)) {
      test(`${name}: every text is in the body, and is read back from it in the same order`, async () => {
        const { body } = encode(pair(history).messages)
        const { messages } = (await loadTranscript(id)).read(body)
        // Text next to calls may be where the wire has reasoning.
        const all = textsOf(messages, 'reasoning').join('\n')
        let from = 0
        for (const text of textsOf(history)) {
          const at = all.indexOf(text, from)
          assert.ok(at >= 0, `${JSON.stringify(text)} is not in the rest of ${JSON.stringify(all)}`)
          from = at + text.length
        }
      })
    }
  })
}
