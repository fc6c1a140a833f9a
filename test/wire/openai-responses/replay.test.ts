// A reply of this wire on its way back: whole with its ids, or in parts without any.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { Message, Reply } from '../../../src/core/message.ts'
import { openaiResponses } from '../../../src/wires/openai-responses/index.ts'
import { result, user } from '../../histories.ts'
import { called, encoded, native, newId, reasoning, textItem, written } from './target.ts'

const { content: _, ...sentReasoning } = reasoning
const { id: __, ...looseReasoning } = sentReasoning

function loose(text: string) {
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }]
  return { type: 'message', role: 'assistant', content, phase: 'final_answer' }
}

function looseCall(callId: string, name = 'clock', args = '{}') {
  return { type: 'function_call', call_id: callId, name, arguments: args }
}

function output(callId: string, text: string) {
  return { type: 'function_call_output', call_id: callId, output: text }
}

test('a reply with encrypted reasoning is sent back complete, with ids and order', () => {
  const items = [reasoning, called('call_a'), called('call_b'), textItem('Both called.')]
  const { input, notes } = written([native(items), result('call_a', '1'), result('call_b', '2')])
  assert.deepEqual(input, [
    sentReasoning,
    called('call_a'),
    called('call_b'),
    textItem('Both called.'),
    output('call_a', '1'),
    output('call_b', '2'),
  ])
  assert.deepEqual(notes, [])
})

test('a reply that needs no ids is sent back without them', () => {
  const { input, notes } = written([native([textItem('One.'), called('call_a')]), result('call_a', '1')])
  assert.deepEqual(input, [loose('One.'), looseCall('call_a'), output('call_a', '1')])
  assert.deepEqual(notes, [])
})

test('reply-only fields, and null keys, are left out', () => {
  const items = [
    { ...reasoning, status: null, content: null },
    { ...called('call_a'), created_by: 'x', parsed_arguments: {}, item_id: 'y', output_index: 1, namespace: null },
  ]
  const { input } = written([native(items), result('call_a', '1')])
  assert.deepEqual(input, [sentReasoning, called('call_a'), output('call_a', '1')])
})

test('a refusal is sent back as one to OpenAI, and as text to servers that do not support it', () => {
  const refused = { ...textItem('x'), content: [{ type: 'refusal', refusal: 'No.' }] }
  const origin = { provider: 'vllm', model: 'm' }
  const answer = native([refused])
  const back = written([{ ...answer, origin: { ...answer.origin, ...origin } }], origin)
  assert.deepEqual(back.input, [{ type: 'message', role: 'assistant', content: 'No.' }])
  assert.deepEqual(back.notes, ['changed refusal to text'])
  assert.deepEqual(written([answer]).input, [{ ...loose(''), content: refused.content }])
})

test('a call with an invalid tool name is sent back under a valid one, and with arguments', () => {
  const items = [called('call_a', 'exec.command'), called('call_b', ''), { ...called('call_c'), arguments: '' }]
  const { input } = written([native(items), result('call_a', '1'), result('call_b', '2'), result('call_c', '3')])
  assert.deepEqual((input as Json[]).slice(0, 3), [
    looseCall('call_a', 'exec_command'),
    looseCall('call_b', '_'),
    looseCall('call_c', 'clock'),
  ])
})

test('another model gets no ciphertext, and then no item has an id', () => {
  const { input, notes } = written([native([reasoning, textItem('Yes.')])], { model: 'gpt-5.6' })
  assert.deepEqual(input, [loose('Yes.')])
  assert.deepEqual(notes, ['dropped reasoning (R7)'])
})

test('the dated name of a model is the same model', () => {
  const { notes } = written([native([reasoning, textItem('Yes.')], { model: 'gpt-5.5-2026-03-01' })])
  assert.deepEqual(notes, [])
})

test('another provider of the same wire gets only the text', () => {
  const { input, notes } = written([native([reasoning, textItem('Yes.')])], { provider: 'azure-openai' })
  assert.deepEqual(input, [{ type: 'message', role: 'assistant', content: 'Yes.' }])
  assert.deepEqual(notes, ['dropped reasoning (R7)'])
})

test('reasoning without ciphertext is left out, and the ids of its followers with it', () => {
  const bare = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] }
  const { input, notes } = written([native([bare, called('call_a')]), result('call_a', '1')])
  assert.deepEqual(input, [looseCall('call_a'), output('call_a', '1')])
  assert.deepEqual(notes, ['dropped reasoning (R6)'])
})

