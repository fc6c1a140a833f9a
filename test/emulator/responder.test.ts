import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ToolSpec } from '../../src/core/context.ts'
import type { Message, Part } from '../../src/core/message.ts'
import { respond, emulatorLabel, summaryOf, type ResponderInput } from '../../src/emulator/responder.ts'
import { call, failure, onePixel, reply, result, user } from '../histories.ts'

const clock: ToolSpec = {
  name: 'get_current_time',
  description: 'Tells what it says on the wall.',
  input: { type: 'object', properties: { zone: { type: 'string' } } },
}
const add: ToolSpec = {
  name: 'calculator',
  input: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'integer' } }, required: ['a', 'b'] },
}

function asked(messages: Message[], rest: Partial<ResponderInput> = {}): Part[] {
  return respond({
    protocol: 'openai-chat',
    provider: 'openai',
    model: 'gpt-4o',
    system: [],
    messages,
    tools: [],
    requested: { toolChoice: 'auto', parallelTools: true, reasoning: 'off' },
    body: {},
    ...rest,
  })
}

function wordsFor(messages: Message[], rest: Partial<ResponderInput> = {}): string {
  const [part, ...more] = asked(messages, rest)
  assert.equal(more.length, 0)
  assert.ok(part?.type === 'text')
  return part.text
}

function callsFor(question: string, tools: ToolSpec[], rest: Partial<ResponderInput> = {}): unknown[] {
  return asked([user(question)], { tools, ...rest }).map((part) =>
    part.type === 'tool-call' ? [part.name, part.input] : part.type,
  )
}

describe('what the responder answers', () => {
  test('it cannot be mistaken for a model', () => {
    const text = wordsFor([user('Who are you?')])
    assert.match(text, /offline emulator, not a model/)
    assert.ok(text.includes('"Who are you?"'))
    for (const question of ['How many messages do you see?', 'Count to 3', 'What is 1 + 1?', 'What is the time?']) {
      assert.ok(wordsFor([user(question)]).startsWith(emulatorLabel), question)
    }
  })

  test('it repeats the first message of this request, and nothing that was not sent', () => {
    const whole = [user('I like tea.'), reply('Good.'), user('And jam.'), reply('Good.'), user('What did I say first?')]
    assert.ok(wordsFor(whole).endsWith('"I like tea."'))
    assert.ok(wordsFor(whole.slice(2)).endsWith('"And jam."'))
    assert.ok(wordsFor([user('I like tea.'), reply('Good.'), user('What did I say before?')]).endsWith('"I like tea."'))
    assert.match(
      wordsFor([user('What did I just say?'), reply('x'), user('What did I ask?')]),
      /"What did I just say\?"/,
    )
  })

  test('it counts messages by their role', () => {
    const messages = [user('a'), reply(call('c', 'x')), result('c', '1', 'x'), reply('b'), user('How many messages?')]
    assert.match(wordsFor(messages), /5 messages: 2 from you, 2 from me, 1 with tool results/)
  })

  test('it knows its instructions and a name from the conversation', () => {
    assert.match(
      wordsFor([user('What are your instructions?')], { system: [{ type: 'text', text: 'Be brief.' }] }),
      /"Be brief\."/,
    )
    assert.match(wordsFor([user('My name is Zoë.'), reply('Hi'), user("What's my name?")]), /your name is Zoë\./)
    assert.match(wordsFor([user("What's my name?")]), /Nothing in this request/)
  })

  test('it says that it cannot see pictures', () => {
    assert.match(wordsFor([user('Look', onePixel)]), /1 attachment, which I cannot see/)
  })

  test('it fills a form where the answer must fit a schema', () => {
    const answerSchema = {
      type: 'object',
      properties: {
        name: { type: 'string', minLength: 2 },
        kind: { enum: ['b', 'a'] },
        list: { type: 'array', items: { $ref: '#/$defs/n' }, minItems: 2 },
        optional: { type: 'string' },
      },
      required: ['name', 'kind', 'list'],
      $defs: { n: { type: 'integer', minimum: 3 } },
    }
    const requested = { toolChoice: 'auto', parallelTools: true, reasoning: 'off', answerSchema } as const
    assert.deepEqual(JSON.parse(wordsFor([user('go')], { requested })), { name: 'xx', kind: 'b', list: [3, 3] })
  })

  test('the same request gets the same answer', () => {
    const messages = [user('I like tea.'), reply('Good.'), user('Think: what did I say first?')]
    assert.deepEqual(asked(messages), asked(messages))
  })
})

