// The small parts that wires share, at their limits.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Context, Note } from '../../src/core/context.ts'
import type { JsonObject } from '../../src/core/json.ts'
import type { Message, Part } from '../../src/core/message.ts'
import { billedIn, billedTokensIn, longWritesIn } from '../../src/wires/shared/billing.ts'
import {
  blockStream,
  endOpenBlocks,
  startBlock,
  stopAllBlocks,
  stopBlock,
  type BlockDialect,
} from '../../src/wires/shared/block-stream.ts'
import { fromPlace } from '../../src/wires/shared/body-bytes.ts'
import { callRegistry } from '../../src/wires/shared/call-registry.ts'
import { cleanJson } from '../../src/wires/shared/clean-json.ts'
import { createDecoding, takeEvents, failedWith, stopAfterInterruption } from '../../src/wires/shared/decoding.ts'
import { createExpiringMap } from '../../src/wires/shared/expiring-map.ts'
import { pageOf } from '../../src/wires/shared/item-pages.ts'
import { mapNames } from '../../src/wires/shared/names.ts'
import { blocksOf, promptTokens, segment, type Prompt } from '../../src/wires/shared/prompt.ts'
import { inRange, rangeIssues } from '../../src/wires/shared/ranges.ts'
import { anthropicRefusal, Refusal } from '../../src/wires/shared/refusal.ts'
import { refusedFields, withoutFields } from '../../src/wires/shared/refused-fields.ts'
import { readOptions } from '../../src/wires/shared/request-options.ts'
import { couldBeReal, seal, unseal } from '../../src/wires/shared/seal.ts'
import { holdsToken, isToken, tokenPrefix, tokensIn } from '../../src/wires/shared/sealed-token.ts'
import { withSource, writeBySource } from '../../src/wires/shared/transcript.ts'

describe('state under an id', () => {
  test('is returned to its owner until it expires, and to no one else', () => {
    const map = createExpiringMap<string>(1000)
    map.put('a', 'ada', 'x', 0)
    assert.equal(map.get('a', 'ada', 999), 'x')
    assert.equal(map.get('a', 'ada', 1000), undefined)
    assert.equal(map.get('a', 'bob', 0), undefined)
    assert.equal(map.get('b', 'ada', 0), undefined)
    map.put('a', 'ada', 'y', 900)
    assert.equal(map.get('a', 'ada', 1899), 'y', 'it counts from the last write')
  })

  test('is deleted by its owner only, expires for every owner, and is cleared as a whole', () => {
    const map = createExpiringMap<string>(1000)
    map.put('a', 'ada', 'x', 0)
    assert.deepEqual([map.delete('a', 'bob'), map.delete('a', 'ada'), map.delete('a', 'ada')], [false, true, false])
    map.put('a', 'ada', 'x', 0)
    assert.deepEqual([map.expire('a'), map.expire('a')], [true, false])
    map.put('a', 'ada', 'x', 0)
    map.clear()
    assert.equal(map.get('a', 'ada', 0), undefined)
  })

  test('is limited to five hundred, and the one that was written longest ago goes first', () => {
    const map = createExpiringMap<number>(1000)
    for (let i = 0; i < 500; i++) map.put(`${i}`, 'ada', i, 0)
    map.put('0', 'ada', 0, 1)
    map.put('new', 'ada', 1, 1)
    assert.deepEqual([map.get('0', 'ada', 1), map.get('1', 'ada', 1), map.get('2', 'ada', 1)], [0, undefined, 2])
  })
})

describe('a number', () => {
  test('at the end of its range is accepted, beyond it refused with the side that was left', () => {
    assert.deepEqual(rangeIssues({ temperature: 0, top_p: 1, presence_penalty: -2, frequency_penalty: 2 }), [])
    assert.deepEqual(rangeIssues({ temperature: 2, top_p: 0, presence_penalty: 'high' }), [])
    const [low, high] = rangeIssues({ temperature: -0.1, top_p: 1.1 })
    assert.deepEqual([low?.param, low?.code], ['temperature', 'decimal_below_min_value'])
    assert.match(low?.message ?? '', /below minimum value\. Expected a value >= 0, but got -0\.1/)
    assert.deepEqual([high?.param, high?.code], ['top_p', 'decimal_above_max_value'])
    assert.match(high?.message ?? '', /above maximum value\. Expected a value <= 1, but got 1\.1/)
  })

  test('for a request is moved to the nearest accepted one, with a note, and otherwise without', () => {
    const notes: Note[] = []
    assert.deepEqual([inRange('temperature', 2, notes), inRange('top_p', 0, notes)], [2, 0])
    assert.deepEqual(notes, [])
    assert.deepEqual([inRange('temperature', 3, notes), inRange('top_p', -1, notes)], [2, 0])
    assert.equal(inRange('temperature', 1.5, notes, 1), 1)
    assert.deepEqual(
      notes.map(({ what }) => what),
      ['temperature 3 to 2', 'top_p -1 to 0', 'temperature 1.5 to 1'],
    )
  })
})

