// Hooks, progress, hand-offs and sub-agents: what an application puts around the loop.

import assert from 'node:assert/strict'
import test, { describe } from 'node:test'
import type { HookEvent } from '../../src/core/event.ts'
import type { ToolResultPart } from '../../src/core/message.ts'
import type { Tool } from '../../src/core/tool.ts'
import { withHandoffs } from '../../src/run/handoff.ts'
import { afterReply, afterTool, beforeRequest, beforeTool } from '../../src/run/hooks.ts'
import type { LoopContext } from '../../src/run/run-context.ts'
import type { Hooks } from '../../src/settings/run.ts'
import { call, onePixel, reply, result } from '../histories.ts'
import { defineTool, openSynapse, type RunEvent } from '../../src/index.ts'
import { createEmulator } from '../../src/testing.ts'

const lookUp = defineTool<{ name: string }>({
  name: 'look_up',
  input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  run: ({ name }, { emit }) => {
    emit({ found: name })
    return `${name}: secret-123`
  },
})

/** Calls the tool once, then says what it got. */
function emulatorThat(call: string, input: Record<string, string>) {
  return createEmulator({
    reply: ({ messages }) => {
      const last = messages.at(-1)
      if (last?.role !== 'tool') return { parts: [{ type: 'tool-call', callId: '', name: call, input }] }
      const [part] = last.parts[0]?.output ?? []
      return { parts: [{ type: 'text', text: `It said ${part?.type === 'text' ? part.text : ''}` }] }
    },
  })
}

async function eventsOf(run: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const events: RunEvent[] = []
  for await (const event of run) events.push(event)
  return events
}

test('a hook changes the arguments and the result of a tool; both are events', async () => {
  const synapse = await openSynapse({ offline: emulatorThat('look_up', { name: 'ada' }) })
  const chat = await synapse.start({
    model: 'openai',
    tools: [lookUp],
    hooks: {
      beforeTool: ({ call }) => ({ input: { name: 'grace' }, note: `${call.name} asks for Grace` }),
      afterTool: ({ result }) => {
        const [part] = result.output
        return part?.type === 'text' ? { output: part.text.replace(/secret-\d+/, '[removed]') } : undefined
      },
    },
  })
  const run = chat.send('Who?')
  const events = await eventsOf(run)
  assert.equal(await run.text(), 'It said grace: [removed]')
  const hooks = events.filter((event) => event.type === 'hook').map(({ hook, action }) => [hook, action])
  assert.deepEqual(hooks, [
    ['beforeTool', 'changed'],
    ['afterTool', 'changed'],
  ])
  assert.deepEqual(events.find((event) => event.type === 'tool-progress')?.value, { found: 'grace' })
  assert.doesNotMatch(JSON.stringify(await chat.history()), /secret-123/)
})

test('a hook denies a call, a request or what follows a reply, with its reason', async () => {
  const synapse = await openSynapse({ offline: emulatorThat('look_up', { name: 'ada' }) })
  const settings = { model: 'anthropic', tools: [lookUp] }
  const call = await synapse.start({ ...settings, hooks: { beforeTool: () => ({ deny: 'not on Sundays' }) } })
  assert.match(await call.send('Who?').text(), /look_up was not run: not on Sundays/)
  const request = await synapse.start({ ...settings, hooks: { beforeRequest: () => ({ deny: 'The day is over.' }) } })
  await assert.rejects(request.send('Who?').text(), /The day is over\./)
  assert.equal((await request.history()).length, 1)
  const reply = await synapse.start({ ...settings, hooks: { afterReply: () => ({ deny: 'enough' }) } })
  const { outcome, guard } = await reply.send('Who?').ended
  assert.deepEqual([outcome, guard], ['stopped', { guard: 'hook', why: 'enough' }])
  assert.equal((await reply.history()).length, 2)
})

