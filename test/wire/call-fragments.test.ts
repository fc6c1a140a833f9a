// Published oddities of streamed tool calls: what hosts send, and which calls it means. Every row is read by each wire
// that streams calls in fragments; a new oddity becomes a row here before it is handled.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fold } from '../../src/core/fold.ts'
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { mistralChat } from '../../src/wires/mistral-chat/index.ts'
import { ollamaChat } from '../../src/wires/ollama-chat/index.ts'
import { openaiChat } from '../../src/wires/openai-chat/index.ts'

interface Oddity {
  title: string
  source: string
  /** The deltas of the stream, in order. */
  deltas: JsonObject[]
  /** What the reply calls: name, input, and the provider's id where it has one. */
  calls: [name: string, input: Json, id?: string][]
  text?: string
}

const github = 'https://github.com'

/** A delta with the fragments of calls. */
function calls(...fragments: JsonObject[]): JsonObject {
  return { tool_calls: fragments }
}

function fragment(index: number | undefined, id: Json | undefined, name: Json | undefined, args: Json | undefined) {
  return {
    ...(index !== undefined && { index }),
    ...(id !== undefined && { id }),
    function: { ...(name !== undefined && { name }), ...(args !== undefined && { arguments: args }) },
  }
}

const paris = { city: 'Paris' }
const rome = { city: 'Rome' }

