// Tools that are more than functions: free-form tools, namespaces and tool search at the client. Codex has all three.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { ToolSpec } from '../../src/core/context.ts'
import type { Json } from '../../src/core/json.ts'
import { isObject } from '../../src/core/json.ts'
import type { Message, Part, Reply, ToolCallPart } from '../../src/core/message.ts'
import { fold } from '../../src/core/fold.ts'
import { freeFormInput, markedPart } from '../../src/core/tool-kinds.ts'
import { prepare, readTranscript, refuse, writeTranscript } from '../../src/index.ts'
import type { Tool } from '../../src/core/tool.ts'
import { allWires } from '../../src/wires/all.ts'
import { clientBodies, noBodies } from '../client-bodies.ts'
import { everyTarget } from '../targets.ts'
import { start } from './chatting.ts'

const patch = '*** Begin Patch\n*** Add File: a.txt\n+hello\n*** End Patch\n'

const applyPatch: ToolSpec = {
  name: 'apply_patch',
  description: 'Edits files.',
  input: freeFormInput,
  kind: 'free-form',
  grammar: { syntax: 'lark', definition: 'start: "*** Begin Patch" LF' },
}
const spawn: ToolSpec = {
  name: 'agents__spawn',
  input: { type: 'object', properties: { task: { type: 'string' } }, required: ['task'] },
  namespace: { name: 'agents', description: 'Sub-agents.' },
}
const search: ToolSpec = {
  name: 'tool_search',
  description: 'Searches tools.',
  input: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
  kind: 'search',
}
const specs = [applyPatch, spawn, search]
const found = [{ type: 'function', name: 'late', parameters: { type: 'object', properties: {} } }]

const openai = { provider: 'openai', protocol: 'openai-responses', model: 'gpt-5.6' }

test('OpenAI gets the tools in the forms that it has for them', () => {
  const { body } = prepare({ ...openai, messages: [user('Go.')], tools: specs })
  assert.deepEqual(body.tools, [
    {
      type: 'custom',
      name: 'apply_patch',
      description: 'Edits files.',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: "*** Begin Patch" LF' },
    },
    {
      type: 'namespace',
      name: 'agents',
      description: 'Sub-agents.',
      tools: [{ type: 'function', name: 'spawn', parameters: spawn.input, strict: false }],
    },
    { type: 'tool_search', execution: 'client', description: 'Searches tools.', parameters: search.input },
  ])
  assert.deepEqual(readTranscript(body).tools, specs)
})

test('a namespace or a name in it that OpenAI refuses is sent as a flat name', () => {
  for (const namespace of ['über agents', 'agents']) {
    const name = `${namespace}__start it`
    const tool: ToolSpec = { name, input: spawn.input, namespace: { name: namespace } }
    const reply: Reply = {
      role: 'assistant',
      parts: [{ type: 'tool-call', callId: 'call_1', name, namespace, input: { task: 'read' } }],
      native: [],
      origin: { provider: 'anthropic', protocol: 'anthropic-messages', model: 'claude-opus-5' },
      stop: { reason: 'tool-calls' },
    }
    const done: Message = { role: 'tool', parts: [{ type: 'tool-result', callId: 'call_1', name, output: [] }] }
    const messages: Message[] = [user('Go.'), reply, done]
    const { body } = prepare({ ...openai, messages, tools: [tool] })
    assert.deepEqual(refuse('openai-responses', body, openai), [])
    const [offered] = Array.isArray(body.tools) ? body.tools.filter(isObject) : []
    const call = Array.isArray(body.input)
      ? body.input.filter(isObject).find((one) => one.type === 'function_call')
      : {}
    assert.equal(offered?.type, 'function')
    assert.equal(call?.name, offered?.name)
    assert.equal(call?.namespace, undefined)
  }
})

test('a wire without them gets functions, with the grammar in the description', () => {
  const { body } = prepare({ provider: 'deepseek', messages: [user('Go.')], tools: specs })
  const tools = Array.isArray(body.tools) ? body.tools.filter(isObject) : []
  const functions = tools.map((tool) => (isObject(tool.function) ? tool.function : {}))
  assert.deepEqual(
    functions.map(({ name }) => name),
    ['apply_patch', 'agents__spawn', 'tool_search'],
  )
  assert.match(String(functions[0]?.description), /^Edits files\.\n\nThe input must match this lark grammar:\nstart:/)
  assert.deepEqual(functions[0]?.parameters, freeFormInput)
})

