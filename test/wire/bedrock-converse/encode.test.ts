import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fold } from '../../../src/core/fold.ts'
import type { JsonObject } from '../../../src/core/json.ts'
import type { MediaPart, Message } from '../../../src/core/message.ts'
import { resolve } from '../../../src/providers/resolve.ts'
import { bedrockConverse } from '../../../src/wires/bedrock-converse/index.ts'
import { bedrockConverseFormat } from '../../../src/wires/bedrock-converse/transcript.ts'
import { result, user } from '../../histories.ts'
import { tools } from '../../targets.ts'
import { encoded, model, own, takes, target } from './target.ts'

const contentOf = (messages: Message[], ...rest: [Parameters<typeof encoded>[1]?]) =>
  (encoded(messages, ...rest).body.messages as { role: string; content: JsonObject[] }[]).map(({ content }) => content)

const pdf = (name?: string): MediaPart => ({
  type: 'media',
  mediaType: 'application/pdf',
  ...(name !== undefined && { name }),
  data: { kind: 'base64', base64: 'JVBERi0=' },
})
const call = { type: 'tool-call', callId: 'c1', alias: 'tooluse_1', name: 'clock', input: {}, from: 0 } as const
const asks = own([{ toolUse: { toolUseId: 'tooluse_1', name: 'clock', input: {} } }], [call])

describe('a request', () => {
  test('has its model in the path, and whether it is streamed', () => {
    const path = (changes: Parameters<typeof encoded>[1]) => encoded([user('hi')], changes).path
    assert.equal(path({}), '/model/us.amazon.nova-2-lite-v1%3A0/converse')
    assert.equal(path({ options: { stream: true } }), '/model/us.amazon.nova-2-lite-v1%3A0/converse-stream')
    const arn = 'arn:aws:bedrock:us-east-1:1:application-inference-profile/abc'
    assert.match(
      path({ model: arn }),
      /^\/model\/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aapplication-inference-profile%2Fabc\//,
    )
    assert.throws(() => path({ model: '..' }), /not the name of a model/)
  })

  test('with tools is not streamed for a model that cannot stream calls', () => {
    const changes = { ...takes({ toolsInStream: false }), options: { stream: true } }
    assert.match(encoded([user('hi')], changes, { tools }).path, /\/converse$/)
    assert.match(encoded([user('hi')], changes).path, /\/converse-stream$/)
  })

  test('puts results first and joins what the user says next', () => {
    assert.deepEqual(contentOf([user('hi'), asks, result('c1', '12:00', 'clock'), user('and now?')])[2], [
      { toolResult: { toolUseId: 'tooluse_1', content: [{ text: '12:00' }] } },
      { text: 'and now?' },
    ])
  })

  test('marks a failed result if the model supports that, and writes it as text otherwise', () => {
    const failed: Message = {
      role: 'tool',
      parts: [
        { type: 'tool-result', callId: 'c1', name: 'clock', output: [{ type: 'text', text: 'gone' }], failed: true },
      ],
    }
    const resultOf = (changes: Parameters<typeof encoded>[1]) => contentOf([user('hi'), asks, failed], changes)[2]?.[0]
    const toolUseId = 'tooluse_1'
    assert.deepEqual(resultOf({}), { toolResult: { toolUseId, content: [{ text: 'gone' }], status: 'error' } })
    assert.deepEqual(resultOf(takes({ resultMedia: [] })), {
      toolResult: { toolUseId, content: [{ text: 'Error: gone' }] },
    })
  })

  test('declares the tools of the history where none is offered', () => {
    const { body, notes } = encoded([user('hi'), asks, result('c1', 'ok', 'clock')])
    assert.deepEqual(body.toolConfig, {
      tools: [{ toolSpec: { name: 'clock', inputSchema: { json: { type: 'object' } } } }],
    })
    assert.ok(notes.some(({ rule }) => rule === 'BC-5'))
  })

  test('gives documents unique names, at most five of them, and a text', () => {
    const many = Array.from({ length: 6 }, () => ({ role: 'user' as const, parts: [pdf('report.pdf')] }))
    const { body, notes } = encoded(many)
    assert.deepEqual(bedrockConverse.refuse(body), [])
    const [first] = body.messages as { content: JsonObject[] }[]
    const names = first?.content.flatMap((block) => (block.document as { name: string } | undefined)?.name ?? [])
    assert.deepEqual(names, ['document-2', 'document-3', 'document-4', 'document-5', 'document-6'])
    assert.ok(notes.some(({ rule, kind }) => rule === 'BC-14' && kind === 'dropped'))
  })

  test('marks caches after the block that they close, only where the model has them', () => {
    const context = { cacheAfter: [-1, 0], system: [{ type: 'text' as const, text: 'Be brief.' }] }
    const point = { cachePoint: { type: 'default' } }
    const { body } = encoded([user('hi')], takes({ cacheMarks: true }), context)
    assert.deepEqual(body.system, [{ text: 'Be brief.' }, point])
    assert.deepEqual(body.messages, [{ role: 'user', content: [{ text: 'hi' }, point] }])
    assert.doesNotMatch(JSON.stringify(encoded([user('hi')], {}, context).body), /cachePoint/)
  })
})