describe('a page', () => {
  const items = Array.from({ length: 25 }, (_, i): JsonObject => ({ id: `i${i}` }))
  const page = (query: string) => {
    const { data, first_id: first, last_id: last, has_more: more } = pageOf(items, new URLSearchParams(query))
    return [(data as JsonObject[]).length, first, last, more]
  }

  test('has twenty items, newest first, and says whether more follow', () => {
    assert.deepEqual(page(''), [20, 'i24', 'i5', true])
    assert.deepEqual(page('order=asc&limit=25'), [25, 'i0', 'i24', false])
    assert.deepEqual(page('order=asc&limit=24'), [24, 'i0', 'i23', true])
    assert.deepEqual(page('order=asc&after=i22'), [2, 'i23', 'i24', false])
    assert.deepEqual(page('after=i0'), [0, null, null, false])
    assert.deepEqual([page('limit=1')[0], page('limit=100')[0]], [1, 25])
  })

  test('is refused with a limit that is no number or out of range, another order, or after an unknown item', () => {
    for (const [query, says] of [
      ['limit=0', /below minimum value\. Expected a value >= 1, but got 0/],
      ['limit=101', /above maximum value\. Expected a value <= 100, but got 101/],
      ['limit=x', /Invalid type for 'limit'/],
      ['order=up', /Invalid value: 'up'/],
      ['after=none', /Item with id 'none' not found/],
    ] as const) {
      assert.throws(
        () => page(query),
        (error) => error instanceof Refusal && says.test(JSON.stringify(error.body)),
        query,
      )
    }
  })
})

describe('a seal', () => {
  test('is opened only if it is ours and unchanged', () => {
    const sealed = seal({ a: 'ü' })
    assert.deepEqual(unseal(sealed), { a: 'ü' })
    const bytes = Buffer.from(sealed, 'base64')
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 1
      assert.equal(unseal(changed.toString('base64')), undefined, `byte ${at}`)
    }
    assert.equal(unseal(bytes.subarray(0, 20).toString('base64')), undefined)
    assert.equal(unseal(''), undefined)
  })

  test('of another service is long and only base64, and never ours', () => {
    assert.equal(couldBeReal('A'.repeat(64)), true)
    assert.equal(couldBeReal('A'.repeat(63)), false)
    assert.equal(couldBeReal(`${'A'.repeat(64)}==`), true)
    assert.equal(couldBeReal(`${'A'.repeat(64)}!`), false)
    assert.equal(couldBeReal(seal({ text: 'x'.repeat(100) })), false)
  })
})

test('a token of ours is found anywhere in provider data, and only as a whole', () => {
  const token = tokenPrefix + 'a'.repeat(44)
  assert.deepEqual(tokensIn(`{"a":"${token}","b":"${token}"}`), [token, token])
  assert.deepEqual(tokensIn(`"${token.slice(0, -1)}"`), [])
  assert.deepEqual([isToken(token), isToken(`x${token}`)], [true, false])
  assert.equal(holdsToken([{ a: [{ b: token }] }]), true)
  assert.equal(holdsToken([1, null, 'text', { a: ['b'] }]), false)
})

describe('the calls of a transcript', () => {
  test('get their own ids again where a provider repeats them, and results find the newest open call', () => {
    const calls = callRegistry()
    assert.equal(calls.register('call_0', 'look'), 'call_0')
    assert.equal(calls.answer('call_0', undefined)?.callId, 'call_0')
    calls.turn()
    assert.equal(calls.register('call_0', 'look'), 'call_0~2')
    assert.equal(calls.answer('call_0', undefined)?.callId, 'call_0~2')
    calls.turn()
    assert.equal(calls.register('call_0', 'look'), 'call_0~3')
    calls.turn()
    assert.equal(calls.answer('call_0', undefined)?.callId, 'call_0~3', 'a late result')
    assert.equal(calls.answer('unknown', 'look'), undefined)
  })

  test('without ids are answered by name and order, each once', () => {
    const calls = callRegistry()
    const [a, b, c] = ['look', 'find', 'look'].map((name) => calls.register(undefined, name))
    assert.equal(new Set([a, b, c]).size, 3)
    const answered = ['look', 'look', 'other', 'look'].map((name) => calls.answer(undefined, name)?.callId)
    assert.deepEqual(answered, [a, c, b, undefined])
  })

  test('of one item are answered together, those of others are not', () => {
    const calls = callRegistry()
    for (const [alias, item] of [
      ['a', 1],
      ['b', 1],
      ['c', 2],
      ['d', undefined],
      ['e', undefined],
    ] as const) {
      calls.register(alias, 'look', item)
    }
    const ids = (alias: string) => calls.answerItem(alias, undefined).map(({ callId }) => callId)
    assert.deepEqual([ids('a'), ids('d'), ids('x')], [['a', 'b'], ['d'], []])
  })
})

