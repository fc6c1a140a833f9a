// The rules of the parts that wires share, one table each: what is accepted, what is not, and the limits in between.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Context, Note } from '../../src/core/context.ts'
import type { Json, JsonObject } from '../../src/core/json.ts'
import type { MediaPart, Message, Part, Reply, TextPart, ToolCallPart } from '../../src/core/message.ts'
import { answerInWords, answerSchemaFor } from '../../src/wires/shared/answer.ts'
import {
  bodyBytes,
  cachedElement,
  cachedList,
  originsIn,
  type CachedElement,
} from '../../src/wires/shared/body-bytes.ts'
import { callIds } from '../../src/wires/shared/call-ids.ts'
import { decoding, endReply, growPart, startPart, startReply, takeEvents } from '../../src/wires/shared/decoding.ts'
import { encodeCache } from '../../src/wires/shared/encode-cache.ts'
import { readFailure } from '../../src/wires/shared/failure.ts'
import { hashedId, wireIds } from '../../src/wires/shared/ids.ts'
import { readImage } from '../../src/wires/shared/image-header.ts'
import { mediaFromUrl, takesMedia } from '../../src/wires/shared/media.ts'
import { googleModels, openaiModels } from '../../src/wires/shared/model-forms.ts'
import { openaiErrorBody } from '../../src/wires/shared/openai-error.ts'
import { mergeExtra, nearestEffort } from '../../src/wires/shared/options.ts'
import {
  callInput,
  isText,
  noteReasoning,
  patchedCall,
  replyPieces,
  resultPieces,
  systemPieces,
  userPieces,
  writingFor,
  type Form,
} from '../../src/wires/shared/pieces.ts'
import { cacheOptions, chatPrompt, closed, markOf, segment, segmentTokens } from '../../src/wires/shared/prompt.ts'
import { put, putIn } from '../../src/wires/shared/refused-check.ts'
import {
  at,
  reasoningByEffort,
  readOptions,
  schemaIn,
  textsIn,
  toolChoiceIn,
} from '../../src/wires/shared/request-options.ts'
import { serverToolText, withSources } from '../../src/wires/shared/server-tool-text.ts'
import { partsInOrder } from '../../src/wires/shared/stream-writer.ts'
import { splitText } from '../../src/wires/shared/text.ts'
import { estimateTokens as estimateWireTokens } from '../../src/wires/shared/tokens.ts'
import { normaliseTurns, turnOf, wireList, type Turn, type TurnRules } from '../../src/wires/shared/turns.ts'
import type { Capabilities, Target } from '../../src/wires/wire.ts'
import { reply, user } from '../histories.ts'

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
})

function targetFor(capabilities: Partial<Capabilities>, answerSchema?: JsonObject): Target {
  return {
    provider: 'p',
    model: 'm',
    quirks: {},
    capabilities: { tools: true, ...capabilities },
    options: answerSchema ? { answerSchema } : {},
  } as unknown as Target
}