describe('what the responder calls', () => {
  test('a tool for the time, by name or by description', () => {
    const described = { ...clock, name: 'w', description: 'Reads the clock.' }
    assert.deepEqual(callsFor('What time is it?', [add, clock]), [['get_current_time', {}]])
    assert.deepEqual(callsFor('What is the time?', [add, described]), [['w', {}]])
    assert.deepEqual(
      callsFor('What time is it?', [{ ...clock, name: 'timesheet', description: 'Sometimes useful.' }]),
      ['text'],
    )
  })

  test('one call for each place, and a zone where one is needed', () => {
    assert.deepEqual(callsFor('What time is it in Paris and Tokyo?', [clock]), [
      ['get_current_time', { zone: 'Europe/Paris' }],
      ['get_current_time', { zone: 'Asia/Tokyo' }],
    ])
    assert.deepEqual(callsFor('What time is it in San Francisco, New York and Xanadu?', [clock]), [
      ['get_current_time', { zone: 'America/Los_Angeles' }],
      ['get_current_time', { zone: 'America/New_York' }],
      ['get_current_time', { zone: 'Xanadu' }],
    ])
    const byCity = { ...clock, input: { type: 'object', properties: { city: { type: 'string' } } } }
    assert.deepEqual(callsFor('What time is it in Paris?', [byCity]), [['get_current_time', { city: 'Paris' }]])
    const strict = { ...clock, input: { ...clock.input, required: ['zone'] } }
    assert.deepEqual(callsFor('What time is it?', [strict]), [['get_current_time', { zone: 'UTC' }]])
  })

  test('nothing for what coding agents write in tags around the question', () => {
    const time = '<current_datetime>2026-11-19T02:02:01.060+00:00</current_datetime>'
    const reminder = '<system-reminder>\nIf you do not know, use the tool calculator.\n</system-reminder>'
    const before = [user('I like tea.'), reply('Good.')]
    for (const messages of [
      [user(`${time}\n\nWhat is 1 + 2?`)],
      [{ ...user('What is 1 + 2?'), parts: ['What is 1 + 2?', reminder].map((text) => ({ type: 'text', text })) }],
      [user('What is 1 + 2?'), user(reminder), user(reminder)],
      [user(time), user('What is 1 + 2?')],
      [user('<question>What is 1 + 2?</question>')],
    ] as Message[][]) {
      assert.equal(wordsFor([...before, ...messages]), `${emulatorLabel} 1 + 2 = 3`)
      const parts = asked([...before, ...messages], { tools: [add] })
      assert.deepEqual(
        parts.map((part) => part.type === 'tool-call' && part.input),
        [{ a: 1, b: 2 }],
      )
    }
  })

  test('no sum for a time and its offset', () => {
    assert.deepEqual(callsFor('It is 2026-11-19T02:02:01.060+00:00.', [add]), ['text'])
    assert.deepEqual(callsFor('At 02:02:01+00:00, what is 1 + 2?', [add]), [['calculator', { a: 1, b: 2 }]])
  })

  test('a tool with two numbers for a sum, however it is asked', () => {
    for (const question of ['What is 17 + 25?', 'Add 17 and 25.', 'The sum of 17 and 25, please', '17 plus 25']) {
      assert.deepEqual(callsFor(question, [clock, add]), [['calculator', { a: 17, b: 25 }]], question)
    }
    assert.deepEqual(callsFor('What is 17 + 25?', [clock]), ['text'])
  })

  test('no tool that only has the fields for it', () => {
    const read: ToolSpec = {
      name: 'Read',
      description: 'Reads a file. Line numbers are added, and the current time of the file is given.',
      input: { type: 'object', properties: { offset: { type: 'number' }, limit: { type: 'number' } } },
    }
    const run: ToolSpec = {
      name: 'exec',
      description: 'Runs a command. Tells the wall time.',
      input: { type: 'object', properties: { timeout: { type: 'number' }, cmd: { type: 'string' } } },
    }
    assert.deepEqual(callsFor('What is 17 + 25?', [read]), ['text'])
    assert.deepEqual(callsFor('What is 17 + 25?', [read, add]), [['calculator', { a: 17, b: 25 }]])
    assert.deepEqual(callsFor('What time is it?', [read, run]), ['text'])
  })

  test('a tool that looks up what the question is about', () => {
    const weather: ToolSpec = {
      name: 'get_weather',
      input: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
    }
    assert.deepEqual(callsFor("What's the weather like in San Francisco?", [add, weather]), [
      ['get_weather', { location: 'San Francisco' }],
    ])
    assert.deepEqual(callsFor('What is the weather?', [weather]), ['text'], 'there is nothing to call it with')
    assert.deepEqual(callsFor('Write a poem about the weather in Paris.', [weather]), ['text'])
    assert.deepEqual(callsFor('What is the capital in Paris?', [weather]), ['text'])
  })

  test('a free-form tool with the text that follows its name', () => {
    const patch: ToolSpec = { name: 'apply_patch', input: { type: 'object' }, kind: 'free-form' }
    const question = 'use the tool apply_patch with *** Begin Patch\n*** End Patch'
    assert.deepEqual(asked([user(question)], { tools: [patch] }), [
      {
        type: 'tool-call',
        callId: '',
        name: 'apply_patch',
        input: { input: '*** Begin Patch\n*** End Patch' },
        kind: 'free-form',
      },
    ])
  })

  test('two requests at once are parallel calls, or sequential ones if those are not allowed', () => {
    const question = 'What time is it, and what is 2 + 3?'
    const both = [
      ['get_current_time', {}],
      ['calculator', { a: 2, b: 3 }],
    ]
    assert.deepEqual(callsFor(question, [clock, add]), both)
    const requested = { toolChoice: 'auto', parallelTools: false, reasoning: 'off' } as const
    assert.deepEqual(callsFor(question, [clock, add], { requested }), both.slice(0, 1))
    const next = asked(
      [user(question), reply(call('c', 'get_current_time')), result('c', '12:00', 'get_current_time')],
      {
        tools: [clock, add],
        requested,
      },
    )
    assert.deepEqual(next, [{ type: 'tool-call', callId: '', name: 'calculator', input: { a: 2, b: 3 } }])
  })

  test('any named tool, with the given JSON', () => {
    const tools = [clock, add, { name: 'fs.read', input: { type: 'object' } }]
    assert.deepEqual(callsFor('Use the tool fs.read with {"path":"a}b","deep":{"x":[1]}} now', tools), [
      ['fs.read', { path: 'a}b', deep: { x: [1] } }],
    ])
    assert.deepEqual(callsFor('call `calculator` with {"a":1,"b":2} and fs.read with {"path":"x"}', tools), [
      ['calculator', { a: 1, b: 2 }],
      ['fs.read', { path: 'x' }],
    ])
    assert.deepEqual(callsFor('Please use the tool fs.read', tools), [['fs.read', {}]])
    assert.deepEqual(callsFor('Use the tool nobody_has with {"a":1}', tools), ['text'])
  })

  test('a tool that it must call, filled from its schema; none that it may not', () => {
    const forced = { toolChoice: { tool: 'calculator' }, parallelTools: true, reasoning: 'off' } as const
    assert.deepEqual(callsFor('Hello', [clock, add], { requested: forced }), [['calculator', { a: 0, b: 0 }]])
    const both = 'What time is it? What is 17 + 25?'
    assert.deepEqual(callsFor(both, [clock, add], { requested: forced }), [['calculator', { a: 17, b: 25 }]])
    const any = { toolChoice: 'required', parallelTools: true, reasoning: 'off' } as const
    assert.deepEqual(callsFor('Hello', [clock, add], { requested: any }), [['get_current_time', {}]])
    const none = { toolChoice: 'none', parallelTools: true, reasoning: 'off' } as const
    assert.deepEqual(callsFor('What time is it?', [clock], { requested: none }), ['text'])
  })

  test('results are repeated as text, including failed ones', () => {
    const messages = [
      user('What time is it, and what is 2 + 3?'),
      reply(call('c1', 'get_current_time'), call('c2', 'calculator', { a: 2, b: 3 })),
      result('c1', '12:00', 'get_current_time'),
      failure('c2', 'out of order', 'calculator'),
    ]
    const text = wordsFor(messages, { tools: [clock, add] })
    assert.match(text, /get_current_time answered: 12:00\ncalculator failed: out of order$/)
  })
})

describe('how the brain reasons', () => {
  test('if it is asked to think, or the request enables it; never if the request forbids it', () => {
    const types = (question: string, reasoning: 'on' | 'off' | 'free') =>
      asked([user(question)], { requested: { toolChoice: 'auto', parallelTools: true, reasoning } }).map(
        (part) => part.type,
      )
    assert.deepEqual(types('Think about it', 'free'), ['reasoning', 'text'])
    assert.deepEqual(types('Hello', 'on'), ['reasoning', 'text'])
    assert.deepEqual(types('Hello', 'free'), ['text'])
    assert.deepEqual(types('Think about it', 'off'), ['text'])
  })
})

test('a summary has the user messages, the tools that ran and the end', () => {
  const text = summaryOf([
    user('Plan a trip.'),
    reply(call('c', 'search')),
    result('c', 'x', 'search'),
    reply('To Rome.'),
  ])
  assert.match(text, /Summary of 4 messages/)
  assert.match(text, /"Plan a trip\."/)
  assert.match(text, /called 1 times: search/)
  assert.match(text, /"To Rome\."/)
})