describe('tool names', () => {
  const mapped = (names: string[], fits = /^[a-zA-Z0-9_-]+$/, most = 20) => {
    const notes: Note[] = []
    const context = { tools: names.map((name) => ({ name })), messages: [] } as unknown as Context
    const { toWire, changed } = mapNames(context, fits, most, notes)
    return { wire: names.map(toWire), changed, notes }
  }

  test('that fit are left alone, without a note', () => {
    const { wire, changed, notes } = mapped(['look_up', 'x'.repeat(20)])
    assert.deepEqual([wire, changed, notes], [['look_up', 'x'.repeat(20)], {}, []])
  })

  test('that do not fit are changed, with a note, and mapped back', () => {
    const { wire, changed, notes } = mapped(['files/read', 'üb', '', '1a'], /^[a-zA-Z_][a-zA-Z0-9_]*$/)
    assert.deepEqual(wire, ['files_read', '_b', '_', '_1a'])
    assert.deepEqual(changed, { files_read: 'files/read', _b: 'üb', _: '', _1a: '1a' })
    assert.equal(notes.length, 4)
    assert.deepEqual(mapped(['a-b/c'], /^[a-zA-Z0-9_]+$/).wire, ['a_b_c'])
    assert.deepEqual(mapped(['a-b/c']).wire, ['a-b_c'], 'what fits of a name stays')
  })

  test('never become the same, nor longer than allowed', () => {
    const long = 'x'.repeat(21)
    const { wire } = mapped(['a/b', 'a_b', 'a.b', long, `${long}y`])
    assert.equal(new Set(wire).size, 5)
    assert.equal(wire[1], 'a_b', 'a name that fits keeps it')
    for (const name of wire) assert.ok(name.length <= 20, name)
    assert.equal(wire[3]?.length, 20)
  })
})

test('JSON is cleaned at any depth, keys too, with one note; what is clean stays the same object', () => {
  const notes: Note[] = []
  const clean = { a: ['b', { c: 1, d: null }] }
  assert.equal(cleanJson(clean, 'x', notes), clean)
  assert.deepEqual(notes, [])
  const broken = { 'k\uD800': 1, a: [{ b: 'x\uD800' }], n: 2 }
  assert.deepEqual(cleanJson(broken, 'x', notes), { 'k\uFFFD': 1, a: [{ b: 'x\uFFFD' }], n: 2 })
  assert.equal(notes.length, 1)
  assert.deepEqual(cleanJson(['\uD800'], 'x', notes), ['\uFFFD'])
  assert.equal(notes.length, 2)
})

test('a reply that was cut off says by whom, and an error in a stream keeps its code', () => {
  const failure = { kind: 'timeout', message: 'late' } as const
  assert.deepEqual(stopAfterInterruption({ reason: 'cancelled' }), { stop: { reason: 'cancelled' } })
  assert.deepEqual(stopAfterInterruption({ reason: 'interrupted', failure }), {
    stop: { reason: 'interrupted' },
    failure,
  })
  assert.equal(stopAfterInterruption(undefined).failure?.kind, 'malformed-reply')
  assert.deepEqual(failedWith(failure).stop, { reason: 'failed' })
  assert.deepEqual(failedWith({ ...failure, code: 'E1' }).stop, { reason: 'failed', raw: 'E1' })
})

