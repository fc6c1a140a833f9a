// An unknown field in a provider's reply: it is sent back to the provider, which may require it or refuse it.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json, JsonObject } from '../../src/core/json.ts'
import type { Reply } from '../../src/core/message.ts'
import { openSynapse } from '../../src/runtime/open.ts'
import { refusedFields } from '../../src/wires/shared/refused-fields.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { createEmulator } from '../../src/testing.ts'
import { collect, only } from './chatting.ts'

interface Wire {
  protocol: string
  model: string
  /** The first reply in the provider's own words, with the field in it. */
  native: Json[]
  /** How the service refuses the field. */
  refusal: { status: number; body: JsonObject }
}

const wires: Wire[] = [
  {
    protocol: 'openai-chat',
    model: 'openai/gpt-4o',
    native: [{ role: 'assistant', content: 'Hello.', tomorrow: 'x' }],
    refusal: {
      status: 400,
      body: {
        error: {
          message: "Unknown parameter: 'messages[1].tomorrow'.",
          type: 'invalid_request_error',
          param: 'messages[1].tomorrow',
          code: 'unknown_parameter',
        },
      },
    },
  },
  {
    protocol: 'openai-responses',
    model: 'openai/gpt-4o',
    native: [
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
        tomorrow: 'x',
      },
    ],
    refusal: {
      status: 400,
      body: {
        error: {
          message: "Unknown parameter: 'input[1].tomorrow'.",
          type: 'invalid_request_error',
          param: 'input[1].tomorrow',
          code: 'unknown_parameter',
        },
      },
    },
  },
  {
    protocol: 'anthropic-messages',
    model: 'anthropic/claude-opus-5',
    native: [{ type: 'text', text: 'Hello.', tomorrow: 'x' }],
    refusal: {
      status: 400,
      body: {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'messages.1.content.0.text.tomorrow: Extra inputs are not permitted',
        },
      },
    },
  },
  {
    protocol: 'gemini-generate',
    model: 'google/gemini-2.5-flash',
    native: [{ text: 'Hello.', tomorrow: 'x' }],
    refusal: {
      status: 400,
      body: {
        error: {
          code: 400,
          message:
            'Invalid JSON payload received. Unknown name "tomorrow" at \'contents[1].parts[0]\': Cannot find field.',
          status: 'INVALID_ARGUMENT',
        },
      },
    },
  },
  {
    protocol: 'mistral-chat',
    model: 'mistral/mistral-medium-latest',
    native: [{ role: 'assistant', content: 'Hello.', tomorrow: 'x' }],
    refusal: {
      status: 422,
      body: {
        detail: [
          {
            type: 'extra_forbidden',
            loc: ['body', 'messages', 1, 'assistant', 'tomorrow'],
            msg: 'Extra inputs are not permitted',
            input: 'x',
          },
        ],
      },
    },
  },
]

/** Answers through an emulator, which never sees the field; `judge` may answer in its place. */
async function start({ protocol, model, native }: Wire, judge: (body: string) => Response | undefined) {
  const [provider = '', name = ''] = model.split('/')
  const reply = (): Partial<Reply> => ({
    parts: [{ type: 'text', text: 'Hello.', from: 0 }],
    native,
    origin: { protocol, provider, model: name },
  })
  const emulator = createEmulator({ reply })
  const bodies: string[] = []
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const body = Buffer.from(init?.body as Uint8Array).toString('utf8')
    bodies.push(body)
    const answer = judge(body)
    if (answer) return answer
    return emulator.fetch(url, { ...init, body: body.replaceAll(/,"tomorrow":"x"|"tomorrow":"x",/g, '') })
  }
  const store = openMemoryStore()
  const env = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k', MISTRAL_API_KEY: 'k' }
  const synapse = await openSynapse({ store, env, transport: { fetch, sleep: async () => {} } })
  const refused = async (id: string) => {
    const overlays = await store.overlays('local', id)
    return overlays.flatMap(({ kind, data }) => (kind === 'refused-field' ? [data['field']] : []))
  }
  return { bodies, refused, chat: () => synapse.start({ model, protocol }) }
}