describe('the schema of an answer', () => {
  const schema = object({ a: { type: 'string' } })
  const asked = (capabilities: Partial<Capabilities>, hasTools: boolean) =>
    answerSchemaFor(targetFor(capabilities, schema), hasTools, 'openai', [])
  const inWords = (capabilities: Partial<Capabilities>, hasTools: boolean) =>
    answerInWords(targetFor(capabilities, schema), hasTools)

  test('is sent as such, as a wish for JSON, or not at all, as the provider supports it with and without tools', () => {
    assert.deepEqual(asked({}, false), { schema, strict: true })
    assert.deepEqual(asked({ answer: 'json' }, false), { strict: false })
    assert.equal(asked({ answer: 'none' }, false), undefined)
    assert.deepEqual(asked({ answer: 'json' }, true), { strict: false }, 'the same with tools by default')
    assert.equal(asked({ answer: 'schema', answerWithTools: 'none' }, true), undefined)
    assert.deepEqual(asked({ answer: 'none', answerWithTools: 'schema' }, true), { schema, strict: true })
    assert.equal(answerSchemaFor(targetFor({}), false, 'openai', []), undefined)
  })

  test('is written in the prompt exactly if the provider does not take it', () => {
    assert.equal(inWords({}, false), undefined)
    assert.equal(inWords({ answer: 'schema', answerWithTools: 'none' }, false), undefined)
    assert.match(inWords({ answer: 'none' }, false)?.text ?? '', /JSON Schema.*\n\{"type":"object"/)
    assert.equal(inWords({ answer: 'none' }, false)?.note.why, 'the provider supports no schema')
    assert.match(inWords({ answer: 'json' }, false)?.note.why ?? '', /only plain JSON/)
    assert.ok(inWords({ answer: 'schema', answerWithTools: 'none' }, true))
    const toolless = { answer: 'schema', answerWithTools: 'none', tools: false } as const
    assert.equal(inWords(toolless, true), undefined, 'a model without tools is sent none')
    assert.equal(answerInWords(targetFor({ answer: 'none' }), false), undefined)
  })

  test('that is no object is put into one only where JSON mode guarantees an object', () => {
    const list = { type: 'array', items: { type: 'string' } }
    const text = (answer: 'json' | 'none', of: JsonObject) => answerInWords(targetFor({ answer }, of), false)?.text
    assert.match(text('json', list) ?? '', /"properties":\{"value":\{"type":"array"/)
    assert.match(text('none', list) ?? '', /\n\{"type":"array"/)
    assert.match(text('json', schema) ?? '', /\n\{"type":"object","properties":\{"a"/)
  })

  test('is strict only if every object in it is closed and requires all it lists, without unsupported keywords', () => {
    const strict = (of: JsonObject) =>
      answerSchemaFor(targetFor({}, of), false, 'openai', [])?.strict ?? assert.fail('no schema')
    const open = { type: 'object', properties: { b: { type: 'string' } }, required: ['b'] }
    const yes: JsonObject[] = [
      object({}),
      object({ a: object({ b: { type: 'number' } }) }),
      object({ a: { type: 'array', items: object({ b: { type: 'number' } }) } }),
      object({ a: { anyOf: [{ type: 'null' }, object({})] } }),
      object({ a: { $ref: '#/$defs/b' } }, { $defs: { b: object({}) } }),
      object({ a: { type: 'string', enum: ['minLength'] } }),
    ]
    for (const one of yes) assert.equal(strict(one), true, JSON.stringify(one))
    const no: JsonObject[] = [
      open,
      object({ a: { type: 'string' } }, { required: [] }),
      object({ a: { type: 'string' }, b: { type: 'string' } }, { required: ['b'] }),
      object({ a: open }),
      object({ a: { type: 'array', items: open } }),
      object({ a: { anyOf: [{ type: 'null' }, open] } }),
      object({ a: { $ref: '#/$defs/b' } }, { $defs: { b: open } }),
      object({ a: { type: 'string', minLength: 1 } }),
      object({ a: { type: 'string', default: 'x' } }),
    ]
    for (const one of no) assert.equal(strict(one), false, JSON.stringify(one))
  })
})

describe('the prompt of a chat body', () => {
  test('has one segment for each tool, block and call, in order, and marks where messages end', () => {
    const { segments } = chatPrompt({
      tools: [{ name: 'look' }],
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: [{ type: 'text', text: 'And kind.' }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c' }], refusal: null, name: 'kim' },
        { role: 'assistant', content: '', tool_calls: [], audio: [] },
        'nonsense',
        { role: 'tool', content: 'done', tool_call_id: 'c' },
      ],
    })
    assert.deepEqual(
      segments.map(({ place, role, text, last }) => [place, text, last, text.startsWith(`${role} `)]),
      [
        ['tools', 'tools {"name":"look"}', true, true],
        ['system', 'system {"type":"text","text":"Be brief."}', true, true],
        ['system', 'developer {"type":"text","text":"And kind."}', true, true],
        ['messages', 'user {"type":"text","text":"a"}', false, true],
        ['messages', 'user {"type":"text","text":"b"}', true, true],
        ['messages', 'assistant {"name":"kim"}', false, true],
        ['messages', 'assistant {"id":"c"}', true, true],
        ['messages', 'tool {"tool_call_id":"c"}', false, true],
        ['messages', 'tool {"type":"text","text":"done"}', true, true],
      ],
    )
    assert.deepEqual(chatPrompt({}).segments, [])
    assert.deepEqual(closed([]), [])
  })

  test('depends on the settings that change what a model reads', () => {
    const plain = chatPrompt({}).settings
    assert.equal(plain, '[null,null,null,null]')
    for (const field of ['response_format', 'reasoning_effort', 'verbosity', 'service_tier']) {
      assert.notEqual(chatPrompt({ [field]: 'x' }).settings, plain, field)
    }
    assert.equal(chatPrompt({ temperature: 1 }).settings, plain)
  })

  test('has the cache options of the body, and only those of the right type', () => {
    const options = (given: Json) => cacheOptions({ prompt_cache_options: given })
    assert.deepEqual(options({ mode: 'explicit', ttl: '1h' }), { explicitOnly: true, ttl: '1h' })
    assert.deepEqual(options({ mode: 'auto', ttl: 3600 }), {})
    assert.deepEqual(options('explicit'), {})
    assert.deepEqual([markOf({ ttl: '1h' }), markOf({ ttl: 1 }), markOf({})], [{ ttl: '1h' }, {}, {}])
    assert.deepEqual([markOf('ephemeral'), markOf(undefined)], [undefined, undefined])
  })

  test('does not contain cache marks and empty fields, but knows where a mark is', () => {
    const marked = segment('messages', 'user', { text: 'a', cache_control: { ttl: '1h' }, x: null, y: [], z: [0] })
    assert.deepEqual(marked, {
      place: 'messages',
      role: 'user',
      text: 'user {"text":"a","z":[0]}',
      media: 0,
      last: false,
      mark: { ttl: '1h' },
    })
    assert.deepEqual(segment('messages', 'user', { prompt_cache_breakpoint: {} }).mark, {})
    assert.equal('mark' in segment('messages', 'user', { text: 'a' }), false)
    assert.equal('mark' in segment('messages', 'user', 'a'), false)
    assert.equal(segment('system', 'system', 'a').last, true)
  })

  test('counts a file once for each, and the same file the same way', () => {
    const file = 'A'.repeat(600)
    const one = segment('messages', 'user', { data: file, more: { data: file } })
    assert.equal(one.media, 2)
    assert.match(one.text, /^user \{"data":"sha256:[0-9a-f]{64}","more":\{"data":"sha256:[0-9a-f]{64}"\}\}$/)
    assert.equal(
      segmentTokens(one, (text) => text.length),
      one.text.length + 2 * 1600,
    )
  })
})

describe('the ids of calls on the wire', () => {
  const grammar = { prefix: 'c_', length: 6, fits: /^c_\w{6}$/ }
  const asked = (...parts: Partial<ToolCallPart>[]): Reply =>
    reply(...parts.map((part): Part => ({ type: 'tool-call', name: 'look', input: {}, callId: '', ...part })))
  const idOf = (messages: Message[], callId: string, replayed = true) =>
    wireIds(messages, grammar, () => replayed)(callId)

  test('are the provider’s own in a reply that is sent unchanged, if they are valid and free', () => {
    const history = [asked({ callId: 'a', alias: 'c_000001' }, { callId: 'b', alias: 'c_000001' })]
    assert.equal(idOf(history, 'a'), 'c_000001')
    assert.equal(idOf(history, 'b'), hashedId('b', grammar), 'the id is taken')
    assert.equal(idOf(history, 'a', false), hashedId('a', grammar))
    assert.equal(idOf([asked({ callId: 'a', alias: 'toolong01' })], 'a'), hashedId('a', grammar))
    assert.equal(idOf([asked({ callId: 'a' })], 'a'), hashedId('a', grammar))
    assert.equal(idOf([], 'a'), hashedId('a', grammar), 'a call that is not there')
  })

  test('are asked for once per reply, and only if a call of it has an id', () => {
    let asks = 0
    const ids = (message: Message) => wireIds([message], grammar, () => ++asks > 0)
    ids(asked({ callId: 'a' }, { callId: 'b' }))
    assert.equal(asks, 0)
    const two = ids(asked({ callId: 'a', alias: 'c_000001' }, { callId: 'b', alias: 'c_000002' }))
    assert.deepEqual([asks, two('a'), two('b')], [1, 'c_000001', 'c_000002'])
  })

  test('that are derived have the prefix and length of the wire, and depend on the call and the wire alone', () => {
    const { length } = hashedId('a', grammar)
    assert.equal(length, 'c_'.length + 6)
    assert.notEqual(hashedId('a', grammar), hashedId('b', grammar))
    const shared = asked({ callId: 'a' }, { callId: 'b' })
    const other = { prefix: 'd', length: 3, fits: /^d\w{3}$/ }
    for (const one of [grammar, other, grammar]) {
      const ids = wireIds([shared], one, () => false)
      assert.deepEqual([ids('a'), ids('b')], [hashedId('a', one), hashedId('b', one)])
    }
    const again = wireIds([{ ...shared, parts: shared.parts.toReversed() }], grammar, () => false)
    assert.equal(again('a'), hashedId('a', grammar))
  })

  test('of a reply are the provider’s, or numbered where it repeats one or has none', () => {
    const next = callIds(undefined)
    assert.deepEqual([next('x'), next('x'), next(undefined), next('')], ['x', 'call-1', 'call-2', 'call-3'])
    const own = callIds({ callId: (n, alias) => `${n}:${alias}` })
    assert.deepEqual([own('x'), own(undefined)], ['0:x', '1:undefined'])
  })
})

describe('turns', () => {
  const turn = (role: Turn<string>['role'], ...items: string[]) => turnOf(role, items, `messages[${items[0]}]`)
  const plain: TurnRules<string> = { text: (text) => `(${text})`, join: ['user', 'assistant'] }
  const settled = (turns: Turn<string>[], rules: Partial<TurnRules<string>> = {}) => {
    const notes: Note[] = []
    const made = normaliseTurns(turns, { ...plain, ...rules }, notes)
    return { made, list: made.map(({ role, items }) => `${role} ${items.join('+')}`), notes }
  }

  test('without items are dropped with a note, and their neighbours are merged', () => {
    const { list, notes, made } = settled([turn('user', '1'), turn('assistant'), turn('user', '3', '4')])
    assert.deepEqual(list, ['user 1+3+4'])
    assert.deepEqual(made[0]?.from, ['messages[1]', 'messages[3]'])
    assert.equal(made[0]?.at, 'messages[1]')
    assert.deepEqual(notes, [
      {
        kind: 'dropped',
        what: 'assistant message',
        why: 'nothing in it can be sent',
        at: 'messages[undefined]',
      },
    ])
  })

  test('of one role are merged only if the wire merges that role', () => {
    const tools = [turn('tool', '1'), turn('tool', '2'), turn('user', '3')]
    assert.deepEqual(settled(tools).list, ['tool 1', 'tool 2', 'user 3'])
    assert.deepEqual(settled(tools, { join: ['tool'] }).list, ['tool 1+2', 'user 3'])
    const joint = { join: ['tool', 'user'], toolIsUser: true } as const
    assert.deepEqual(settled(tools, joint).list, ['user 1+2+3'])
    assert.deepEqual(settled([turn('user', '1'), turn('tool', '2')], joint).list, ['user 1+2'])
    assert.deepEqual(settled([turn('assistant', '1'), turn('user', '2')], joint).list, ['assistant 1', 'user 2'])
    assert.deepEqual(settled([turn('tool', '1'), turn('assistant', '2')], joint).list, ['tool 1', 'assistant 2'])
  })

  test('that were not changed stay the same object, and so does what is merged again', () => {
    const alone = turn('user', '1')
    assert.equal(settled([alone]).made[0], alone)
    const pair = [turn('user', '1'), turn('user', '2')]
    const [joint] = settled(pair).made
    assert.equal(settled(pair).made[0], joint)
    const [more] = settled([...pair, turn('user', '3')]).made
    assert.deepEqual(more?.items, ['1', '2', '3'])
    const [other] = settled([pair[0] as Turn<string>, turn('user', '4')]).made
    assert.deepEqual(other?.items, ['1', '4'])
  })

  test('get an answer between a tool and a user where the wire needs one', () => {
    const turns = [turn('assistant', '1'), turn('tool', '2'), turn('user', '3')]
    const { list, notes } = settled(turns, { bridgeAfterTool: true })
    assert.deepEqual(list, ['assistant 1', 'tool 2', 'assistant (OK.)', 'user 3'])
    assert.deepEqual(
      notes.map(({ kind, what }) => [kind, what]),
      [['added', 'assistant message "OK."']],
    )
    assert.equal(settled(turns).notes.length, 0)
    const others = [turn('user', '1'), turn('assistant', '2'), turn('user', '3'), turn('tool', '4')]
    assert.equal(settled(others, { bridgeAfterTool: true }).notes.length, 0)
  })

  test('begin with the user where the wire needs it, after the system', () => {
    const opening = 'user ([The beginning of this conversation is not shown])'
    const begun = (...turns: Turn<string>[]) => settled(turns, { startWithUser: true }).list
    assert.deepEqual(begun(turn('system', 's'), turn('assistant', 'a')), ['system s', opening, 'assistant a'])
    assert.deepEqual(begun(turn('assistant', 'a')), [opening, 'assistant a'])
    assert.deepEqual(begun(turn('user', 'a')), ['user a'])
    assert.deepEqual(begun(turn('tool', 'a')), ['tool a'])
    assert.deepEqual(begun(turn('system', 'a')), ['system a'])
    assert.deepEqual(begun(), [])
    assert.deepEqual(settled([turn('assistant', 'a')]).list, ['assistant a'])
    const same = turn('assistant', 'a')
    const first = () => settled([same], { startWithUser: true }).made[0]
    assert.equal(first(), first(), 'the same object again, for the cache')
  })

  test('end with the user where the wire needs it, and are never empty where it needs one', () => {
    const ended = (rules: Partial<TurnRules<string>>, ...turns: Turn<string>[]) => {
      const { list, notes } = settled(turns, rules)
      return [...list, ...notes.map(({ rule }) => rule ?? 'no rule')]
    }
    const last = { endWithUser: 'R-1' }
    assert.deepEqual(ended(last, turn('assistant', 'a')), ['assistant a', 'user (Continue.)', 'R-1'])
    assert.deepEqual(ended(last, turn('system', 'a')), ['system a', 'user (Continue.)', 'R-1'])
    assert.deepEqual(ended(last), ['user (Continue.)', 'R-1'])
    assert.deepEqual(ended(last, turn('user', 'a')), ['user a'])
    assert.deepEqual(ended(last, turn('tool', 'a')), ['tool a'])
    assert.deepEqual(ended({ neverEmpty: 'R-2' }), ['user (Continue.)', 'R-2'])
    assert.deepEqual(ended({ neverEmpty: 'R-2' }, turn('assistant', 'a')), ['assistant a'])
    assert.deepEqual(ended({}), [])
  })

  test('are written once each, in order, whatever number of messages they become', () => {
    const turns = [turn('user', '1'), turn('assistant', '2'), turn('tool', '3')]
    let writes = 0
    const write = ({ items }: Turn<string>): JsonObject[] => {
      writes++
      return items[0] === '2' ? [{ a: 1 }, { b: 2 }] : items[0] === '3' ? [] : [{ c: items[0] }]
    }
    for (let i = 0; i < 2; i++) assert.deepEqual(wireList(turns, write), [{ c: '1' }, { a: 1 }, { b: 2 }])
    assert.equal(writes, 3)
  })
})

describe('a call of a server tool as text', () => {
  test('has its input and output as far as they are known, without what only its provider reads', () => {
    const text = (input: Json | undefined, output?: Json) =>
      serverToolText({
        type: 'server-tool',
        name: 'search',
        ...(input !== undefined && { input }),
        ...(output !== undefined && { output }),
      } as never)
    assert.equal(text(undefined), undefined)
    assert.equal(text({ q: 1 }), '[Tool Call] search {"q":1}')
    assert.equal(text(undefined, 'x'), '[Tool Call] search {}\n[Tool Result] search: "x"')
    const output = [
      { url: 'a', encrypted_content: 'zz', more: { encrypted_index: 1, kept: null, search_suggestions: '<b>' } },
      2,
    ]
    assert.equal(text({}, output), '[Tool Call] search {}\n[Tool Result] search: [{"url":"a","more":{"kept":null}},2]')
  })

  test('the sources of an answer are listed once each after its last text, with their titles', () => {
    const cited = (...citations: Json[]) => ({ type: 'text', text: 'Yes.', citations }) as Part
    const listed = (...parts: Part[]) => {
      const notes: Note[] = []
      const given = reply(...parts)
      const made = withSources(given, 'messages[1]', notes)
      return { same: made === given, texts: made.parts.map((part) => ('text' in part ? part.text : '')), notes }
    }
    const sources = (...citations: Json[]) =>
      listed(cited(...citations))
        .texts[0]?.split('[Sources]\n')[1]
        ?.split('\n')
    assert.deepEqual(sources({ url: 'u', title: 'T' }), ['- T: u'])
    assert.deepEqual(sources({ url: 'u' }, { url: 'u', title: 'T' }, { url: 'u' }), ['- T: u'], 'a title is kept')
    assert.deepEqual(sources({ uri: 'u', url: ' ' }), ['- u'])
    assert.deepEqual(sources('a  b\nc'), ['- a b c'])
    assert.deepEqual(sources({ title: 'outer', web: { uri: 'u' } }), ['- outer: u'])
    assert.deepEqual(sources({ title: 'outer', web: { uri: 'u', title: 'own' } }), ['- own: u'])
    assert.deepEqual(sources({ document_title: 'D', page: 3 }, { filename: 'F' }, { file_name: 'G' }), [
      '- D',
      '- F',
      '- G',
    ])
    assert.deepEqual(sources({ list: [{ url: 'a' }, { title: 'b' }] }), ['- a', '- b'])
    assert.deepEqual(sources({ title: 'b', list: [1, null] }), ['- b'])

    const two = listed(cited({ url: 'u' }), { type: 'text', text: 'End.' }, ...callsAfter)
    assert.deepEqual(two.texts, ['Yes.', 'End.\n\n[Sources]\n- u', ''])
    assert.equal(two.notes[0]?.kind, 'changed')
    const nothing = listed(cited({ page: 1 }, [], 3))
    assert.deepEqual([nothing.same, nothing.notes[0]?.kind], [true, 'dropped'])
    for (const none of [listed(cited()), listed({ type: 'text', text: 'a' })]) {
      assert.deepEqual([none.same, none.notes], [true, []])
    }
  })
})

const callsAfter: Part[] = [{ type: 'tool-call', callId: 'c', name: 'look', input: {} }]

describe('the header of an image', () => {
  const base64 = (...bytes: (number | string)[]) =>
    Buffer.concat(
      bytes.map((one) => (typeof one === 'string' ? Buffer.from(one, 'latin1') : Buffer.from([one]))),
    ).toString('base64')
  const zeros = (count: number) => '\0'.repeat(count)
  const png = '\x89PNG\r\n\x1a\n'

  test('has a size from exactly the byte on that completes it', () => {
    const whole = (type: string, bytes: string, least: number) => {
      const size = readImage(base64(bytes.slice(0, least)))
      const less = readImage(base64(bytes.slice(0, least - 1)))
      assert.deepEqual([size?.mediaType, size?.width !== undefined], [type, true], type)
      assert.deepEqual(less, { mediaType: type }, `${type}, a byte less`)
    }
    whole('image/png', `${png}${zeros(8)}\0\0\x02\x01\0\0\x01\x03`, 24)
    whole('image/gif', `GIF87a\x02\x01\x01\x03\0\0`, 12)
    whole('image/webp', `RIFF....WEBPVP8X${zeros(14)}`, 30)
    assert.deepEqual(readImage(base64(`${png}${zeros(8)}\0\0\x02\x01\0\0\x01\x03`)), {
      mediaType: 'image/png',
      width: 0x201,
      height: 0x103,
    })
    assert.deepEqual(readImage(base64('GIF87a\x02\x01\x01\x03\0\0')), {
      mediaType: 'image/gif',
      width: 0x102,
      height: 0x301,
    })
  })

  test('of WebP is read in each of its three forms, and in no other', () => {
    const webp = (rest: string) => readImage(base64(`RIFF....WEBP${rest}`))
    const size = (width: number, height: number) => ({ mediaType: 'image/webp', width, height })
    assert.deepEqual(webp(`VP8 ${zeros(10)}\xff\xff\x01\xc0`), size(0x3fff, 1))
    assert.deepEqual(webp(`VP8L${zeros(5)}\xff\xff\xff\xff${zeros(5)}`), size(0x4000, 0x4000))
    assert.deepEqual(webp(`VP8L${zeros(5)}\0\x40\0\0${zeros(5)}`), size(1, 2))
    assert.deepEqual(webp(`VP8X${zeros(8)}\x01\x02\x03\x04\x05\x06`), size(0x30201 + 1, 0x60504 + 1))
    assert.deepEqual(webp(`VP9 ${zeros(14)}`), { mediaType: 'image/webp' })
    assert.equal(readImage(base64(`RIFF....WAVE${zeros(18)}`)), undefined)
    assert.equal(readImage(base64(`RAFF....WEBP${zeros(18)}`)), undefined)
  })

  test('of JPEG is in the first frame, whatever comes before it', () => {
    const jpeg = (...bytes: (number | string)[]) => readImage(base64(0xff, 0xd8, ...bytes))
    const frame = (marker: number) => [0xff, marker, '\0\x11\x08\x01\x02\x03\x04', zeros(2)]
    const size = { mediaType: 'image/jpeg', width: 0x304, height: 0x102 }
    for (const marker of [0xc0, 0xc1, 0xc3, 0xc5, 0xc7, 0xc9, 0xcb, 0xcd, 0xcf]) {
      assert.deepEqual(jpeg(...frame(marker)), size, marker.toString(16))
    }
    for (const marker of [0xbf, 0xc4, 0xc8, 0xcc, 0xd0]) {
      assert.deepEqual(jpeg(0xff, marker, '\0\x04..', ...frame(0xc0)), size, `after ${marker.toString(16)}`)
    }
    assert.deepEqual(jpeg(0xff, ...frame(0xc0)), size, 'a fill byte')
    assert.deepEqual(jpeg(0xff, 0xe0, '\0\x02', ...frame(0xc0)), size, 'an empty segment')
    const short = [0xff, 0xc0, '\0\x11\x08\x01\x02\x03\x04']
    assert.deepEqual([jpeg(...short, 0), jpeg(...short)], [size, { mediaType: 'image/jpeg' }], 'a byte less')
    assert.deepEqual(jpeg('x', ...frame(0xc0)), { mediaType: 'image/jpeg' })
    assert.equal(readImage(base64(0xff, 0xd9, ...frame(0xc0))), undefined)
    assert.equal(readImage(base64(0xfe, 0xd8, ...frame(0xc0))), undefined)
  })
})

describe('the parts of a reply that is written as a stream', () => {
  const written = () => {
    const out = (name: string) => (part: Part, text?: string) => [
      `${name} ${part.type}${text === undefined ? '' : ` ${text}`}`,
    ]
    return partsInOrder({ open: out('open'), more: out('more'), close: out('close') })
  }
  const text = (value: string): Part => ({ type: 'text', text: value })
  const call: Part = { type: 'tool-call', callId: 'c', name: 'look', input: { a: 1 } }

  test('are written as they grow, and one after the other', () => {
    const { push, end } = written()
    assert.deepEqual(push({ type: 'part-start', index: 0, part: text('a') }), ['open text', 'more text a'])
    assert.deepEqual(push({ type: 'part-start', index: 1, part: { ...call, input: {} } }), [])
    assert.deepEqual(push({ type: 'part-delta', index: 1, text: '{"a"' }), [])
    assert.deepEqual(push({ type: 'part-delta', index: 0, text: 'b' }), ['more text b'])
    assert.deepEqual(push({ type: 'part-delta', index: 0, text: '' }), [])
    assert.deepEqual(push({ type: 'part-delta', index: 7, text: 'x' }), [])
    assert.deepEqual(push({ type: 'part-end', index: 7, part: text('x') }), [])
    assert.deepEqual(push({ type: 'reply-start', origin: reply().origin }), [])
    assert.deepEqual(push({ type: 'part-end', index: 0, part: text('abc') }), [
      'more text c',
      'close text',
      'open tool-call',
      'more tool-call {"a"',
    ])
    assert.deepEqual(push({ type: 'part-end', index: 1, part: call }), ['more tool-call :1}', 'close tool-call'])
    assert.deepEqual(end(), [])
  })

  test('that ended early wait for those before them, and what was never ended is closed at the end', () => {
    const { push, end } = written()
    assert.deepEqual(push({ type: 'part-start', index: 0, part: { type: 'reasoning', text: '' } }), ['open reasoning'])
    assert.deepEqual(push({ type: 'part-start', index: 1, part: { type: 'refusal', text: 'No' } }), [])
    assert.deepEqual(push({ type: 'part-end', index: 1, part: { type: 'refusal', text: 'No' } }), [])
    assert.deepEqual(end(), ['close reasoning', 'open refusal', 'more refusal No', 'close refusal'])
    assert.deepEqual(end(), [])
  })

  test('never take back what was written: another text at the end is ignored, unless there was none', () => {
    const { push } = written()
    push({ type: 'part-start', index: 0, part: text('ab') })
    assert.deepEqual(push({ type: 'part-end', index: 0, part: text('xyz') }), ['close text'])
    push({ type: 'part-start', index: 1, part: { ...call, input: {} } })
    assert.deepEqual(push({ type: 'part-end', index: 1, part: { ...call, malformed: '{"a' } as Part }), [
      'more tool-call {"a',
      'close tool-call',
    ])
  })
})

describe('the options in a request', () => {
  test('of tool choice are read in the forms of OpenAI and Anthropic', () => {
    const rows: [Json | undefined, Json][] = [
      [undefined, 'auto'],
      ['auto', 'auto'],
      ['none', 'none'],
      ['required', 'required'],
      ['any', 'required'],
      [{ type: 'any' }, 'required'],
      [{ type: 'none' }, 'none'],
      [{ type: 'tool', name: 'look' }, { tool: 'look' }],
      [{ type: 'function', function: { name: 'look' } }, { tool: 'look' }],
      [{ type: 'function', function: { name: 1 } }, 'auto'],
    ]
    for (const [given, read] of rows) assert.deepEqual(toolChoiceIn(given), read, JSON.stringify(given))
  })

  test('of reasoning, schema and texts count only in the right type', () => {
    assert.deepEqual([undefined, 'none', 'low', 1].map(reasoningByEffort), ['free', 'off', 'on', 'free'])
    const schema = { type: 'object' }
    assert.deepEqual(schemaIn({ json_schema: { schema } }), schema)
    assert.deepEqual(schemaIn({ json_schema: { schema_definition: schema } }), schema)
    assert.deepEqual(schemaIn({ schema }), schema)
    assert.deepEqual([schemaIn({ type: 'json_object' }), schemaIn({ type: 'text' })], [{}, undefined])
    assert.deepEqual([schemaIn(undefined), schemaIn({ schema: 'x' })], [undefined, undefined])
    assert.deepEqual(textsIn(['a', 1, 'b']), ['a', 'b'])
    assert.deepEqual([textsIn([1]), textsIn([]), textsIn('a')], [undefined, undefined, undefined])
    assert.equal(at({ a: { b: null } }, 'a', 'b'), undefined)
    assert.equal(at({ a: { b: 0 } }, 'a', 'b'), 0)
    assert.equal(at('a', 'length'), undefined)
  })

  test('of length and stop sequences are left out if none is valid', () => {
    const given = { toolChoice: 'none', reasoning: 'off' } as const
    assert.deepEqual(readOptions({ ...given, maxOutput: ['5', -1, undefined, 3, 4], stop: 'x' }), {
      ...given,
      parallelTools: true,
      maxOutput: 3,
      stop: ['x'],
    })
    assert.deepEqual(readOptions({ ...given, parallelTools: false, maxOutput: [], answerSchema: {}, stop: [1] }), {
      ...given,
      parallelTools: false,
      answerSchema: {},
    })
  })

  test('of effort are the nearest that is supported, the higher one of two', () => {
    assert.equal(nearestEffort('medium', ['low', 'high']), 'high')
    assert.equal(nearestEffort('medium', ['high', 'low']), 'high')
    assert.equal(nearestEffort('max', ['none', 'low']), 'low')
    assert.equal(nearestEffort('none', ['minimal', 'max']), 'minimal')
    assert.equal(nearestEffort('low', []), undefined)
  })

  test('beyond ours are merged into a body, object by object, and replace everything else', () => {
    assert.deepEqual(
      mergeExtra({ a: { b: 1, c: [1] }, d: 1, e: { f: 1 } }, { a: { c: [2], g: 3 }, d: { h: 1 }, e: 0 }),
      {
        a: { b: 1, c: [2], g: 3 },
        d: { h: 1 },
        e: 0,
      },
    )
  })
})

test('a medium is accepted by its type or by its family, and a data URL is its bytes', () => {
  assert.equal(takesMedia(['image/*', 'audio/wav'], 'image/png'), true)
  assert.equal(takesMedia(['image/*', 'audio/wav'], 'audio/wav'), true)
  assert.equal(takesMedia(['image/*', 'audio/wav'], 'audio/mp3'), false)
  assert.equal(takesMedia(['image/png'], 'image/pngx'), false)
  assert.equal(takesMedia([], 'image/png'), false)
  const read = (url: string) => mediaFromUrl(url, 'image/*')
  assert.deepEqual(read('https://a/b.png'), {
    type: 'media',
    mediaType: 'image/*',
    data: { kind: 'url', url: 'https://a/b.png' },
  })
  assert.deepEqual(read('data:image/png;base64,QQ=='), {
    type: 'media',
    mediaType: 'image/png',
    data: { kind: 'base64', base64: 'QQ==' },
  })
  assert.deepEqual(read('data:;base64,QQ==').mediaType, 'image/*')
  assert.deepEqual(read('data:text/plain;charset=utf-8;base64,QQ==').mediaType, 'text/plain')
  assert.equal(read('data:text/plain,QQ==').data.kind, 'url')
})

test('a text is split into pieces of at most a size, and never inside a pair of surrogates', () => {
  const split = (text: string, size: number) => [...splitText(text, size)]
  assert.deepEqual(split('abcde', 2), ['ab', 'cd', 'e'])
  assert.deepEqual(split('abcd', 2), ['ab', 'cd'])
  assert.deepEqual(split('', 2), [])
  assert.deepEqual(split('a👋b', 2), ['a', '👋', 'b'])
  assert.deepEqual(split('👋👋', 2), ['👋', '👋'])
  assert.deepEqual(split('a👋', 2), ['a', '👋'])
  assert.deepEqual(split('ab\ud800', 3), ['ab\ud800'], 'at the end nothing follows')
  assert.equal(split('👋', 1).join(''), '👋', 'a size of one ends too')
  assert.deepEqual(split('a\udbff\udfffb', 2), ['a', '\udbff\udfff', 'b'])
  assert.deepEqual(split('a\udfffb', 2), ['a\udfff', 'b'])
})

test('a reply is announced once, a single delta is one event, and only what is known ends it', () => {
  const origin = { protocol: 'p', provider: 'p', model: 'm' }
  const state = decoding(origin, undefined)
  startReply(state)
  startReply(state)
  assert.deepEqual(takeEvents(state), [{ type: 'reply-start', origin }])
  const part: Part = { type: 'text', text: '' }
  assert.deepEqual([startPart(state, part), startPart(state, part)], [0, 1])
  growPart(state, 1, 'a')
  assert.deepEqual(
    takeEvents(state).map((event) => event.type),
    ['part-start', 'part-start', 'part-delta'],
  )
  growPart(state, 1, 'b')
  growPart(state, 0, 'c')
  assert.deepEqual(takeEvents(state), [
    { type: 'part-delta', index: 1, text: 'b' },
    { type: 'part-delta', index: 0, text: 'c' },
  ])
  const stop = { reason: 'done' } as const
  assert.deepEqual(endReply(state, { stop, native: [], notes: [] }), [{ type: 'reply-end', origin, stop, native: [] }])
  assert.deepEqual(takeEvents(state), [])
})

test('a model is listed with its maker if its name has one, and an error in the shape of its provider', () => {
  assert.deepEqual(openaiModels.one('acme/x', 'p'), { id: 'acme/x', object: 'model', created: 0, owned_by: 'acme' })
  assert.equal((openaiModels.one('x', 'p') as JsonObject)['owned_by'], 'p')
  assert.equal((googleModels.one('x', 'p') as JsonObject)['name'], 'models/x')
  const issue = { rule: 'r', status: 400, message: 'No.' }
  const usual = { message: 'No.', type: 'invalid_request_error', param: null, code: null }
  assert.deepEqual(openaiErrorBody(issue), { error: usual })
  assert.deepEqual(openaiErrorBody({ ...issue, type: 't', param: 'p', code: 'c' }), {
    error: { message: 'No.', type: 't', param: 'p', code: 'c' },
  })
  assert.deepEqual(openaiErrorBody(issue, { provider: 'openrouter' }), { error: { message: 'No.', code: 400 } })
  assert.deepEqual(openaiErrorBody(issue, { provider: 'llama.cpp' }), {
    error: { code: 400, message: 'No.', type: 'invalid_request_error' },
  })
  assert.deepEqual(openaiErrorBody(issue, { provider: 'xai' }), { error: 'No.' })
  assert.deepEqual(openaiErrorBody({ ...issue, code: 'c' }, { provider: 'xai' }), { code: 'c', error: 'No.' })
  assert.deepEqual(openaiErrorBody({ ...issue, type: 'invalid_request_error' }, { provider: 'xai' }), { error: usual })
})

describe('the bytes of a body', () => {
  /** How many elements are written for a body, after the bodies before it. */
  const counting = () => {
    const written = new Set<string>()
    const element = (name: string) =>
      cachedElement({
        get name() {
          written.add(name)
          return name
        },
      })
    const write = (list: readonly CachedElement[]) => {
      written.clear()
      const bytes = bodyBytes({ a: 1, list: cachedList(list), z: 'é' })
      const count = written.size
      const names = list.map((one) => JSON.stringify(one.value))
      assert.equal(Buffer.from(bytes).toString(), `{"a":1,"list":[${names.join()}],"z":"é"}`)
      return count
    }
    return { element, write }
  }

  test('of elements that were written before are copied; a change writes only what was cached with it', () => {
    const rewritten = (changed: number) => {
      const { element, write } = counting()
      const list = Array.from({ length: 40 }, (_, i) => element(`e${i}`))
      assert.equal(write(list), 40)
      return write(list.with(changed, element('new')))
    }
    // The last sixteen are cached in spans of half of what is left.
    const rows = { 0: 24, 23: 24, 24: 8, 31: 8, 32: 4, 35: 4, 36: 2, 37: 2, 38: 1, 39: 1 }
    for (const [changed, count] of Object.entries(rows)) assert.equal(rewritten(Number(changed)), count, changed)
  })

  test('of a list that grows, shrinks or loses its beginning are those of the elements that are left', () => {
    const { element, write } = counting()
    const list = Array.from({ length: 30 }, (_, i) => element(`e${i}`))
    assert.equal(write(list.slice(0, 20)), 20)
    assert.equal(write(list), 10)
    assert.equal(write(list), 0)
    assert.equal(write([]), 0)
    assert.equal(write(list.slice(0, 29)), 29, 'what was sent twice together is one span')
    assert.equal(write(list.slice(2)), 12, 'what is left of the first span, and the new one')
    assert.equal(write(list.slice(2)), 0)
    const [only] = list
    assert.ok(only)
    write([only])
    assert.equal(write([only]), 0)
  })

  test('are those of the list as it is now, and of values that JSON leaves out', () => {
    const list = cachedList([cachedElement({ a: 1 }), cachedElement({ b: 2 })])
    const text = (body: JsonObject) => Buffer.from(bodyBytes(body)).toString()
    const same = (body: JsonObject) => assert.equal(text(body), JSON.stringify(body))
    same({ list })
    list.push({ c: 3 })
    same({ list })
    list.splice(0, 3, { d: 4 }, { e: 5 })
    same({ list })
    same({})
    same({ a: undefined, b: null })
    same({ a: undefined, list: cachedList([]) })
    same({ list: cachedList([]), other: cachedList([cachedElement({ a: [] })]) })
    same({ list: [{ a: 1 }] })
    const long = 'x'.repeat(256)
    const deep = { list: cachedList([cachedElement({ a: [long, { b: [[long]] }, 'é'.repeat(300), long.slice(1)] })]) }
    const conversation = [{}, {}]
    for (let i = 0; i < 3; i++) {
      assert.equal(Buffer.from(bodyBytes({ ...deep, i }, conversation)).toString(), JSON.stringify({ ...deep, i }))
    }
    assert.deepEqual(originsIn('list', list), { field: 'list', from: [[], []] })
    const named = cachedList([cachedElement({ a: 1 }, ['messages[1]']), cachedElement({ b: 1 })])
    assert.deepEqual(originsIn('list', named), { field: 'list', from: [['messages[1]'], []] })
    assert.deepEqual(originsIn('list', [{ a: 1 }]), { field: 'list', from: [] })
  })
})

describe('the encoding of a message', () => {
  const target = { ...targetFor({}), options: {} } as Target
  const messages = [user('a'), user('b'), user('c')]
  const cacheOf = (
    change: Partial<Context> = {},
    lookups: Record<string, (key: string) => unknown> = {},
    to = target,
  ) => {
    const notes: Note[] = []
    const context = { system: [], tools: [], messages, fromLog: true, ...change } as unknown as Context
    const cache = encodeCache(context, to, 'how', { name: (key: string) => key, ...lookups }, notes)
    let writes = 0
    const write = (index: number, ...asks: [keyof typeof cache.lookups, string][]) =>
      cache.cached(context.messages[index] as Message, index, (_, place) => {
        writes++
        notes.push({ kind: 'added', what: place, why: '' })
        return asks.map(([lookup, key]) => cache.lookups[lookup]?.(key))
      })
    return { write, notes, cache, count: () => writes }
  }

  test('of a log is made once for each place and target, with its notes each time', () => {
    const first = cacheOf()
    const made = first.write(0)
    const again = cacheOf()
    assert.equal(again.write(0), made)
    assert.deepEqual([again.count(), again.notes.map(({ what }) => what)], [0, ['messages[0]']])
    again.write(1)
    assert.equal(again.count(), 1)
    const other = cacheOf({}, {}, { ...target, model: 'n' })
    other.write(0)
    assert.equal(other.count(), 1)
    const moved = cacheOf({ places: [4, 5, 6] })
    moved.write(0)
    assert.deepEqual([moved.count(), moved.notes[0]?.what], [1, 'messages[4]'])
  })

  test('of a list that is not a log is made each time', () => {
    const { write, count, cache } = cacheOf({ fromLog: false })
    write(0)
    write(0)
    assert.deepEqual([count(), cache.lookups.name('x')], [2, 'x'])
  })

  test('is made again when what it has looked up has changed, and only then', () => {
    const fresh = [user('d'), user('e')]
    const answers: Record<string, string> = { a: '1', b: '2', unused: '3' }
    const given = { of: (key: string) => answers[key] }
    const at = () => cacheOf({ messages: fresh }, given)
    const asks: ['of', string][] = [
      ['of', 'a'],
      ['of', 'b'],
    ]
    const writes = () => {
      const { write, count, cache } = at()
      ;(cache.lookups as unknown as typeof given).of('unused')
      write(0, ...(asks as never[]))
      write(1)
      return count()
    }
    assert.equal(writes(), 2)
    assert.equal(writes(), 0)
    answers['unused'] = '9'
    assert.equal(writes(), 0, 'asked outside of a message')
    answers['b'] = '8'
    assert.equal(writes(), 1)
    answers['a'] = '7'
    assert.equal(writes(), 1)
    assert.equal(writes(), 0)
  })

  test('is found by the second message too, if the first was made again', () => {
    const [x, y] = [user('x'), user('y')]
    cacheOf({ messages: [x, y] }).write(1)
    const { write, count } = cacheOf({ messages: [user('x'), y] })
    write(1)
    assert.equal(count(), 0)
    const third = cacheOf({ messages: [user('1'), user('2'), y] })
    third.write(2)
    assert.equal(third.count(), 1)
  })
})

describe('the parts of a message', () => {
  const form: Form = {
    id: 'w',
    text: (text) => ({ text }),
    bytes: (mediaType, base64) => (mediaType === 'image/gif' ? undefined : { mediaType, base64 }),
    file: (mediaType, uri) => ({ mediaType, uri }),
    own: ({ kind, data }) => (kind === 'w/own' ? { own: data as string } : undefined),
    ids: () => ({ prefix: 'c_', length: 4, fits: /^c_\w+$/ }),
    names: { pattern: /^[a-z_]+$/, length: 20 },
    midSystem: 'S-1',
  }
  const capabilities = { media: ['image/*'], resultMedia: ['image/png'], mediaUrls: true }
  const writing = (messages: Message[] = [], change: Partial<Form> = {}, more: object = {}, keepThoughts = false) => {
    const target = { ...targetFor({ ...capabilities, ...more }), provider: 'p' }
    const context = { system: [], tools: [], messages } as unknown as Context
    return writingFor({ ...form, ...change }, context, target, keepThoughts)
  }
  const media = (data: object, mediaType = 'image/png', name?: string) =>
    ({ type: 'media', mediaType, data, ...(name !== undefined && { name }) }) as MediaPart
  const noted = (write: ReturnType<typeof writing>) => write.notes.map(({ kind, what }) => `${kind} ${what}`)

  test('of a reply are each written in the form of the wire, or left out with a note', () => {
    const rows: [Part, JsonObject[], string[]][] = [
      [{ type: 'text', text: 'a' }, [{ text: 'a' }], []],
      [{ type: 'text', text: '' }, [], []],
      [{ type: 'refusal', text: 'no' }, [{ text: 'no' }], ['changed refusal to text']],
      [{ type: 'compaction', text: 's' }, [{ text: '[Summary of the conversation so far]\ns' }], []],
      [{ type: 'compaction' }, [], ['dropped summary without words']],
      [{ type: 'opaque', kind: 'w/own', data: 'x' }, [{ own: 'x' }], []],
      [{ type: 'opaque', kind: 'v/other', data: 'x' }, [], ['dropped v/other']],
      [
        { type: 'server-tool', name: 'find', input: {} },
        [{ text: '[Tool Call] find {}' }],
        ['changed call of find to text'],
      ],
      [{ type: 'server-tool', name: 'find' }, [], ['dropped call of find']],
      [{ type: 'reasoning', text: 'hm' }, [], []],
      [
        { type: 'tool-result', callId: 'c', name: 'n', output: [] } as never,
        [],
        ['dropped tool result inside a reply'],
      ],
    ]
    for (const [part, pieces, notes] of rows) {
      const write = writing()
      assert.deepEqual(replyPieces(part, 'messages[1]', write), pieces, part.type)
      assert.deepEqual(noted(write), notes, part.type)
    }
    const blank = writing([], { blanks: 'B-1' })
    assert.deepEqual(replyPieces({ type: 'text', text: ' ' }, 'm', blank), [])
    assert.deepEqual([blank.notes[0]?.rule, blank.notes[0]?.kind], ['B-1', 'dropped'])
    assert.deepEqual(replyPieces({ type: 'text', text: ' ' }, 'm', writing()), [{ text: ' ' }])
  })

  test('that are media are sent as bytes, by address or as a line of text, as the target accepts them', () => {
    const sent = (part: MediaPart, more: object = {}) => {
      const write = writing([], {}, more)
      return [userPieces(user(part), 'm', write)[0], write.notes.map(({ why }) => why)]
    }
    const base64 = { kind: 'base64', base64: 'QQ==' }
    const [line, refused] = [{ text: '[image/png, not shown]' }, ['the model does not take it']]
    assert.deepEqual(sent(media(base64)), [{ mediaType: 'image/png', base64: 'QQ==' }, []])
    assert.deepEqual(sent(media({ kind: 'url', url: 'data:image/png;base64,QQ==' })), [
      { mediaType: 'image/png', base64: 'QQ==' },
      [],
    ])
    assert.deepEqual(sent(media({ kind: 'url', url: 'https://a' })), [{ mediaType: 'image/png', uri: 'https://a' }, []])
    assert.deepEqual(sent(media({ kind: 'url', url: 'https://a' }), { mediaUrls: false }), [line, refused])
    assert.deepEqual(sent(media({ kind: 'file', provider: 'p', fileId: 'f' })), [
      { mediaType: 'image/png', uri: 'f' },
      [],
    ])
    assert.deepEqual(sent(media({ kind: 'file', provider: 'q', fileId: 'f' })), [
      line,
      ['the file is kept by another provider'],
    ])
    assert.deepEqual(sent(media(base64, 'image/gif')), [{ text: '[image/gif, not shown]' }, refused])
    assert.deepEqual(sent(media(base64, 'audio/wav', 'a.wav')), [{ text: '[audio/wav "a.wav", not shown]' }, refused])
  })

  test('of a result contain what it may contain, and the rest follows after it', () => {
    const part = (...output: (TextPart | MediaPart)[]) => ({
      type: 'tool-result' as const,
      callId: 'c',
      name: 'n',
      output,
    })
    const base64 = { kind: 'base64', base64: 'QQ==' }
    const write = writing()
    const { inside, after } = resultPieces(
      part(
        { type: 'text', text: 'a' },
        media(base64),
        media(base64, 'image/webp', 'b.webp'),
        media(base64, 'audio/wav'),
      ),
      'm',
      write,
    )
    assert.deepEqual(inside, [
      { text: 'a' },
      { mediaType: 'image/png', base64: 'QQ==' },
      { text: '[image/webp "b.webp", follows below]' },
      { text: '[audio/wav, not shown]' },
    ])
    assert.deepEqual(after, [{ mediaType: 'image/webp', base64: 'QQ==' }])
    assert.deepEqual(noted(write), [
      'changed image/webp of a tool result to user content after the results',
      'changed audio/wav to a line of text',
    ])
    const unnamed = resultPieces(part(media(base64, 'image/webp')), 'm', writing())
    assert.deepEqual(unnamed.inside, [{ text: '[image/webp, follows below]' }])
    assert.deepEqual(systemPieces({ role: 'system', parts: [] }, 'm', writing()), [])
    const system = writing()
    const texts: TextPart[] = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ]
    assert.deepEqual(systemPieces({ role: 'system', parts: texts }, 'm', system), [{ text: '[System]\na\nb' }])
    assert.deepEqual(
      system.notes.map(({ rule }) => rule),
      ['S-1'],
    )
  })

  test('that are calls keep what their provider sent, except for what this request needs otherwise', () => {
    const own = (alias?: string): Reply => ({
      ...reply({ type: 'tool-call', callId: 'a', name: 'look', input: {}, ...(alias !== undefined && { alias }) }),
      native: [{}],
      origin: { protocol: 'w', provider: 'p', model: 'm' },
    })
    const [call] = own().parts as [ToolCallPart]
    const patched = (given: JsonObject, part: ToolCallPart, id?: string) => {
      const write = writing()
      return [
        patchedCall(given, part, { id, arguments: 'args' }, 'm', write),
        write.notes.map(({ what, why }) => `${what}: ${why}`),
      ]
    }
    const same = { id: 'x', name: 'look', args: {} }
    assert.deepEqual(patched(same, call, 'x'), [same, []])
    assert.deepEqual(patched(same, call), [same, []])
    assert.deepEqual(patched(same, call, 'y'), [
      { ...same, id: 'y' },
      ['the id of a call of look: another call of this request has the same'],
    ])
    assert.deepEqual(patched({ name: 'look' }, call, 'y')[1], ['the id of a call of look: it came without one'])
    assert.deepEqual(patched({ ...same, name: 'old' }, call)[0], same)
    assert.deepEqual(patched({ ...same, name: 'old' }, call)[1], [
      'the name in a call of look: the tool is declared under another name',
    ])
    assert.deepEqual(patched(same, { ...call, malformed: '{"a' })[0], { ...same, args: { INVALID_JSON: '{"a' } })
    const lookup = (message: Reply) => {
      const write = writing([message])
      return [
        write.isIdless('a'),
        write.isIdless('b'),
        write.resultName({ callId: 'a', name: 'other' } as never),
        write.resultName({ callId: 'b', name: 'other' } as never),
      ]
    }
    assert.deepEqual(lookup(own()), [true, false, 'look', 'other'])
    assert.deepEqual(lookup(own('c_x')), [false, false, 'look', 'other'])
    assert.deepEqual(lookup(reply(call))[0], false, 'a reply from elsewhere has ids')
    const input = (part: Partial<ToolCallPart>) => {
      const write = writing()
      return [callInput({ ...call, ...part }, 'm', write), write.notes.length]
    }
    assert.deepEqual(input({ input: { a: 1 } }), [{ a: 1 }, 0])
    assert.deepEqual(input({ input: [1] }), [{ INVALID_JSON: '[1]' }, 1])
    assert.deepEqual(input({ malformed: 'x' }), [{ INVALID_JSON: 'x' }, 1])
    const thinking = (keepThoughts: boolean, ...parts: Part[]) => {
      const write = writing([], {}, {}, keepThoughts)
      noteReasoning(reply(...parts), 'm', write)
      return write.notes.length
    }
    const thought: Part = { type: 'reasoning', text: 'hm' }
    assert.deepEqual([thinking(false, thought), thinking(true, thought), thinking(false, call)], [1, 0, 0])
    assert.deepEqual([isText({ text: '' }), isText({ text: 1 }), isText({})], [true, false, false])
  })
})

test('a server adds fields to a body, replaces them, and leaves out those that are undefined', () => {
  assert.deepEqual(put({ a: 1, b: undefined })({ b: 2, c: 3 }), { a: 1, c: 3 })
  assert.deepEqual(putIn('o', { a: 1 })({ o: { b: 2 } }), { o: { b: 2, a: 1 } })
  assert.deepEqual([putIn('o', { a: 1 })({}), putIn('o', { a: 1 })({ o: [1] })], [{ o: { a: 1 } }, { o: { a: 1 } }])
  assert.deepEqual(
    [estimateWireTokens(''), estimateWireTokens('abcd'), estimateWireTokens('abcde'), estimateWireTokens('éé')],
    [0, 1, 2, 1],
  )
})

describe('an error', () => {
  const read = (body: Json, more: object = {}) => readFailure({ body, ...more })

  test('has the status of the reply, or else one that its body names', () => {
    assert.deepEqual([read({}, { status: 400 }).status, read({ code: 429 }, { status: 200 }).status], [400, 429])
    assert.deepEqual(
      [
        read({ status: 399 }).status,
        read({ status: 400 }).status,
        read({ status: 599 }).status,
        read({ status: 600 }).status,
      ],
      [undefined, 400, 599, undefined],
    )
    assert.equal(read({ status_code: 503, code: 404 }).status, 503, 'the first of them')
    assert.equal(read({ error: { code: 404 }, status: 503 }).status, 404, 'the innermost')
    assert.equal('status' in read({}), false)
  })

  test('without anything known is of the kind that its status suggests', () => {
    assert.equal(read({}, { status: 499 }).kind, 'invalid-request')
    assert.equal(read({}, { status: 505 }).kind, 'overloaded')
    assert.equal(read({}).kind, 'malformed-reply')
    assert.equal(read({ message: 'x' }).kind, 'overloaded')
    assert.equal(read({ code: 'x' }).kind, 'overloaded')
  })

  test('is named by its most specific code', () => {
    assert.equal(read({ type: 't', code: 'c', status: 's' }).code, 'c')
    assert.equal(read({ status: 's', type: 't' }).code, 's')
    assert.equal(read({ type: 't', error: { type: 'inner' } }).code, 'inner')
    assert.equal(read({ reason: 'r', error_code: 'e' }).code, 'e')
    assert.equal('code' in read({ param: 'p' }), false)
    assert.equal('code' in read({ type: 'error', code: '' }), false)
    assert.equal(read({}, { headers: { 'x-amzn-errortype': 'Throttled:http://x' } }).code, 'Throttled')
  })

  test('is found in nested errors, lists and texts of JSON, but not at any depth', () => {
    const texts = (body: Json) => read(body).message
    assert.match(texts({ error: { message: 'a' }, message: 'b' }), /: a · b\./)
    assert.match(texts({ message: '{"error":{"message":"in"}}' }), /error: in\./)
    assert.match(texts({ message: '{not json' }), /: \{not json\./)
    assert.match(texts({ detail: [{ msg: 'a' }, { msg: 'b' }] }), /: a · b\./)
    assert.match(texts({ detail: [{ msg: 'a', loc: ['x', 1] }] }), /: x\.1: a\./)
    assert.match(texts({ response: { error: { message: 'r' } } }), /: r\./)
    assert.match(texts('a  b\nc'), /: a b c\./)
    assert.match(texts('<!DOCTYPE html><style>x</style><p>Bad  gateway</p>'), /: Bad gateway\./)
    const list = Array.from({ length: 9 }, (_, i) => ({ msg: `m${i}` }))
    assert.match(texts({ detail: list }), /m6 · m7\. The/)
    const nested = (depth: number): Json => (depth === 0 ? 'deep' : { error: nested(depth - 1) })
    assert.match(texts(nested(6)), /deep/)
    assert.doesNotMatch(texts(nested(7)), /deep/)
    assert.match(texts({ message: 'a', msg: 'a' }), /^The provider reported an error: a\. The/)
  })

  test('shows six hundred characters, and ends its sentence once', () => {
    const shown = (text: string) => read(text, { status: 400, provider: 'p' }).message
    assert.equal(shown('x'.repeat(600)), `p answered 400: ${'x'.repeat(600)}.`)
    assert.equal(shown('x'.repeat(601)), `p answered 400: ${'x'.repeat(600)}…`)
    for (const end of ['.', '!', '?']) assert.equal(shown(`Why${end}`), `p answered 400: Why${end}`)
    assert.equal(shown(''), 'p answered 400 without saying why.')
  })

  test('has the wait of its headers, of its body or of its text, in this order', () => {
    const wait = (body: Json, headers: Record<string, string> = {}) =>
      readFailure({ status: 429, body, headers }).retryAfterMs
    assert.equal(wait({ retryDelay: '3s', message: 'try again in 5s' }, { 'Retry-After': '2' }), 2000)
    assert.equal(wait({ retryDelay: '3s', message: 'try again in 5s' }), 3000)
    for (const [text, ms] of [
      ['try again in 5s', 5000],
      ['Please retry after 20 seconds.', 20_000],
      ['try again in 6m0s', 360_000],
      ['retry your request in 1h2m3s', 3_723_000],
      ['try again in 120ms', 120],
      ['try again in 250 milliseconds', 250],
      ['try again in 1.5 min', 90_000],
      ['try again in 0.0001s', 1],
      ['try again in 5 months', undefined],
      ['try again later', undefined],
    ] as const) {
      assert.equal(wait({ message: text }), ms, text)
    }
  })
})