for (const target of everyTarget) {
  test(`calls made at ${target.provider}/${target.model} on ${target.protocol} are sent back to OpenAI in its own form`, () => {
    const history: Message[] = [user('Go.'), replyFrom(target), ...results()]
    const { body } = prepare({ ...openai, messages: [...history, user('And?')], tools: specs })
    assert.deepEqual(refuse('openai-responses', body, openai), [])
    const items = Array.isArray(body.input) ? body.input.filter(isObject) : []
    const calls = items.filter((item) => String(item.type).endsWith('_call'))
    assert.deepEqual(
      calls.map(({ type, name, namespace, input, arguments: args }) => ({
        type,
        name,
        namespace,
        given: input ?? args,
      })),
      [
        { type: 'custom_tool_call', name: 'apply_patch', namespace: undefined, given: patch },
        { type: 'function_call', name: 'spawn', namespace: 'agents', given: '{"task":"look"}' },
        { type: 'tool_search_call', name: undefined, namespace: undefined, given: { query: 'late' } },
      ],
    )
    const outputs = items.filter((item) => String(item.type).endsWith('_output'))
    assert.deepEqual(
      outputs.map(({ type, call_id: id, output, tools }) => [type, id, output ?? tools]),
      [
        ['custom_tool_call_output', calls[0]?.call_id, [{ type: 'input_text', text: 'Done.' }]],
        ['function_call_output', calls[1]?.call_id, [{ type: 'input_text', text: 'Started.' }]],
        ['tool_search_output', calls[2]?.call_id, found],
      ],
    )
    // Nothing says which tools there were but the calls themselves.
    const written = JSON.stringify(writeTranscript(history, 'openai-responses'))
    for (const type of ['custom_tool_call', 'tool_search_call', '"namespace":"agents"'])
      assert.ok(written.includes(type))
  })
}

for (const { name, body, protocol } of clientBodies.filter((one) => one.name.startsWith('codex'))) {
  test(`the tools of ${name} come back whole after a switch to every provider`, { skip: noBodies }, () => {
    const { messages, tools = [] } = readTranscript(body, { format: protocol })
    for (const target of everyTarget) {
      const reply = replyFrom(target, callsOf(tools))
      const back = prepare({ ...openai, messages: [...messages, reply], tools })
      assert.deepEqual(refuse('openai-responses', back.body, openai), [])
      const own = Array.isArray(body.tools) ? body.tools.filter(isObject) : []
      assert.deepEqual(kindsOf(back.body.tools), kindsOf(own.filter(({ type }) => type !== 'web_search')))
    }
  })
}

test('the run loop passes a free-form tool its text, even on a wire without free-form tools', async () => {
  for (const provider of ['openai', 'anthropic', 'google', 'mistral']) {
    const given: Json[] = []
    const tool: Tool = { ...applyPatch, run: (input) => (given.push(input), 'Done.') }
    const { chat } = await start({ model: provider, tools: [tool] })
    const { reply } = await chat.send(`use the tool apply_patch with ${JSON.stringify({ input: patch })}`).ended
    assert.deepEqual(given, [patch], provider)
    assert.match(JSON.stringify(reply?.parts), /apply_patch answered: Done\./)
  }
})

function user(text: string): Message {
  return { role: 'user', parts: [{ type: 'text', text }] }
}

const parts: ToolCallPart[] = [
  { type: 'tool-call', callId: 'a', name: 'apply_patch', input: { input: patch } },
  { type: 'tool-call', callId: 'b', name: 'agents__spawn', input: { task: 'look' } },
  { type: 'tool-call', callId: 'c', name: 'tool_search', input: { query: 'late' } },
]

/** The reply that this provider would have sent with these calls, read off its wire and marked as a run marks it. */
function replyFrom(target: { provider: string; protocol: string; model: string }, calls: Part[] = parts): Reply {
  const protocol = allWires().find(({ id }) => id === target.protocol)
  assert.ok(protocol)
  const foreign = { protocol: 'other', provider: 'other', model: 'other' }
  const isOwn = target.protocol.startsWith('openai-') && /openai/.test(target.provider)
  const said: Reply = {
    role: 'assistant',
    parts: isOwn ? calls.map((part) => markedPart(part, specs)) : calls,
    native: [],
    origin: foreign,
    stop: { reason: 'tool-calls' },
  }
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
  const whole = protocol.whole(said, { model: target.model, replyId: 'reply-1', createdAt: 0, usage })
  const decoder = protocol.decoder(target, { callId: (position) => `call-${position}` })
  const events = protocol.split(whole).flatMap((chunk) => decoder.push(chunk))
  const { reply } = fold([...events, ...decoder.end()], target)
  return { ...reply, parts: reply.parts.map((part) => markedPart(part, specs)) }
}

function results(): Message[] {
  const texts = ['Done.', 'Started.', JSON.stringify(found)]
  return [
    {
      role: 'tool',
      parts: parts.map(({ name }, i) => ({
        type: 'tool-result',
        callId: `call-${i}`,
        name,
        output: [{ type: 'text', text: texts[i] ?? '' }],
      })),
    },
  ]
}

/** One call of every tool that is more than a function. */
function callsOf(tools: readonly ToolSpec[]): ToolCallPart[] {
  return tools
    .filter((tool) => tool.kind !== undefined || tool.namespace)
    .map(({ name, kind }, i) => {
      const input = kind === 'free-form' ? { input: patch } : kind === 'search' ? { query: 'a' } : {}
      return { type: 'tool-call', callId: `x${i}`, name, input }
    })
}

function kindsOf(tools: Json | undefined): Json[] {
  const list = Array.isArray(tools) ? tools.filter(isObject) : []
  return list.map((tool) => [tool.type ?? '', tool.name ?? '', tool.format ?? null, kindsOf(tool.tools)])
}
