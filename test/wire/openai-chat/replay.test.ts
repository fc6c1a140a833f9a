import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { Message, Reply } from '../../../src/core/message.ts'
import { freeFormInput } from '../../../src/core/tool-kinds.ts'
import { call, reply, result, user } from '../../histories.ts'
import { decoded, delta, fragment, sent, type Wanted } from './target.ts'

/** What the provider would have sent as this message, read. */
function said(message: JsonObject, from: { provider?: string; model?: string } = {}): Reply {
  const whole = { id: 'chatcmpl-1', choices: [{ index: 0, message, finish_reason: 'stop' }] }
  const origin = { protocol: 'openai-chat', provider: from.provider ?? 'openai', model: from.model ?? 'gpt-4o' }
  return decoded([whole], { origin }).reply
}

/** The assistant message that is sent for a reply, with results for its calls. */
function sentBack(message: Reply, wanted: Wanted = {}): { message: JsonObject; whats: string[]; all: JsonObject[] } {
  const results = message.parts.flatMap((part) =>
    part.type === 'tool-call' ? [result(part.callId, 'ok', part.name)] : [],
  )
  const { messages, notes } = sent([user('go'), message, ...results], wanted)
  const all = messages as JsonObject[]
  return { message: all[1] ?? {}, whats: notes.map((note) => note.what), all }
}

const toolCall = { id: 'call_abc', type: 'function', function: { name: 'clock', arguments: '{ "zone":"UTC" }' } }

test('a reply is sent back to its provider unchanged, to the last space of its arguments', () => {
  const message = { role: 'assistant', content: 'Let me see.', tool_calls: [toolCall], name: 'bot' }
  const { message: back, whats, all } = sentBack(said(message))
  assert.deepEqual(back, message)
  assert.deepEqual(whats, [])
  assert.equal(all[2]?.tool_call_id, 'call_abc')
})

test('a call whose name arrives late, or never, is sent back with its own arguments and not with those of another', () => {
  for (const name of ['clock', '']) {
    const { reply: late } = decoded([
      fragment({ index: 0, id: 'call_a', type: 'function', function: { arguments: '{"zone":"UTC"}' } }),
      fragment({ index: 1, id: 'call_b', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }),
      fragment({ index: 0, function: { name } }),
      delta({}, 'tool_calls'),
    ])
    const { message } = sentBack(late)
    const calls = message.tool_calls as { id: string; function: { arguments: string } }[]
    assert.deepEqual(
      calls.map((one) => [one.id, one.function.arguments]),
      [
        ['call_b', '{"a":1}'],
        ['call_a', '{"zone":"UTC"}'],
      ],
    )
  }
})

test('to another provider it is built from its parts, with another id', () => {
  const { message, all } = sentBack(said({ role: 'assistant', content: null, tool_calls: [toolCall] }), {
    provider: 'xai',
  })
  const [back] = message.tool_calls as { id: string; function: { arguments: string } }[]
  assert.equal(back?.function.arguments, '{"zone":"UTC"}')
  assert.match(back?.id ?? '', /^call_[0-9A-Za-z]{24}$/)
  assert.equal(all[2]?.tool_call_id, back?.id)
})

test('reply-only fields are left out: nulls, positions, citations, audio except its id', () => {
  const { message, whats } = sentBack(
    said({
      role: 'assistant',
      content: 'Hi',
      refusal: null,
      function_call: null,
      tool_calls: [],
      annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example' } }],
      audio: { id: 'audio_1', data: 'UklGRg==', transcript: 'Hi', expires_at: 1 },
    }),
  )
  assert.deepEqual(message, { role: 'assistant', content: 'Hi', audio: { id: 'audio_1' } })
  assert.deepEqual(whats, ['annotations'])
  const positioned = sentBack(said({ role: 'assistant', content: null, tool_calls: [{ index: 0, ...toolCall }] }))
  assert.deepEqual(positioned.message.tool_calls, [toolCall])
})

test('fields without a name here go back, on the message and on its calls', () => {
  const signed = { ...toolCall, extra_content: { google: { thought_signature: 'c2ln' } } }
  const message = { role: 'assistant', content: '', tool_calls: [signed], hologram: { depth: 3 } }
  assert.deepEqual(sentBack(said(message)).message, message)
})

test('a refusal is sent back as a refusal part, because null content is refused', () => {
  const { message } = sentBack(said({ role: 'assistant', content: null, refusal: 'I will not.' }))
  assert.deepEqual(message, { role: 'assistant', content: [{ type: 'refusal', refusal: 'I will not.' }] })
})

test('malformed arguments are wrapped, though the rest is sent back unchanged', () => {
  const broken = { id: 'call_abc', type: 'function', function: { name: 'clock', arguments: '{"zone": "U' } }
  const { message, whats } = sentBack(said({ role: 'assistant', content: 'So:', tool_calls: [broken] }))
  const wrapped = { name: 'clock', arguments: '{"INVALID_JSON":"{\\"zone\\": \\"U"}' }
  assert.deepEqual(message, { role: 'assistant', content: 'So:', tool_calls: [{ ...broken, function: wrapped }] })
  assert.deepEqual(whats, ['arguments of the call of clock'])
})