test('a change by a hook is a note of that request', async () => {
  const emulator = createEmulator()
  const synapse = await openSynapse({ offline: emulator })
  const chat = await synapse.start({
    model: 'mistral',
    hooks: { beforeRequest: ({ step }) => ({ system: `Step ${step}.`, options: { maxOutput: 77 } }) },
  })
  const events = await eventsOf(chat.send('Hi'))
  const request = events.find((event) => event.type === 'request')
  assert.deepEqual(
    request?.notes.filter(({ rule }) => rule === 'hook').map(({ what }) => what),
    ['system', 'options'],
  )
  const { body } = emulator.requests.at(-1) ?? {}
  assert.match(JSON.stringify(body), /"Step 1\."/)
  assert.match(JSON.stringify(body), /"max_tokens":77/)
})

test('the model hands the conversation to another agent, whose settings count from then on', async () => {
  const emulator = emulatorThat('hand_off_to_bob', {})
  const synapse = await openSynapse({ offline: emulator })
  const bob = { name: 'bob', description: 'Knows boats.', settings: { model: 'mistral', system: 'You are Bob.' } }
  const chat = await synapse.start({ model: 'openai', system: 'You are Alice.', handoffs: [bob] })
  assert.equal(await chat.send('Which boat?').text(), 'It said bob continues.')
  const asked = emulator.requests.map(({ provider, body }) => [
    provider,
    /You are (\w+)/.exec(JSON.stringify(body))?.[1],
  ])
  assert.deepEqual(asked, [
    ['openai', 'Alice'],
    ['mistral', 'Bob'],
  ])
  const again = await synapse.open(chat.id)
  assert.match(JSON.stringify((await again.inspect()).body), /You are Bob/)
})

test('what was given to the run stays with it after a hand-off: its signal, its context and its hooks', async () => {
  const stop = new AbortController()
  const seen: unknown[] = []
  const look = defineTool({
    name: 'look',
    input: { type: 'object' },
    run: (_, { context, signal }) => {
      seen.push(context)
      stop.abort()
      seen.push(signal.aborted)
      return 'seen'
    },
  })
  const emulator = createEmulator({
    reply: ({ messages }) => {
      const name = messages.some(({ role }) => role === 'tool') ? 'look' : 'hand_off_to_bob'
      return { parts: [{ type: 'tool-call', callId: '', name, input: {} }] }
    },
  })
  const synapse = await openSynapse({ offline: emulator })
  const bob = { name: 'bob', settings: { model: 'mistral', tools: [look] } }
  const chat = await synapse.start({ model: 'openai', handoffs: [bob] })
  const hooks = { beforeTool: ({ call }: { call: { name: string } }) => void seen.push(call.name) }
  const { outcome } = await chat.send('Which boat?', { signal: stop.signal, context: 7, hooks }).ended
  assert.equal(outcome, 'cancelled')
  assert.deepEqual(seen, ['hand_off_to_bob', 'look', 7, true])
})

test('the cost of a sub-agent counts in its parent', async () => {
  const synapse = await openSynapse({ offline: emulatorThat('helper', { task: 'Count the boats.' }) })
  const helper = synapse.agentTool({ name: 'helper', settings: { model: 'anthropic', tools: [lookUp] } })
  const chat = await synapse.start({ model: 'openai', tools: [helper] })
  await chat.send('How many boats?').ended
  const { models, requests } = await chat.usage()
  assert.deepEqual(models.map(({ provider }) => provider).toSorted(), ['anthropic', 'openai'])
  assert.ok(requests > 2)
})

test('an object is read while it is written', async () => {
  const emulator = createEmulator({
    piece: 4,
    reply: () => ({ parts: [{ type: 'text', text: '{"city":"Brest","boats":[1,2,3]}' }] }),
  })
  const synapse = await openSynapse({ offline: emulator })
  const chat = await synapse.start({ model: 'google' })
  const answer = {
    type: 'object',
    properties: { city: { type: 'string' }, boats: { type: 'array', items: { type: 'number' } } },
  }
  const run = chat.send('Where?', { answer })
  const parts: string[] = []
  for await (const part of run.partialObjectStream) parts.push(JSON.stringify(part))
  assert.ok(parts.length > 3, parts.join(' '))
  assert.equal(parts.at(-1), '{"city":"Brest","boats":[1,2,3]}')
  assert.ok(parts.some((part) => part.startsWith('{"city":"B') && !part.includes('Brest')))
  assert.deepEqual(await run.object(), { city: 'Brest', boats: [1, 2, 3] })
})