for (const wire of wires) {
  test(`${wire.protocol}: a service that requires an unknown field of its reply gets it back`, async () => {
    const { bodies, chat } = await start(wire, () => undefined)
    const talk = await chat()
    for (const said of ['One.', 'Two.']) assert.equal((await talk.send(said).ended).outcome, 'done')
    assert.equal(bodies.length, 2)
    assert.ok(bodies[1]?.includes('"tomorrow":"x"'), bodies[1])
  })

  test(`${wire.protocol}: a service that refuses the field is asked again without it, and never again with it`, async () => {
    const { status, body } = wire.refusal
    const refuse = (sent: string) =>
      sent.includes('"tomorrow"')
        ? new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })
        : undefined
    const { bodies, chat } = await start(wire, refuse)
    const talk = await chat()
    assert.equal((await talk.send('One.').ended).outcome, 'done')
    const second = talk.send('Two.')
    const events = await collect(second)
    assert.equal((await second.ended).outcome, 'done', JSON.stringify((await second.ended).failure))
    assert.equal(bodies.length, 3, 'one repeated request')
    const notes = only(events, 'request').at(-1)?.notes ?? []
    assert.ok(notes.some((note) => note.what === 'tomorrow' && note.rule === 'refused' && note.at === 'messages[1]'))

    assert.equal((await talk.send('Three.').ended).outcome, 'done')
    assert.equal(bodies.length, 4, 'the answer is remembered')

    const other = await chat()
    for (const said of ['One.', 'Two.']) assert.equal((await other.send(said).ended).outcome, 'done')
    assert.equal(bodies.length, 6, 'another conversation knows it too')
  })
}

test('what was learned is recorded in each conversation that has the field, once', async () => {
  const wire = wires[0] as Wire
  const refuse = (sent: string) =>
    sent.includes('"tomorrow"') ? Response.json(wire.refusal.body, { status: wire.refusal.status }) : undefined
  const { chat, refused } = await start(wire, refuse)
  const first = await chat()
  for (const said of ['One.', 'Two.']) await first.send(said).ended
  assert.deepEqual(await refused(first.id), ['tomorrow'])
  const second = await chat()
  await second.send('One.').ended
  assert.deepEqual(await refused(second.id), [], 'it has no such field yet')
  await second.send('Two.').ended
  assert.deepEqual(await refused(second.id), ['tomorrow'], 'recorded, so that its requests follow from its own log')
  await second.send('Three.').ended
  assert.deepEqual(await refused(second.id), ['tomorrow'], 'once')
})

test('a second refused field is learned too, by this conversation and by others', async () => {
  const wire = wires[0] as Wire
  const native = [{ role: 'assistant', content: 'Hello.', tomorrow: 'x', today: 'y' }]
  const refuse = (sent: string) => {
    const field = ['tomorrow', 'today'].find((name) => sent.includes(`"${name}"`))
    const message = `Unknown parameter: 'messages[1].${field}'.`
    const error = { message, type: 'invalid_request_error', code: 'unknown_parameter' }
    return field === undefined ? undefined : Response.json({ error }, { status: 400 })
  }
  const { bodies, chat } = await start({ ...wire, native }, refuse)
  const talk = await chat()
  await talk.send('One.').ended
  // One remedy per run.
  assert.equal((await talk.send('Two.').ended).outcome, 'failed')
  assert.equal((await talk.send('Two.').ended).outcome, 'done')
  const before = bodies.length
  const other = await chat()
  for (const said of ['One.', 'Two.']) assert.equal((await other.send(said).ended).outcome, 'done')
  assert.equal(bodies.length, before + 2)
})

test('a repeated refusal does not cause endless requests', async () => {
  const wire = wires[0] as Wire
  const { status, body } = wire.refusal
  let asked = 0
  const { bodies, chat } = await start(wire, () =>
    asked++ === 0 ? undefined : new Response(JSON.stringify(body), { status }),
  )
  const talk = await chat()
  await talk.send('One.').ended
  assert.equal((await talk.send('Two.').ended).outcome, 'failed')
  assert.equal(bodies.length, 3)
})

test('the field that a refusal names is found on each wire; a required field of a reply is never dropped', () => {
  const found: [string, string[]][] = [
    ["OpenAI answered 400: Unknown parameter: 'input[1].content[0].x'.", ['x']],
    ['messages.1.content.0.text.x: Extra inputs are not permitted', ['x']],
    [
      'body.messages.1.assistant.x: Extra inputs are not permitted · body.messages.1.assistant.y: Extra inputs are not permitted',
      ['x', 'y'],
    ],
    ['Unknown name "x" at \'contents[1].parts[0]\': Cannot find field.', ['x']],
    [
      "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'x' is unsupported)]",
      ['x'],
    ],
    ['Failed to deserialize the JSON body: messages[1]: unknown field `x`, expected one of `role`, `content`', ['x']],
    ["Additional properties are not allowed ('x' was unexpected)", ['x']],
    ["Unknown parameter: 'input[1].content'.", []],
    ['The model is overloaded.', []],
  ]
  for (const [message, fields] of found) assert.deepEqual(refusedFields(message), fields)
})