test('ids that are too long, missing or used twice are replaced, in call and result alike', () => {
  const long = { ...toolCall, id: 'x'.repeat(41) }
  const { type, function: fn } = toolCall
  const { message, all, whats } = sentBack(
    said({ role: 'assistant', content: null, tool_calls: [long, { type, function: fn }, toolCall, toolCall] }),
  )
  const ids = (message.tool_calls as { id: string }[]).map((made) => made.id)
  assert.equal(new Set(ids).size, 4)
  assert.ok(ids.every((id) => id.length <= 40))
  assert.equal(ids[2], 'call_abc')
  assert.deepEqual(
    all.slice(2).map((tool) => tool.tool_call_id),
    ids,
  )
  assert.equal(whats.filter((what) => what.startsWith('id of')).length, 3)
})

test('a call of an unknown type cannot be answered, so it is left out with a note', () => {
  const unknown = { id: 'call_c', type: 'hologram', hologram: { size: 1 } }
  const { message, whats } = sentBack(said({ role: 'assistant', content: 'Hm', tool_calls: [unknown] }))
  assert.deepEqual(message, { role: 'assistant', content: 'Hm' })
  assert.deepEqual(whats, ['1 calls'])
})

const customCall = { id: 'call_c', type: 'custom', custom: { name: 'sh', input: 'ls "-l"\n', mood: 'good' } }
const withKinds = { capabilities: { toolKinds: true } }

test('a call of a custom tool is sent back unchanged, with its unknown fields', () => {
  const message = { role: 'assistant', content: null, tool_calls: [{ ...customCall, extra: 1 }, toolCall] }
  const { message: back, whats, all } = sentBack(said(message), withKinds)
  assert.deepEqual(back, message)
  assert.deepEqual(whats, [])
  assert.deepEqual(
    all.slice(2).map(({ tool_call_id: id }) => id),
    ['call_c', 'call_abc'],
  )
})

test('a model without custom tools gets their calls as functions', () => {
  const { message, whats } = sentBack(said({ role: 'assistant', content: null, tool_calls: [customCall] }))
  const args = '{"input":"ls \\"-l\\"\\n"}'
  assert.deepEqual(message.tool_calls, [{ id: 'call_c', type: 'function', function: { name: 'sh', arguments: args } }])
  assert.deepEqual(whats, [])
})

test('a call is sent in the form that its tool has now', () => {
  const args = '{"input":"ls"}'
  const made = said({
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'call_f', type: 'function', function: { name: 'sh', arguments: args } }],
  })
  const tool = { name: 'sh', input: freeFormInput }
  const form = (kind: { kind?: 'free-form' }) => {
    const { messages } = sent([user('go'), made, result('call_f', 'ok', 'sh')], withKinds, {
      tools: [{ ...tool, ...kind }],
    })
    return (messages as JsonObject[])[1]?.tool_calls
  }
  assert.deepEqual(form({ kind: 'free-form' }), [{ id: 'call_f', type: 'custom', custom: { name: 'sh', input: 'ls' } }])
  assert.deepEqual(form({}), [{ id: 'call_f', type: 'function', function: { name: 'sh', arguments: args } }])
})

test('the id of a call of a custom tool that is too long is replaced, in call and result alike', () => {
  const long = { ...customCall, id: 'x'.repeat(41) }
  const { message, all, whats } = sentBack(said({ role: 'assistant', content: null, tool_calls: [long] }), withKinds)
  const [back] = message.tool_calls as { id: string }[]
  assert.ok(back && back.id.length <= 40)
  assert.equal(all[2]?.tool_call_id, back.id)
  assert.match(whats.join(), /^id of the call of sh/)
})

test('the old function_call is sent back as a tool call, because its result is one', () => {
  const { message } = sentBack(
    said({ role: 'assistant', content: null, function_call: { name: 'clock', arguments: '{}' } }),
  )
  assert.equal('function_call' in message, false)
  assert.deepEqual((message.tool_calls as JsonObject[])[0]?.function, { name: 'clock', arguments: '{}' })
})

test('an unfinished reply is sent in its native form only if that has all of it', () => {
  const text = decoded([delta({ role: 'assistant', content: 'Once upon' })]).reply
  assert.deepEqual(sentBack(text).message, { role: 'assistant', content: 'Once upon' })
  const torn = decoded([
    delta({ role: 'assistant', content: 'So' }),
    delta({
      tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'clock', arguments: '{"z' } }],
    }),
  ]).reply
  assert.deepEqual(torn.native, [{ role: 'assistant', content: 'So', tool_calls: [] }])
  const [back] = sentBack(torn).message.tool_calls as { function: { arguments: string } }[]
  assert.equal(back?.function.arguments, '{"INVALID_JSON":"{\\"z"}')
})