test('quotes, escapes and brackets inside a text never end it early while it is written', async () => {
  const said = { quote: 'a "b", \\ {c] ü\n', list: [{ n: -1.5 }, 'x'] }
  const text = JSON.stringify(said).replace('ü', '\\u00fc')
  const emulator = createEmulator({ piece: 1, reply: () => ({ parts: [{ type: 'text', text }] }) })
  const chat = await (await openSynapse({ offline: emulator })).start({ model: 'google' })
  const quotes: string[] = []
  for await (const part of chat.send('Where?', { answer: { type: 'object' } }).partialObjectStream) {
    const { quote } = part as { quote?: string }
    if (quote !== undefined) quotes.push(quote)
  }
  for (const quote of quotes) assert.ok(said.quote.startsWith(quote), quote)
  for (let length = 1; length <= said.quote.length; length++) assert.ok(quotes.includes(said.quote.slice(0, length)))
})

test('an object of thousands of levels is not handed out while it is written', { timeout: 20_000 }, async () => {
  const text = '{"a":'.repeat(20_000)
  const emulator = createEmulator({ piece: 10_000, reply: () => ({ parts: [{ type: 'text', text }] }) })
  const chat = await (await openSynapse({ offline: emulator })).start({ model: 'google' })
  const parts: unknown[] = []
  for await (const part of chat.send('Where?', { answer: { type: 'object' } }).partialObjectStream) parts.push(part)
  assert.deepEqual(parts, [])
})

test('the composing model has its own guidance and length', async () => {
  const emulator = emulatorThat('look_up', { name: 'ada' })
  const synapse = await openSynapse({ offline: emulator })
  const answer = { model: 'mistral', guidance: 'Answer in one line.', options: { maxOutput: 55, temperature: 0 } }
  const chat = await synapse.start({ model: 'openai', tools: [lookUp], route: { answer } })
  await chat.send('Who?').ended
  const bodies = emulator.requests.map(({ provider, body }) => [provider, JSON.stringify(body)] as const)
  const composed = bodies.find(([provider]) => provider === 'mistral')?.[1] ?? ''
  assert.match(composed, /Answer in one line\./)
  assert.match(composed, /"max_tokens":55/)
  assert.ok(!bodies.some(([provider, body]) => provider === 'openai' && body.includes('Answer in one line')))
})

// What each hook changes, denies and notes, without a provider.