test('reasoning that nothing follows is left out', () => {
  const { input, notes } = written([native([textItem('Well.'), reasoning], {}, 'length')])
  assert.deepEqual(input, [loose('Well.')])
  assert.deepEqual(notes, ['dropped reasoning (R4)'])
})

test('a reply of nothing but reasoning is left out', () => {
  const { input, notes } = written([user('a'), native([reasoning], {}, 'length')])
  assert.deepEqual(input, [{ type: 'message', role: 'user', content: 'a' }])
  assert.deepEqual(notes, ['dropped reasoning (R4)', 'dropped assistant message'])
})

test('providers that show their reasoning get it back as they gave it', () => {
  const plain = {
    type: 'reasoning',
    id: '84cf774d',
    status: 'completed',
    summary: [],
    content: [{ type: 'reasoning_text', text: 'hm' }],
  }
  const origin = { provider: 'deepseek', model: 'deepseek-v4-flash' }
  const turn = [native([plain, called('call_a', 'clock', '{}', 'a-uuid')], origin), result('call_a', '1')]
  const last = native([plain, { ...textItem('Noon.'), id: 'b-uuid' }], origin)
  const { status: _status, ...kept } = plain
  const deepseek = { provider: 'deepseek', model: 'deepseek-v4-pro' }
  const echoed = written([...turn, last], { ...deepseek, quirks: { echoReasoning: 'always' } })
  assert.deepEqual(echoed.input, [kept, looseCall('call_a'), output('call_a', '1'), kept, loose('Noon.')])
  const onTools = written([...turn, last], { ...deepseek, quirks: { echoReasoning: 'tool-turns' } })
  assert.deepEqual(onTools.input, [kept, looseCall('call_a'), output('call_a', '1'), loose('Noon.')])
  assert.deepEqual(written([last], deepseek).input, [loose('Noon.')])
})

test('a message after its calls is moved before them if no id fixes the order', () => {
  const { input, notes } = written([native([called('call_a'), textItem('Calling.')]), result('call_a', '1')])
  assert.deepEqual(input, [loose('Calling.'), looseCall('call_a'), output('call_a', '1')])
  assert.deepEqual(notes, ['changed order of calls and text'])
})

test('a call id that is too long, empty or taken is replaced on both sides', () => {
  const long = 'x'.repeat(69)
  const messages: Message[] = [
    native([reasoning, called(long)]),
    result(long, '1'),
    native([called('call_0')]),
    result('call_0', '2'),
    { ...native([called('call_0')]), parts: [{ ...callPart('again'), alias: 'call_0', from: 0 }] },
    result('again', '3'),
  ]
  const { input, notes } = written(messages)
  assert.deepEqual(input, [
    looseReasoning,
    looseCall('call_p4o37lrKbCAk5LQjpjiSBgjr'),
    output('call_p4o37lrKbCAk5LQjpjiSBgjr', '1'),
    looseCall('call_0'),
    output('call_0', '2'),
    looseCall('call_UfD2z857XSOeXdA8xxddhMAz'),
    output('call_UfD2z857XSOeXdA8xxddhMAz', '3'),
  ])
  assert.deepEqual(notes, [`changed call id "${long}" (R12)`, 'changed call id "call_0" (R12)'])
})

test('broken arguments are repaired in native items too', () => {
  const { input, notes } = written([native([reasoning, called('call_a', 'clock', '{"z')]), result('call_a', '1')])
  assert.deepEqual(input, [
    looseReasoning,
    looseCall('call_a', 'clock', '{"INVALID_JSON":"{\\"z"}'),
    output('call_a', '1'),
  ])
  assert.deepEqual(notes, ['changed arguments that are no JSON object (C19)'])
})

test('a custom call is answered with its own type', () => {
  const custom = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_p', name: 'patch', input: '*** Begin' }
  const reply = native([custom], {}, 'tool-calls')
  assert.deepEqual(reply.parts[0], {
    type: 'tool-call',
    callId: 'call_p',
    alias: 'call_p',
    name: 'patch',
    input: { input: '*** Begin' },
    kind: 'free-form',
    from: 0,
  })
  const { id: _id, ...sent } = custom
  assert.deepEqual(written([reply, result('call_p', 'ok')]).input, [
    sent,
    { type: 'custom_tool_call_output', call_id: 'call_p', output: 'ok' },
  ])
  const elsewhere = written([reply, result('call_p', 'ok')], { provider: 'xai' }).input
  assert.deepEqual(Array.isArray(elsewhere) && elsewhere[0], {
    type: 'function_call',
    call_id: 'call_7Ck8iz741GTuw3hpREOQBw2v',
    name: 'patch',
    arguments: '{"input":"*** Begin"}',
  })
})