const deepseek: Wanted = {
  provider: 'deepseek',
  model: 'deepseek-v4-flash',
  quirks: { reasoningField: 'reasoning_content', echoReasoning: 'tool-turns' },
}

test('DeepSeek gets its reasoning back on tool turns, from any of its models, and not elsewhere', () => {
  const from = { provider: 'deepseek', model: 'deepseek-v4-pro' }
  const called = { role: 'assistant', content: '', reasoning_content: 'Hm.', tool_calls: [toolCall] }
  assert.deepEqual(sentBack(said(called, from), deepseek).message, called)
  const plain = sentBack(said({ role: 'assistant', content: 'Hi', reasoning_content: 'Hm.' }, from), deepseek)
  assert.deepEqual(plain.message, { role: 'assistant', content: 'Hi' })
  assert.deepEqual(plain.whats, ['reasoning'])
})

test('DeepSeek gets an empty string for a tool turn from elsewhere, and never foreign reasoning', () => {
  const foreign = reply({ type: 'reasoning', text: 'Secret.' }, call('c1', 'clock'))
  const { message, whats } = sentBack(foreign, deepseek)
  assert.equal(message.reasoning_content, '')
  assert.deepEqual(whats, ['reasoning', 'empty reasoning_content'])
})

const openrouter: Wanted = {
  provider: 'openrouter',
  model: 'anthropic/claude',
  quirks: { reasoningField: 'reasoning_details', echoReasoning: 'always' },
}
const details: Json[] = [
  { type: 'reasoning.text', text: 'Hm.', signature: 'c2ln', format: 'anthropic-claude-v1', index: 0 },
  { type: 'reasoning.summary', summary: 'Thought.', format: 'openai-responses-v1', index: 1 },
  { type: 'reasoning.encrypted', data: 'gAAA', format: 'openai-responses-v1', index: 2 },
  { type: 'reasoning.text', text: 'Unsigned.', format: 'anthropic-claude-v1', index: 3 },
]

test('OpenRouter gets reasoning_details back as they were, but for thinking without its signature', () => {
  const message = { role: 'assistant', content: 'Hi', reasoning: 'Hm.', reasoning_details: details }
  const back = sentBack(said(message, { provider: 'openrouter', model: 'anthropic/claude' }), openrouter)
  assert.deepEqual(back.message, { role: 'assistant', content: 'Hi', reasoning_details: details.slice(0, 3) })
})

test('pictures that the model made go back to OpenRouter, and are noted elsewhere', () => {
  const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }]
  const message = { role: 'assistant', content: 'Here.', images }
  const from = { provider: 'openrouter', model: 'anthropic/claude' }
  assert.deepEqual(sentBack(said(message, from), openrouter).message, message)
  const elsewhere = sentBack(said(message))
  assert.deepEqual([elsewhere.message, elsewhere.whats], [{ role: 'assistant', content: 'Here.' }, ['images']])
})

test('on another model of OpenRouter signed and encrypted reasoning is left out', () => {
  const message = { role: 'assistant', content: 'Hi', reasoning_details: details }
  const back = sentBack(said(message, { provider: 'openrouter', model: 'openai/gpt-5' }), openrouter)
  assert.deepEqual(back.message.reasoning_details, [details[1]])
  assert.deepEqual(back.whats, ['3 entries of reasoning_details'])
})

test('a host that accepts reasoning back gets it under its current name, from the same model', () => {
  const wanted: Wanted = {
    provider: 'vllm',
    model: 'qwen',
    quirks: { reasoningField: 'reasoning', echoReasoning: 'always' },
  }
  const message = { role: 'assistant', content: 'Hi', reasoning_content: 'Hm.' }
  assert.deepEqual(sentBack(said(message, { provider: 'vllm', model: 'qwen' }), wanted).message, {
    role: 'assistant',
    content: 'Hi',
    reasoning: 'Hm.',
  })
  const other = sentBack(said(message, { provider: 'vllm', model: 'llama' }), wanted)
  assert.deepEqual(other.message, { role: 'assistant', content: 'Hi' })
})

test('a host without the quirk gets no reasoning field at all', () => {
  for (const field of ['reasoning_content', 'reasoning'] as const) {
    const { message, whats } = sentBack(said({ role: 'assistant', content: 'Hi', [field]: 'Hm.' }))
    assert.deepEqual(message, { role: 'assistant', content: 'Hi' })
    assert.deepEqual(whats, ['reasoning'])
  }
})

test('the same log gives the same bytes, and native content is not written on', () => {
  const history: Message[] = [user('go'), said({ role: 'assistant', content: 'Hi', annotations: [] }), user('and?')]
  const before = JSON.stringify(history)
  const wanted: Wanted = { quirks: { cacheControl: true }, capabilities: { cacheMarks: true } }
  const first = JSON.stringify(sent(history, wanted, { cacheAfter: [0, 1, 2] }).body)
  assert.equal(JSON.stringify(sent(history, wanted, { cacheAfter: [0, 1, 2] }).body), first)
  assert.equal(JSON.stringify(history), before)
})
