// Any history at all, for properties: well-kept ones, and ones that crashes, cuts and other people's software left.

import fc from './property.ts'
import type {
  Message,
  Part,
  Reply,
  SystemMessage,
  ToolCallPart,
  ToolMessage,
  UserMessage,
} from '../src/core/message.ts'
import type { Json } from '../src/core/json.ts'
import { onePixel } from './histories.ts'

/** Text with the characters that break things: blanks, lone surrogates, NUL, ideographs, quotes. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 5, arbitrary: fc.string({ minLength: 1, maxLength: 20 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', ' ', '\n', '\uD800', 'a\0b', '🙂', '漢字', '"}]', ' trailing ', '\u001b[31m'),
  },
)

const callIds = fc.constantFrom('call_0', 'c1', 'c2', 'c3', 'toolu_01', 'x'.repeat(90), 'functions.f:0', 'ü')
const toolNames = fc.constantFrom('clock', 'add', 'fs.read file', 'search-web', 'n'.repeat(80))
const anyInput = fc
  .dictionary(fc.string({ minLength: 1, maxLength: 5 }), fc.jsonValue({ maxDepth: 2 }), {
    maxKeys: 3,
    noNullPrototype: true,
  })
  // A negative zero is written as a zero, and is none any more when it is read.
  .map((input) => JSON.parse(JSON.stringify(input)) as Json)

const anyCall: fc.Arbitrary<ToolCallPart> = fc
  .record({ callId: callIds, name: toolNames, input: anyInput, broken: fc.boolean() })
  .map(({ callId, name, input, broken }) => ({
    type: 'tool-call',
    callId,
    name,
    ...(broken && callId === 'ü' ? { input: {}, malformed: '{"a": ' } : { input }),
  }))

const anyReplyPart: fc.Arbitrary<Part> = fc.oneof(
  { weight: 4, arbitrary: anyText.map((text): Part => ({ type: 'text', text })) },
  { weight: 3, arbitrary: anyCall },
  { weight: 1, arbitrary: anyText.map((text): Part => ({ type: 'reasoning', text })) },
  { weight: 1, arbitrary: anyText.map((text): Part => ({ type: 'refusal', text })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Part>(
      { type: 'opaque', kind: 'elsewhere/hologram', data: { type: 'hologram', depth: 3 } },
      { type: 'server-tool', name: 'web_search', input: { q: 'x' }, output: ['y'] },
      { type: 'compaction', text: 'what was said before' },
      onePixel,
    ),
  },
)

const anyUser: fc.Arbitrary<UserMessage> = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: anyText.map((text) => ({ type: 'text' as const, text })) },
      { weight: 1, arbitrary: fc.constant(onePixel) },
      { weight: 1, arbitrary: fc.constant({ type: 'opaque' as const, kind: 'elsewhere/thing', data: { a: 1 } }) },
    ),
    { maxLength: 3 },
  )
  .map((parts) => ({ role: 'user', parts }))

const anyReply: fc.Arbitrary<Reply> = fc.array(anyReplyPart, { maxLength: 4 }).map((parts) => ({
  role: 'assistant',
  parts,
  native: [],
  origin: { protocol: 'elsewhere', provider: 'elsewhere', model: 'm' },
  stop: { reason: parts.some((part) => part.type === 'tool-call') ? 'tool-calls' : 'done' },
}))

const anyResult: fc.Arbitrary<ToolMessage> = fc
  .array(fc.record({ callId: callIds, name: toolNames, text: anyText, media: fc.boolean(), failed: fc.boolean() }), {
    minLength: 1,
    maxLength: 2,
  })
  .map((results) => ({
    role: 'tool',
    parts: results.map(({ callId, name, text, media, failed }) => ({
      type: 'tool-result',
      callId,
      name,
      output: [{ type: 'text', text }, ...(media ? [onePixel] : [])],
      ...(failed && { failed }),
    })),
  }))

const anySystem: fc.Arbitrary<SystemMessage> = anyText.map((text) => ({
  role: 'system',
  parts: [{ type: 'text', text }],
}))

/** Anything in any order. */
export const anyHistory: fc.Arbitrary<Message[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: anyUser },
    { weight: 4, arbitrary: anyReply },
    { weight: 3, arbitrary: anyResult },
    { weight: 1, arbitrary: anySystem },
  ),
  { maxLength: 12 },
)

/** A conversation as a loop would have written it: each call has its own id and is answered at once. */
export const loopHistory: fc.Arbitrary<Message[]> = fc
  .array(fc.tuple(anyUser, fc.array(anyReply, { minLength: 1, maxLength: 3 }), anyText), { minLength: 1, maxLength: 5 })
  .map((turns) => {
    let n = 0
    return turns.flatMap(([asked, replies, output]): Message[] => [
      { role: 'user', parts: [...asked.parts, { type: 'text', text: 'and then?' }] },
      ...replies.flatMap((reply): Message[] => {
        const parts = reply.parts.map((part): Part =>
          part.type === 'tool-call' ? { ...part, callId: `call-${n++}` } : part,
        )
        const results = parts.flatMap((part): Message[] =>
          part.type === 'tool-call'
            ? [
                {
                  role: 'tool',
                  parts: [
                    {
                      type: 'tool-result',
                      callId: part.callId,
                      name: part.name,
                      output: [{ type: 'text', text: output }],
                    },
                  ],
                },
              ]
            : [],
        )
        return [{ ...reply, parts }, ...results]
      }),
    ])
  })