const oddities: Oddity[] = [
  {
    title: 'later fragments have the id "null" and an empty name',
    source: `${github}/zed-industries/zed/pull/54058`,
    deltas: [
      calls(fragment(0, 'abc123def', 'weather', '')),
      calls(fragment(0, 'null', '', '{"city": ')),
      calls(fragment(0, 'null', '', '"Paris"}')),
    ],
    calls: [['weather', paris, 'abc123def']],
  },
  {
    title: 'two calls whose later fragments all have the id "null" are kept apart by their index',
    source: `${github}/langchain-ai/langchainjs/issues/11505`,
    deltas: [
      calls(fragment(0, 'abc123def', 'weather', '{"city":'), fragment(1, 'ghi456jkl', 'weather', '{"city":')),
      calls(fragment(0, 'null', '', '"Paris"}')),
      calls(fragment(1, 'null', '', '"Rome"}')),
    ],
    calls: [
      ['weather', paris, 'abc123def'],
      ['weather', rome, 'ghi456jkl'],
    ],
  },
  {
    title: 'two whole calls with the id "null" are two calls',
    source: `${github}/mistralai/client-js/issues/69`,
    deltas: [
      calls(fragment(0, 'null', 'weather', '{"city":"Paris"}'), fragment(1, 'null', 'weather', '{"city":"Rome"}')),
    ],
    calls: [
      ['weather', paris],
      ['weather', rome],
    ],
  },
  {
    title: 'later fragments have an empty id and an empty name',
    source: `${github}/zed-industries/zed/pull/54872`,
    deltas: [
      calls(fragment(0, 'call_8c1f', 'weather', '{')),
      calls(fragment(0, '', '', '"city": ')),
      calls(fragment(0, '', '', '"Paris"}')),
    ],
    calls: [['weather', paris, 'call_8c1f']],
  },
  {
    title: 'later fragments have null for id, name and type',
    source: `${github}/sgl-project/sglang/issues/4700`,
    deltas: [
      calls({ ...fragment(0, 'call_D', 'weather', ''), type: 'function' }),
      calls({ ...fragment(0, null, null, '{"city"'), type: null }),
      calls({ ...fragment(0, null, null, ':"Paris"}'), type: null }),
    ],
    calls: [['weather', paris, 'call_D']],
  },
  {
    title: 'fragments without an index, and with an empty id and type',
    source: `${github}/AstrBotDevs/AstrBot/issues/6661`,
    deltas: [
      calls({ ...fragment(undefined, 'call_1', 'weather', ''), type: 'function' }),
      calls({ ...fragment(undefined, '', undefined, '{"city":"Paris"}'), type: '' }),
    ],
    calls: [['weather', paris, 'call_1']],
  },
  {
    title: 'whole calls without an index',
    source: `${github}/openai/openai-python/issues/2806`,
    deltas: [
      calls(fragment(undefined, 'call_297140', 'weather', '{"city":"Paris"}')),
      calls(fragment(undefined, 'call_297141', 'weather', '{"city":"Rome"}')),
    ],
    calls: [
      ['weather', paris, 'call_297140'],
      ['weather', rome, 'call_297141'],
    ],
  },
  {
    title: 'every whole call of a batch has index 0',
    source: `${github}/ollama/ollama/issues/15457`,
    deltas: [
      calls(fragment(0, 'call_a', 'weather', '{"city":"Paris"}')),
      calls(fragment(0, 'call_b', 'weather', '{"city":"Rome"}')),
    ],
    calls: [
      ['weather', paris, 'call_a'],
      ['weather', rome, 'call_b'],
    ],
  },
  {
    title: 'every call has index 0 and comes in fragments, of which only the first has an id',
    source: `${github}/InternLM/lmdeploy/issues/3412`,
    deltas: [
      calls(fragment(0, 'tool-c9', 'weather', '')),
      calls(fragment(0, '', null, '{"city":"Paris"}')),
      calls(fragment(0, 'tool-Hf', 'weather', '')),
      calls(fragment(0, '', null, '{"city":"Rome"}')),
    ],
    calls: [
      ['weather', paris, 'tool-c9'],
      ['weather', rome, 'tool-Hf'],
    ],
  },
  {
    title: 'index and id are used again for another tool',
    source: `${github}/skye-harris/hass_local_openai_llm/pull/92`,
    deltas: [
      calls(fragment(0, 'call_0', 'weather', '{"city":"Paris"}')),
      calls(fragment(0, 'call_0', 'clock', '{"city":"Rome"}')),
    ],
    calls: [
      ['weather', paris, 'call_0'],
      ['clock', rome, 'call_0'],
    ],
  },
  {
    title: 'index and id are used again for the same tool',
    source: `${github}/skye-harris/hass_local_openai_llm/pull/92`,
    deltas: [
      calls(fragment(0, 'call_0', 'weather', '{"city":"Paris"}')),
      calls(fragment(0, 'call_0', 'weather', '{"city":"Rome"}')),
    ],
    calls: [
      ['weather', paris, 'call_0'],
      ['weather', rome, 'call_0'],
    ],
  },
  {
    title: 'calls of different tools have the same index and no id',
    source: `${github}/huggingface/smolagents/pull/1958`,
    deltas: [
      calls(fragment(0, undefined, 'weather', '{"city":"Paris"}')),
      calls(fragment(0, undefined, 'clock', '{"city":"Rome"}')),
    ],
    calls: [
      ['weather', paris],
      ['clock', rome],
    ],
  },
  {
    title: 'calls of one tool have the same index and no id',
    source: `${github}/huggingface/smolagents/pull/1958`,
    deltas: [
      calls(fragment(0, undefined, 'weather', '{"city":"Paris"}')),
      calls(fragment(0, undefined, 'weather', '{"city":"Rome"}')),
    ],
    calls: [
      ['weather', paris],
      ['weather', rome],
    ],
  },
  {
    title: 'one delta has the name and the first arguments as two entries of one index',
    source: `${github}/openai/openai-python/issues/3201`,
    deltas: [
      calls(fragment(0, 'call_1', 'weather', undefined), fragment(0, undefined, undefined, '{"city":')),
      calls(fragment(0, undefined, undefined, '"Paris"}')),
    ],
    calls: [['weather', paris, 'call_1']],
  },
  {
    title: 'the name comes after id and arguments',
    source: `${github}/vercel/ai/issues/14722`,
    deltas: [
      calls(fragment(0, 'call_1', undefined, '{"city":')),
      calls(fragment(0, undefined, 'weather', '')),
      calls(fragment(0, undefined, undefined, '"Paris"}')),
    ],
    calls: [['weather', paris, 'call_1']],
  },
  {
    title: 'the name comes in pieces',
    source: `${github}/continuedev/continue/pull/5849`,
    deltas: [
      calls(fragment(0, 'call_1', 'edit_ex', '')),
      calls(fragment(0, undefined, 'isting_file', '')),
      calls(fragment(0, undefined, undefined, '{"city":"Paris"}')),
    ],
    calls: [['edit_existing_file', paris, 'call_1']],
  },
  {
    title: 'the name is repeated in every fragment',
    source: `${github}/ggml-org/llama.cpp/pull/13800`,
    deltas: [
      calls(fragment(0, 'call_1', 'weather', '')),
      calls(fragment(0, 'call_1', 'weather', '{"city":')),
      calls(fragment(0, 'call_1', 'weather', '"Paris"}')),
    ],
    calls: [['weather', paris, 'call_1']],
  },
  {
    title: 'the whole call is sent once more at the end',
    source: `${github}/Soju06/codex-lb/issues/284`,
    deltas: [
      calls(fragment(0, 'call_1', 'weather', '')),
      calls(fragment(0, undefined, undefined, '{"city":"Paris"}')),
      calls(fragment(0, 'call_1', 'weather', '{"city":"Paris"}')),
    ],
    calls: [['weather', paris, 'call_1']],
  },
  {
    title: 'the fragments of two calls alternate, with ids only in the first of each',
    source: `${github}/QwenLM/Qwen-Agent/pull/943`,
    deltas: [
      calls(fragment(0, 'call_1', 'weather', '')),
      calls(fragment(1, 'call_2', 'clock', '')),
      calls(fragment(0, undefined, undefined, '{"city":'), fragment(1, undefined, undefined, '{"city":')),
      calls(fragment(1, undefined, undefined, '"Rome"}')),
      calls(fragment(0, undefined, undefined, '"Paris"}')),
    ],
    calls: [
      ['weather', paris, 'call_1'],
      ['clock', rome, 'call_2'],
    ],
  },
  {
    title: 'a tool without parameters is called with an empty text and nothing after it',
    source: `${github}/QwenLM/qwen-code/issues/6249`,
    deltas: [calls(fragment(0, 'call_1', 'task_list', ''))],
    calls: [['task_list', {}, 'call_1']],
  },
  {
    title: 'a tool without parameters is called with null for its arguments',
    source: `${github}/pydantic/pydantic-ai/issues/1654`,
    deltas: [calls(fragment(0, 'call_1', 'task_list', null))],
    calls: [['task_list', {}, 'call_1']],
  },
  {
    title: 'text and a call stand in one delta',
    source: `${github}/karthink/gptel/pull/799`,
    deltas: [
      { content: 'Let me look.', ...calls(fragment(0, 'call_1', 'weather', '{"city":')) },
      calls(fragment(0, undefined, undefined, '"Paris"}')),
    ],
    calls: [['weather', paris, 'call_1']],
    text: 'Let me look.',
  },
  {
    title: 'empty fragments stand between those with arguments',
    source: `${github}/BerriAI/litellm/issues/40069`,
    deltas: [
      calls(fragment(0, 'call_1', 'weather', '')),
      calls(fragment(0, undefined, undefined, '')),
      calls(fragment(0, undefined, undefined, '{"city":"Paris"}')),
      calls(fragment(0, undefined, undefined, '')),
    ],
    calls: [['weather', paris, 'call_1']],
  },
  {
    title: 'an empty call beside an answer is no call',
    source: 'recorded from OpenAI-compatible hosts',
    deltas: [{ content: 'Noon.', ...calls({ ...fragment(0, '', '', ''), type: 'function' }) }],
    calls: [],
    text: 'Noon.',
  },
  {
    title: 'an empty call beside a real one is no call',
    source: 'recorded from OpenAI-compatible hosts',
    deltas: [calls(fragment(0, null, null, null)), calls(fragment(1, 'call_1', 'weather', '{"city":"Paris"}'))],
    calls: [['weather', paris, 'call_1']],
  },
]