test('what a provider says it bills is read in its own unit, and nothing is invented', () => {
  assert.equal(billedIn({ cost_in_usd_ticks: 25_000_000_000 }), 2.5)
  assert.equal(billedIn({ cost: 0.5 }), 0.5)
  const details = { upstream_inference_cost: 0.25 }
  assert.equal(billedIn({ cost: 0.5, is_byok: true, cost_details: details }), 0.75)
  assert.equal(billedIn({ cost: 0.5, is_byok: false, cost_details: details }), 0.5)
  assert.deepEqual([billedIn({ cost: '1' }), billedIn('1'), billedIn(undefined)], [undefined, undefined, undefined])
  assert.equal(longWritesIn({ cache_creation: { ephemeral_1h_input_tokens: 7 } }), 7)
  assert.deepEqual([longWritesIn({ cache_creation: {} }), longWritesIn(undefined)], [undefined, undefined])
  assert.deepEqual(billedTokensIn({ billed_units: { input_tokens: 3 } }), { input: 3, output: 0 })
  assert.deepEqual(billedTokensIn({ billed_units: { output_tokens: 3 } }), { input: 0, output: 3 })
  assert.deepEqual([billedTokensIn({ billed_units: 1 }), billedTokensIn(undefined)], [undefined, undefined])
})

test('the type of an error of Anthropic follows its status', () => {
  const typeOf = (status: number) => JSON.stringify(anthropicRefusal(status, 'x', 'no').body)
  assert.match(typeOf(404), /not_found_error/)
  assert.match(typeOf(529), /overloaded_error/)
  assert.match(typeOf(400), /invalid_request_error/)
})

test('an element comes from its place in the history, and from none if it is not part of it', () => {
  assert.deepEqual(fromPlace('messages[3]'), ['messages[3]'])
  assert.deepEqual([fromPlace(''), fromPlace('messages[-1]')], [[], []])
})

test('a prompt without segments has no tokens, and empty content no blocks', () => {
  assert.equal(
    promptTokens({ segments: [] } as unknown as Prompt, (text) => text.length),
    0,
  )
  assert.deepEqual(blocksOf('', 'text'), [])
  assert.deepEqual(blocksOf('Hi', 'text'), [{ type: 'text', text: 'Hi' }])
  assert.deepEqual(blocksOf([{ type: 'x' }], 'text'), [{ type: 'x' }])
})

describe('a stream of blocks', () => {
  /** Blocks as they are at their end: deltas are of no concern here. */
  const dialect: BlockDialect<JsonObject> = {
    read: (block) => ({
      delta: () => undefined,
      finish: () => ({ block, ...(block.broken === true && { malformed: '{"a' }) }),
    }),
    part: ({ type, text, id }): Part & { type: 'text' | 'reasoning' | 'server-tool' } =>
      type === 'server'
        ? { type: 'server-tool', name: 'search', input: { id: id as string } }
        : { type: type === 'thinking' ? 'reasoning' : 'text', text: String(text) },
    call: ({ type, id, name, input }) => (type === 'call' ? { id, name, input } : undefined),
    serverCall: ({ type, id }) => (type === 'server' ? String(id) : undefined),
    serverResult: ({ type, id, output }) =>
      type === 'found' ? { id: String(id), output: output as string } : undefined,
  }
  const begun = (...blocks: JsonObject[]) => {
    const state = blockStream(createDecoding({ protocol: 'p', provider: 'p', model: 'm' }, undefined), dialect)
    for (const [at, block] of blocks.entries()) startBlock(state, at, block)
    takeEvents(state)
    return state
  }
  const ended = (state: ReturnType<typeof begun>) =>
    takeEvents(state).flatMap((event) => (event.type === 'part-end' ? [[event.index, event.part]] : []))

  test('that was interrupted keeps its text and what the provider ran, but no empty text, thinking or call', () => {
    const whole = { type: 'text', text: 'Hello' }
    const ran = { type: 'server', id: 's' }
    const state = begun(ran, { type: 'text', text: '' }, { type: 'thinking', text: 'Hm' }, { type: 'call' }, whole)
    stopBlock(state, 0)
    endOpenBlocks(state)
    assert.deepEqual(ended(state), [
      [4, { type: 'text', text: 'Hello', from: 1 }],
      [0, { type: 'server-tool', name: 'search', input: { id: 's' }, from: 0 }],
    ])
    assert.deepEqual(state.native, [ran, whole])
  })

  test('makes one part of a call that the provider runs and its result', () => {
    const state = begun({ type: 'server', id: 's' })
    stopBlock(state, 0)
    assert.deepEqual(ended(state), [], 'it waits for its result')
    startBlock(state, 1, { type: 'found', id: 's', output: 'x' })
    assert.deepEqual(takeEvents(state), [])
    stopAllBlocks(state)
    endOpenBlocks(state)
    const input = { id: 's' }
    assert.deepEqual(ended(state), [[0, { type: 'server-tool', name: 'search', input, from: 0, output: 'x' }]])
    assert.equal(state.native.length, 2)
  })

  test('counts its calls, and leaves arguments that are no JSON as they were', () => {
    const state = begun(
      { type: 'call', id: 'a', name: 'look', input: { b: 1 } },
      { type: 'call', id: 'c', name: 'look' },
      { type: 'call', id: 'd', name: 'look', input: { b: 1 }, broken: true },
    )
    assert.equal(state.calls, 3)
    stopAllBlocks(state)
    stopBlock(state, 7)
    assert.deepEqual(
      ended(state).map(([index, part]) => [index, { ...(part as object), callId: '' }]),
      [
        [0, { type: 'tool-call', callId: '', alias: 'a', name: 'look', input: { b: 1 }, from: 0 }],
        [1, { type: 'tool-call', callId: '', alias: 'c', name: 'look', input: {}, from: 1 }],
        [2, { type: 'tool-call', callId: '', alias: 'd', name: 'look', input: {}, malformed: '{"a', from: 2 }],
      ],
    )
  })
})