describe('a reply', () => {
  test('is sent back with signed reasoning, without unsigned, and not to another model', () => {
    const signed = { reasoningContent: { reasoningText: { text: 'Hm.', signature: 's' } } }
    const unsigned = { reasoningContent: { reasoningText: { text: 'Hm.' } } }
    const said = (thought: JsonObject) =>
      own(
        [thought, { text: 'Yes.' }],
        [
          { type: 'reasoning', text: 'Hm.', from: 0 },
          { type: 'text', text: 'Yes.', from: 1 },
        ],
      )
    assert.deepEqual(contentOf([user('hi'), said(signed), user('x')])[1], [signed, { text: 'Yes.' }])
    assert.deepEqual(contentOf([user('hi'), said(unsigned), user('x')])[1], [{ text: 'Yes.' }])
    assert.deepEqual(contentOf([user('hi'), said(signed), user('x')], { model: 'meta.llama3' })[1], [{ text: 'Yes.' }])
  })

  test('of nothing but reasoning is left out, and its neighbours are joined', () => {
    const thought = own(
      [{ reasoningContent: { reasoningText: { text: 'Hm.', signature: 's' } } }],
      [{ type: 'reasoning', text: 'Hm.', from: 0 }],
    )
    assert.deepEqual(contentOf([user('a'), thought, user('b')]), [[{ text: 'a' }, { text: 'b' }]])
  })

  test('of Mistral’s models gets ids of nine letters and digits', () => {
    const [, reply] = contentOf([user('hi'), asks, result('c1', 'ok', 'clock')], takes({ callIdLength: 9 }))
    assert.match(JSON.stringify(reply), /"toolUseId":"[a-zA-Z0-9]{9}"/)
  })

  test('that ends in an exception is a failure with its kind, whatever the case of its name', () => {
    const decoder = bedrockConverse.decoder({ protocol: 'bedrock-converse', provider: 'bedrock', model })
    const chunks = [
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'Hel' } } },
      { type: 'error', error: { type: 'throttlingException', message: 'Too many requests, please wait.' } },
    ]
    const events = [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()]
    const { reply, failure } = fold(events, { protocol: 'bedrock-converse', provider: 'bedrock', model })
    assert.equal(failure?.kind, 'rate-limit')
    assert.deepEqual(reply.parts, [{ type: 'text', text: 'Hel', from: 0 }])
  })

  test('that is cut before its end is not treated as complete', () => {
    const decoder = bedrockConverse.decoder({ protocol: 'bedrock-converse', provider: 'bedrock', model })
    const events = [
      ...decoder.push({ contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'Hel' } } }),
      ...decoder.end(),
    ]
    assert.equal(fold(events, target as never).reply.stop.reason, 'interrupted')
  })

  test('with a call that the model wrote badly is a failure that is worth another try', () => {
    const decoder = bedrockConverse.decoder({ protocol: 'bedrock-converse', provider: 'bedrock', model })
    const events = [...decoder.push({ messageStop: { stopReason: 'malformed_tool_use' } }), ...decoder.end()]
    assert.equal(fold(events, target as never).failure?.kind, 'malformed-reply')
  })
})