const wires = { 'openai-chat': openaiChat, 'mistral-chat': mistralChat }

for (const id of Object.keys(wires)) {
  for (const { title, source, deltas, calls: expected, text } of oddities) {
    test(`${id}: ${title}`, () => {
      const reply = read(id, [...deltas.map((delta) => chunk(delta)), chunk({}, 'stop')])
      const found = reply.parts.flatMap((part) => (part.type === 'tool-call' ? [part] : []))
      assert.deepEqual(
        found.map((part) => [part.name, part.input, ...(part.alias === undefined ? [] : [part.alias])]),
        expected,
        source,
      )
      assert.ok(found.every((part) => part.malformed === undefined))
      assert.equal(new Set(found.map((part) => part.callId)).size, expected.length, 'each call has an id of its own')
      assert.equal(reply.stop.reason, expected.length > 0 ? 'tool-calls' : 'done')
      assert.equal(nativeCalls(reply.native[0]).length, expected.length, 'the provider gets as many calls back')
      if (text !== undefined) assert.ok(reply.parts.some((part) => part.type === 'text' && part.text === text))
    })
  }
}

test('openai-chat: an empty function_call next to an answer is not a call, complete and streamed', () => {
  const empty = { content: 'Noon.', function_call: { name: '', arguments: '' } }
  const whole = { id: 'r', model: 'm', choices: [{ index: 0, message: empty, finish_reason: 'stop' }] }
  for (const chunks of [[chunk(empty), chunk({}, 'stop')], openaiChat.split(whole), [whole]]) {
    const reply = read('openai-chat', chunks)
    assert.deepEqual(
      reply.parts.map((part) => part.type),
      ['text'],
    )
    assert.equal(reply.stop.reason, 'done')
  }
})

test('ollama-chat: an empty call is no call, and "null" is no id', () => {
  const line = (message: JsonObject, done: boolean) => ({
    model: 'm',
    message: { role: 'assistant', ...message },
    done,
  })
  const empty = { id: '', function: { name: '', arguments: {} } }
  const real = { id: 'null', function: { name: 'weather', arguments: paris } }
  const reply = read('ollama-chat', [
    line({ content: '', tool_calls: [empty, real] }, false),
    line({ content: '' }, true),
  ])
  const found = reply.parts.flatMap((part) => (part.type === 'tool-call' ? [part] : []))
  assert.deepEqual(
    found.map((part) => [part.name, part.input, part.alias]),
    [['weather', paris, undefined]],
  )
  assert.equal(nativeCalls(reply.native[0]).length, 1)
})

function chunk(delta: JsonObject, finish: string | null = null): JsonObject {
  return { id: 'r1', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] }
}

function read(id: string, chunks: Json[]) {
  const protocol = { ...wires, 'ollama-chat': ollamaChat }[id] ?? openaiChat
  const origin = { protocol: id, provider: 'p', model: 'm' }
  const decoder = protocol.decoder(origin)
  return fold([...chunks.flatMap((one) => decoder.push(one)), ...decoder.end()], origin).reply
}

function nativeCalls(message: Json | undefined): Json[] {
  return isObject(message) && Array.isArray(message.tool_calls) ? message.tool_calls : []
}