describe('hooks', () => {
  const told: HookEvent[] = []
  let settled = 0
  const context = (hooks: Hooks) =>
    ({
      conversationId: 'c',
      owner: 'o',
      context: 1,
      options: { temperature: 1, store: true },
      hooks,
      emit: (event: HookEvent) => told.push(event),
      pending: { settled: async () => void settled++ },
    }) as unknown as LoopContext
  const events = () =>
    told
      .splice(0)
      .map(({ hook, action, why, callId }) => [hook, action, why, ...(callId === undefined ? [] : [callId])])
  const about = { step: 1, kind: 'ask', model: 'm', messages: [] } as never
  const usual = 'a hook of the application'
  const asked = call('a', 'look', { x: 1 })
  const found = result('a', 'out').parts[0] as ToolResultPart

  test('before a request change the system and options of it, note it, or deny it', async () => {
    const ask = (given: object | undefined) => beforeRequest(context({ beforeRequest: () => given }), about)
    assert.deepEqual(await ask(undefined), {})
    assert.deepEqual(await ask({}), { hookNotes: [] })
    assert.deepEqual(events(), [])
    assert.deepEqual(await ask({ system: '' }), {
      hookNotes: [{ kind: 'changed', what: 'system', why: usual, rule: 'hook' }],
      system: [{ type: 'text', text: '' }],
    })
    assert.deepEqual(events(), [['beforeRequest', 'changed', usual]])
    const both = await ask({ system: 's', options: { temperature: 0 }, note: 'n' })
    assert.deepEqual(both.options, { temperature: 0, store: true })
    assert.deepEqual(
      both.hookNotes?.map(({ what, why }) => [what, why]),
      [
        ['system', 'n'],
        ['options', 'n'],
      ],
    )
    assert.deepEqual(events(), [['beforeRequest', 'changed', 'n']])
    assert.deepEqual((await ask({ note: 'n' })).hookNotes, [
      { kind: 'changed', what: 'nothing', why: 'n', rule: 'hook' },
    ])
    assert.deepEqual(events(), [['beforeRequest', 'noted', 'n']])
    await assert.rejects(async () => ask({ deny: 'no' }), /^SynapseError: no$/)
    assert.deepEqual(events(), [['beforeRequest', 'denied', 'no']])
  })

  test('after a reply end the run or note it, once earlier writes are stored', async () => {
    const after = (given: object | undefined) => afterReply(context({ afterReply: () => given }), reply('a'))
    settled = 0
    assert.deepEqual(
      [await after(undefined), await after({ note: 'n' }), await after({ deny: 'no' })],
      [undefined, undefined, 'no'],
    )
    assert.deepEqual(events(), [
      ['afterReply', 'noted', 'n'],
      ['afterReply', 'denied', 'no'],
    ])
    assert.equal(settled, 3)
    await afterReply(context({}), reply('a'))
    assert.equal(settled, 3, 'nothing is waited for without a hook')
  })

  test('before a tool change its arguments, note it or deny it', async () => {
    const before = (given: object | undefined) => beforeTool(context({ beforeTool: () => given }), asked)
    assert.deepEqual(await before(undefined), { call: asked })
    assert.deepEqual(await before({ input: { y: 2 } }), { call: { ...asked, input: { y: 2 } } })
    assert.deepEqual(events(), [['beforeTool', 'changed', usual, 'a']])
    assert.deepEqual(await before({ note: 'n' }), { call: asked })
    assert.deepEqual(events(), [['beforeTool', 'noted', 'n', 'a']])
    assert.deepEqual(await before({ deny: 'no' }), { deny: 'look was not run: no' })
    assert.deepEqual(events(), [['beforeTool', 'denied', 'no', 'a']])
  })

  test('after a tool replace its output, note it or deny it', async () => {
    const valued = { ...found, value: 'all' }
    const after = (given: object | undefined) => afterTool(context({ afterTool: () => given }), asked, valued)
    assert.equal(await after(undefined), valued)
    assert.equal(await after({ note: 'n' }), valued)
    assert.deepEqual(events(), [['afterTool', 'noted', 'n', 'a']])
    assert.deepEqual(await after({ output: 'new' }), { ...found, output: [{ type: 'text', text: 'new' }] })
    assert.deepEqual(events(), [['afterTool', 'changed', usual, 'a']])
    assert.deepEqual((await after({ output: [onePixel], note: 'n' })).output, [onePixel])
    assert.deepEqual(events(), [['afterTool', 'changed', 'n', 'a']])
    assert.deepEqual(await after({ deny: 'no' }), { ...found, output: [{ type: 'text', text: 'no' }], failed: true })
    assert.deepEqual(events(), [['afterTool', 'denied', 'no', 'a']])
  })

  test('a hand-off is a tool of its own name, the same one at each step', async () => {
    const taken: object[] = []
    const take = async (settings: object) => void taken.push(settings)
    const [a, b] = [
      { name: 'a', description: 'Knows A.', settings: { model: 'x' } },
      { name: 'b', settings: () => ({ model: 'y' }) },
    ]
    const own: Tool = { name: 'own', input: {}, run: () => 1 }
    const plain = { model: 'm' }
    assert.equal(withHandoffs(plain, take), plain)
    const settings = { model: 'm', tools: [own], handoffs: [a, b] } as never
    const made = withHandoffs(settings, take).tools ?? []
    assert.deepEqual(
      made.map(({ name }) => name),
      ['own', 'hand_off_to_a', 'hand_off_to_b'],
    )
    assert.equal(made[1]?.repeatable, true)
    assert.match(made[1]?.description ?? '', /then on\. Knows A\.$/)
    assert.match(made[2]?.description ?? '', /then on\.$/)
    const again = withHandoffs(settings, take).tools ?? []
    for (const i of [1, 2]) assert.equal(again[i], made[i])
    assert.equal(await made[1]?.run({}, {} as never), 'a continues.')
    await made[2]?.run({}, {} as never)
    assert.deepEqual(taken, [{ model: 'x' }, { model: 'y' }])
  })
})