describe('the rules', () => {
  const text = { role: 'user', content: [{ text: 'hi' }] }
  const use = { role: 'assistant', content: [{ toolUse: { toolUseId: 'a', name: 'clock', input: {} } }] }
  const answer = (content: unknown, more = {}) => ({
    role: 'user',
    content: [{ toolResult: { toolUseId: 'a', content, ...more } }],
  })
  const toolConfig = { tools: [{ toolSpec: { name: 'clock', inputSchema: { json: {} } } }] }
  const cases: [rule: string, body: object, model?: string][] = [
    ['BC-1', { messages: [{ role: 'assistant', content: [{ text: 'hi' }] }] }],
    ['BC-2', { messages: [text, text] }],
    ['BC-3', { messages: [text, use, text], toolConfig }],
    ['BC-4', { messages: [answer([{ text: 'x' }])], toolConfig }],
    ['BC-5', { messages: [text, use, answer([{ text: 'x' }])] }],
    ['BC-6', { messages: [{ role: 'user', content: [{ text: ' ' }] }] }],
    ['BC-7', { messages: [text, use, answer([], { status: 'error' })], toolConfig }],
    ['BC-8', { messages: [text, use, answer([{ json: [1] }])], toolConfig }],
    ['BC-9', { messages: [text], toolConfig: { tools: [{ toolSpec: { name: 'a b', inputSchema: { json: {} } } }] } }],
    [
      'BC-10',
      {
        messages: [text],
        toolConfig: { tools: [{ toolSpec: { name: 'a', description: '', inputSchema: { json: {} } } }] },
      },
    ],
    [
      'BC-11',
      {
        messages: [text, { role: 'assistant', content: [{ toolUse: { toolUseId: 'a b', name: 'clock', input: {} } }] }],
        toolConfig,
      },
    ],
    ['BC-16', { messages: [text, { role: 'assistant', content: [{ text: 'hi' }] }] }, 'us.anthropic.claude-sonnet-5'],
    [
      'BC-18',
      { messages: [{ role: 'user', content: [{ text: 'hi' }, { cachePoint: { type: 'default' } }] }] },
      'meta.llama3-1-8b',
    ],
    ['BM-10', { messages: [text], inferenceConfig: { temperature: 1, topP: 1 } }, 'us.anthropic.claude-opus-4-6-v1'],
  ]
  for (const [rule, body, name] of cases) {
    test(`${rule} is refused with the error message of the service`, () => {
      const issues = bedrockConverse.refuse(body as JsonObject, name === undefined ? {} : { model: name })
      assert.ok(
        issues.some((issue) => issue.rule === rule),
        JSON.stringify(issues),
      )
    })
  }

  test('about documents are refused', () => {
    const document = (name: string) => ({ document: { format: 'pdf', name, source: { bytes: '' } } })
    const rules = (content: object[]) =>
      bedrockConverse.refuse({ messages: [{ role: 'user', content } as JsonObject] }).map(({ rule }) => rule)
    assert.deepEqual(rules([{ text: 'x' }, document('a')]), [])
    assert.deepEqual(rules([document('a')]), ['BC-14'])
    assert.deepEqual(rules([{ text: 'x' }, document('a'), document('a')]), ['BC-12'])
    assert.deepEqual(rules([{ text: 'x' }, document('report.pdf')]), ['BC-13'])
    assert.deepEqual(rules([{ text: 'x' }, ...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => document(name))]), ['BC-14'])
  })
})

test('a history of another wire is written as a transcript, and read the same', () => {
  const history: Message[] = [
    user('hi'),
    { ...asks, native: [], origin: { protocol: 'elsewhere', provider: 'x', model: 'm' } },
    result('c1', '12:00', 'clock'),
    user('thanks'),
  ]
  const written = bedrockConverseFormat.write(history)
  assert.ok(bedrockConverseFormat.recognise(written))
  const { messages } = bedrockConverseFormat.read(written)
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'user'],
  )
})

test('models on the wire support what their makers allow', async () => {
  const of = async (name: string) =>
    (
      await resolve({
        provider: 'bedrock',
        protocol: 'bedrock-converse',
        model: name,
        key: 'k',
        env: { AWS_REGION: 'us-east-1' },
      })
    ).capabilities
  assert.equal((await of('us.meta.llama4-scout-17b-instruct-v1:0')).toolsInStream, false)
  assert.equal((await of('us.deepseek.r1-v1:0')).tools, false)
  assert.equal((await of('mistral.mistral-large-3-675b-instruct')).callIdLength, 9)
  assert.equal((await of('us.anthropic.claude-opus-5')).cacheMarks, true)
  assert.deepEqual((await of('us.amazon.nova-micro-v1:0')).media, [])
  assert.equal((await of('us.amazon.nova-2-lite-v1:0')).effortField, 'reasoningConfig')
  assert.equal((await of('openai.gpt-oss-120b-1:0')).effortField, 'reasoning_effort')
})