const wrapper = called(
  'call_w',
  'parallel',
  JSON.stringify({
    tool_uses: [
      { recipient_name: 'functions.clock', parameters: { zone: 'UTC' } },
      { recipient_name: 'functions.add', parameters: { a: 1 } },
    ],
  }),
)

test('the children of a hidden parallel call are answered together, under its id', () => {
  const reply = native([reasoning, wrapper], {}, 'tool-calls')
  assert.deepEqual(
    reply.parts.flatMap((part) =>
      part.type === 'tool-call' ? [[part.callId, part.alias, part.name, part.input]] : [],
    ),
    [
      ['call_w', 'call_w', 'clock', { zone: 'UTC' }],
      ['call_w+', 'call_w', 'add', { a: 1 }],
    ],
  )
  const { input } = written([reply, result('call_w', '12:00'), result('call_w+', '2'), user('Thanks.')])
  assert.deepEqual(input, [
    sentReasoning,
    wrapper,
    output(
      'call_w',
      '[{"recipient_name":"functions.clock","output":"12:00"},{"recipient_name":"functions.add","output":"2"}]',
    ),
    { type: 'message', role: 'user', content: 'Thanks.' },
  ])
})

test('elsewhere the children of a parallel call are separate calls', () => {
  const reply = native([wrapper], {}, 'tool-calls')
  const { input } = written([reply, result('call_w', '12:00'), result('call_w+', '2')], { provider: 'xai' })
  assert.deepEqual(
    Array.isArray(input) && input.map((item) => (item as { type: string; name?: string }).name ?? 'output'),
    ['clock', 'add', 'output', 'output'],
  )
})

const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } }
const python = {
  type: 'code_interpreter_call',
  id: 'ci_1',
  status: 'completed',
  container_id: 'cntr_1',
  code: 'print(1)',
  outputs: [{ type: 'logs', logs: '1' }],
}

test('a server tool call is sent back with its id, or as text', () => {
  assert.deepEqual(written([native([python, textItem('It is 1.')])]).input, [python, textItem('It is 1.')])
  const bare = { type: 'reasoning', id: 'rs_1', summary: [] }
  const cut = written([native([bare, python, search, textItem('It is 1.')])])
  const { id: _id, ...looseSearch } = search
  assert.deepEqual(cut.input, [
    {
      type: 'message',
      role: 'assistant',
      content:
        '[Tool Call] code_interpreter {"code":"print(1)"}\n[Tool Result] code_interpreter: [{"type":"logs","logs":"1"}]',
    },
    looseSearch,
    loose('It is 1.'),
  ])
  assert.deepEqual(cut.notes, ['changed code_interpreter_call to text', 'dropped reasoning (R6)'])
})