describe('a field that a provider refuses', () => {
  test('is left out of the structure of a reply, and stays in data such as arguments', () => {
    const reply = {
      content: [
        { type: 'text', text: 'Hi', x: 1 },
        { type: 'text', text: 'you' },
      ],
      tool_calls: [{ function: { name: 'look', x: 2, arguments: { x: 3 } } }],
      input: { x: 4 },
      summary: undefined,
      x: 5,
    }
    const left = withoutFields(reply, new Set(['x']))
    assert.deepEqual(left, {
      content: [
        { type: 'text', text: 'Hi' },
        { type: 'text', text: 'you' },
      ],
      tool_calls: [{ function: { name: 'look', arguments: { x: 3 } } }],
      input: { x: 4 },
      summary: undefined,
    })
    assert.equal((left as typeof reply).content[1], reply.content[1], 'what is not changed is the same object')
    assert.equal(withoutFields(reply, new Set(['y'])), reply)
    assert.deepEqual(withoutFields({ x: 1 }, new Set(['x'])), {})
    assert.equal(withoutFields('x', new Set(['x'])), 'x')
  })

  test('is named once, by the end of its path, and never one that a reply needs', () => {
    assert.deepEqual(refusedFields("Unknown parameter: 'input[1].x'. Unknown parameter: 'input[2].x'."), ['x'])
    assert.deepEqual(refusedFields('messages.1.content.0.text: Extra inputs are not permitted'), [])
    assert.deepEqual(refusedFields("Unknown parameter: 'input[1]."), [])
    assert.deepEqual(refusedFields("Unknown parameter: 'input.'"), [])
  })
})

test('a request has the first limit of output above zero, and no empty stop sequence', () => {
  const given = { toolChoice: 'auto', reasoning: 'free' } as const
  const read = (maxOutput: number[], stop: string[]) => readOptions({ ...given, maxOutput, stop })
  const rest = { ...given, parallelTools: true }
  assert.deepEqual(read([0, 1, 5], ['', 'x']), { ...rest, maxOutput: 1, stop: ['x'] })
  assert.deepEqual(read([0], ['']), rest)
})

test('messages of another format are written in one group each, and none is made of nothing', () => {
  const text = (value: string) => ({ role: 'user' as const, parts: [{ type: 'text' as const, text: value }] })
  const own = withSource('ours', 'own', [text('a'), text('b')])
  const written = (...messages: Message[]) => writeBySource(messages, 'ours', (run) => [run.length])
  assert.deepEqual(written(...own), ['own'])
  assert.deepEqual(written(text('x'), text('y'), ...own, text('z')), [2, 'own', 1])
  assert.deepEqual(written(...own.slice(0, 1)), [1], 'half of a group is not the original')
  assert.deepEqual(written(...own.slice(0, 1), ...own), [1, 'own'])
})

test('long base64 in a field for files counts as a medium, and any other text as text', () => {
  const media = (piece: JsonObject) => segment('messages', 'user', piece).media
  const file = 'A'.repeat(512)
  for (const key of ['data', 'bytes', 'file_data', '0']) assert.equal(media({ [key]: file }), 1, key)
  assert.equal(media({ text: file }), 0)
  assert.equal(media({ data: file.slice(1) }), 0)
  assert.equal(media({ data: 'no file '.repeat(100) }), 0)
  assert.equal(media({ url: `data:image/png;base64,${file}` }), 1)
  assert.equal(media({ type: 'redacted_thinking', data: file }), 0)
})
