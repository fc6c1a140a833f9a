// The parts of a message on wires with lists of parts.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Context } from '../../src/core/context.ts'
import type { JsonObject } from '../../src/core/json.ts'
import type { MediaPart, Message, Part, Reply, TextPart, ToolCallPart } from '../../src/core/message.ts'
import {
  callInput,
  isText,
  noteReasoning,
  patchCall,
  replyPieces,
  resultPieces,
  systemPieces,
  userPieces,
  createEncoding,
  type Form,
} from '../../src/wires/shared/pieces.ts'
import { reply, user } from '../histories.ts'
import { targetFor } from './target-for.ts'

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
    return createEncoding({ ...form, ...change }, context, target, keepThoughts)
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
    const [line, refused] = [{ text: '[image/png, not shown]' }, ['the model does not support it']]
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
      ['the file is stored at another provider'],
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
        patchCall(given, part, { id, arguments: 'args' }, 'm', write),
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
