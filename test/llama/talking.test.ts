// Whole conversations with a real llama.cpp server: streams, second turns, counts, and what goes wrong.

import assert from 'node:assert/strict'
import test from 'node:test'
import { isObject } from '../../src/core/json.ts'
import { prepare } from '../../src/index.ts'
import { openSynapse } from '../../src/runtime/open.ts'
import type { RunSettings } from '../../src/run/conversation.ts'
import { user } from '../histories.ts'
import { collect, only } from '../run/chatting.ts'
import { noLlama, startLlama, type LlamaServer } from './server.ts'

const model = 'llama.cpp/tiny'

async function chatWith(server: LlamaServer, settings: Partial<RunSettings> = {}) {
  const env = { LLAMA_BASE_URL: `${server.url}/v1` }
  const synapse = await openSynapse({ env, transport: { sleep: async () => {} } })
  return synapse.start({ model, options: { maxOutput: 8 }, ...settings })
}

for (const protocol of ['openai-chat', 'openai-responses']) {
  test(`a streamed reply and a second turn work on ${protocol}`, { skip: noLlama }, async () => {
    await using server = await startLlama()
    const chat = await chatWith(server, { protocol })
    let pieces = 0
    for (const said of ['Hello.', 'And now?', 'And then?']) {
      const run = chat.send(said)
      const events = await collect(run)
      const { outcome, failure } = await run.ended
      assert.ok(outcome === 'length' || outcome === 'done', `${outcome}: ${failure?.message}`)
      pieces += only(events, 'reply-event').filter(({ event }) => event.type === 'part-delta').length
    }
    assert.ok(pieces > 3, 'the text comes in pieces')
    const messages = (await chat.history()).map(({ message }) => message.role)
    assert.deepEqual(messages, ['user', 'assistant', 'user', 'assistant', 'user', 'assistant'])
  })
}

test('the input tokens of a reply are those of the prompt that the server renders', { skip: noLlama }, async () => {
  await using server = await startLlama()
  const chat = await chatWith(server, { protocol: 'openai-chat' })
  const run = chat.send('How many tokens is this?')
  await collect(run)
  const { usage } = await run.ended
  const { body } = prepare({
    protocol: 'openai-chat',
    provider: 'llama.cpp',
    model: 'tiny',
    messages: [user('How many tokens is this?')],
  })
  const rendered = await server.post('/apply-template', body)
  assert.ok(isObject(rendered.body) && typeof rendered.body.prompt === 'string')
  const request = { content: rendered.body.prompt, parse_special: true, add_special: true }
  const counted = await server.post('/tokenize', request)
  assert.ok(isObject(counted.body) && Array.isArray(counted.body.tokens))
  assert.equal(usage.input + usage.cacheRead, counted.body.tokens.length)
})

test(
  'an image that the model cannot see, as the server says, becomes a line of text with a note',
  { skip: noLlama },
  async () => {
    await using server = await startLlama()
    const chat = await chatWith(server)
    const image = {
      type: 'media' as const,
      mediaType: 'image/png',
      data: { kind: 'base64' as const, base64: 'iVBORw0KGgo=' },
    }
    const run = chat.send([{ type: 'text', text: 'What is this?' }, image])
    const events = await collect(run)
    assert.equal((await run.ended).outcome, 'length')
    const notes = only(events, 'request').flatMap((event) => event.notes)
    assert.deepEqual(
      notes.map(({ kind, what }) => `${kind} ${what}`),
      ['dropped image/png'],
    )
  },
)

test(
  'a cancelled run keeps its partial reply, and the server accepts the next message',
  { skip: noLlama },
  async () => {
    await using server = await startLlama()
    const stop = new AbortController()
    const chat = await chatWith(server, { options: { maxOutput: 1500 } })
    const run = chat.send('Speak for a long time.', { signal: stop.signal })
    for await (const event of run) if (event.type === 'reply-event' && event.event.type === 'part-delta') stop.abort()
    assert.equal((await run.ended).outcome, 'cancelled')
    const next = chat.send('Now be brief.', { options: { maxOutput: 4 } })
    await collect(next)
    assert.match((await next.ended).outcome, /^(done|length)$/)
    const roles = (await chat.history()).map(({ message }) => message.role)
    // The next reply may be empty: the model says random letters, or none.
    assert.deepEqual(roles.slice(0, 3), ['user', 'assistant', 'user'])
  },
)

test(
  'a server that is killed during its answer costs nothing: the conversation continues when it is back',
  { skip: noLlama },
  async () => {
    await using server = await startLlama()
    const chat = await chatWith(server, { options: { maxOutput: 1500 } })
    const run = chat.send('Speak for a long time.')
    let killed = false
    for await (const event of run) {
      if (killed || event.type !== 'reply-event' || event.event.type !== 'part-delta') continue
      killed = true
      await server.kill()
    }
    const first = await run.ended
    assert.equal(first.outcome, 'failed')
    const [, half] = (await chat.history()).map(({ message }) => message)
    assert.ok(half?.role === 'assistant' && half.stop.reason === 'interrupted')

    const away = chat.send('Are you there?')
    await collect(away)
    assert.equal((await away.ended).failure?.kind, 'network')

    await server.restart()
    const back = chat.send('And now?', { options: { maxOutput: 4 } })
    await collect(back)
    assert.match((await back.ended).outcome, /^(done|length)$/)
  },
)

test('a history that fills the context is cut, and the run ends well', { skip: noLlama }, async () => {
  await using server = await startLlama({ context: 1024 })
  const chat = await chatWith(server, { policy: { atLimit: 'cut' } })
  const outcomes: string[] = []
  for (let i = 0; i < 6; i++) {
    const run = chat.send(`Message ${i}: ${'many words '.repeat(20)}`)
    await collect(run)
    const { outcome, failure } = await run.ended
    outcomes.push(failure ? `${outcome}: ${failure.kind} ${failure.message}` : outcome)
  }
  assert.ok(
    outcomes.every((outcome) => outcome === 'done' || outcome === 'length'),
    outcomes.join('\n'),
  )
})