test('a compaction item is sent back to its own model, and to no other', () => {
  const compaction = { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAA' }
  assert.deepEqual(written([native([compaction, textItem('Continue.')])]).input, [compaction, textItem('Continue.')])
  const other = written([native([compaction, textItem('Continue.')])], { model: 'gpt-5.6' })
  assert.deepEqual(other.input, [loose('Continue.')])
  assert.deepEqual(other.notes, ['dropped compaction (R7)'])
})

test('a call that was stored without being read is sent back only with its answer', () => {
  const patch = { type: 'apply_patch_call', id: 'apc_1', status: 'completed', call_id: 'call_p', operation: {} }
  const answer = { type: 'apply_patch_call_output', call_id: 'call_p', status: 'completed' }
  const answered: Message = {
    role: 'user',
    parts: [{ type: 'opaque', kind: 'openai-responses/apply_patch_call_output', data: answer }],
  }
  const asked: Reply = {
    ...native([patch]),
    parts: [{ type: 'opaque', kind: 'openai-responses/apply_patch_call', data: patch, from: 0 }],
  }
  const { id: _id, ...sent } = patch
  assert.deepEqual(written([asked, answered]).input, [sent, answer])
  assert.deepEqual(written([asked]).notes[0], 'dropped apply_patch_call')
  assert.deepEqual(written([answered]).notes[0], 'dropped openai-responses/apply_patch_call_output')
})

test('a call made by a program is answered with its caller, as long as the program is there', () => {
  const program = { type: 'program', id: 'cm_1', call_id: 'call_prog', code: '…', fingerprint: 'gAAA' }
  const caller = { type: 'program', caller_id: 'call_prog' }
  const first = native([program, { ...called('call_a'), caller }], {}, 'tool-calls')
  const second = native([{ ...called('call_b'), caller }], {}, 'tool-calls')
  const all = written([first, result('call_a', '1'), second, result('call_b', '2')])
  assert.deepEqual(all.input, [
    program,
    { ...called('call_a'), caller },
    { ...output('call_a', '1'), caller },
    { ...looseCall('call_b'), caller },
    { ...output('call_b', '2'), caller },
  ])
  const cut = written([second, result('call_b', '2')])
  assert.deepEqual(cut.input, [looseCall('call_b'), output('call_b', '2')])
  assert.deepEqual(cut.notes, ['changed caller of a call'])
})

test('the same reply twice has its ids only once', () => {
  const twice = [native([reasoning, textItem('Yes.')]), user('Again.'), native([reasoning, textItem('Yes.')])]
  assert.deepEqual(written(twice).input, [
    sentReasoning,
    textItem('Yes.'),
    { type: 'message', role: 'user', content: 'Again.' },
    looseReasoning,
    loose('Yes.'),
  ])
})

test('ids in other formats, as other servers issue them, are left out', () => {
  const items = [{ ...reasoning, id: 'item_1' }, textItem('Yes.')]
  assert.deepEqual(written([native(items)]).input, [looseReasoning, loose('Yes.')])
})

test('a reply that was cut off is built from its parts where one of them never became an item', () => {
  const cut: Reply = {
    ...native([reasoning, textItem('Half a')], {}, 'interrupted'),
    parts: [{ type: 'reasoning', text: '', from: 0 }, { type: 'text', text: 'Half a', from: 1 }, callPart('c9')],
  }
  const { input } = written([cut, result('c9', 'gone')])
  assert.deepEqual(input, [
    { type: 'message', role: 'assistant', content: 'Half a' },
    { type: 'function_call', call_id: 'call_pkd6UF7sHqPlHcvrxVdJr2hb', name: 'clock', arguments: '{}' },
    output('call_pkd6UF7sHqPlHcvrxVdJr2hb', 'gone'),
  ])
  const whole = native([reasoning, textItem('Half a')], {}, 'interrupted')
  assert.deepEqual(written([whole]).input, [sentReasoning, textItem('Half a')])
})

test('what is sent back is never refused', () => {
  const replies = [
    native([reasoning, called('call_a'), textItem('x')]),
    native([{ type: 'reasoning', id: 'rs_9', summary: [] }, called('call_a')]),
    native([python, search, called('call_a')]),
    native([{ ...reasoning, status: 'completed', content: [{ type: 'reasoning_text', text: 'x' }] }, called('call_a')]),
  ]
  for (const store of [false, true]) {
    for (const model of ['gpt-5.5', 'gpt-5.6']) {
      for (const reply of replies) {
        const { body } = encoded([user('a'), reply, result('call_a', '1')], { model, options: { store } })
        assert.deepEqual(openaiResponses.refuse(body), [])
      }
    }
  }
})

function callPart(callId: string): Extract<Reply['parts'][number], { type: 'tool-call' }> {
  return { type: 'tool-call', callId, name: 'clock', input: {} }
}

test('stable ids: what the official types want with an id has one, and a longer history keeps it', () => {
  const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } }
  const answer = native([search, textItem('Yes.')])
  const history: Message[] = [user('a'), answer, user('b'), answer, user('c')]
  const whole = encoded(history, { model: 'gpt-5.6' }).body.input as JsonObject[]
  const ids = whole.flatMap(({ id }) => (id === undefined ? [] : [String(id)]))
  assert.equal(ids.length, 4)
  assert.equal(new Set(ids).size, 4)
  for (const id of ids) assert.match(id, newId)
  const shorter = encoded(history.slice(0, 3), { model: 'gpt-5.6' }).body.input as JsonObject[]
  assert.deepEqual(shorter, whole.slice(0, shorter.length))
})

test('every item says its type', () => {
  const { type: _type, ...typeless } = textItem('Yes.')
  const foreign = {
    ...native([]),
    parts: native([textItem('No.')]).parts,
    origin: { protocol: 'x', provider: 'y', model: 'z' },
  }
  for (const provider of ['openai', 'llamacpp', 'xai']) {
    const history: Message[] = [user('a'), native([typeless], { provider }), user('b', 'c'), foreign, user('d')]
    for (const quirks of [{}, { alternate: true }]) {
      const { body } = encoded(history, { provider, quirks }, { system: [{ type: 'text', text: 's' }] })
      for (const item of body.input as JsonObject[]) assert.equal(item.type, 'message', JSON.stringify(item))
    }
  }
})
