// Several requests at once on one WebSocket of the official client, each on its own lane.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import OpenAI from 'openai'
import { ResponsesWebSocketSession } from 'openai/lib/responses/responses-websocket-session'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { serving, type ServingOptions } from '../server/serving.ts'

const model = 'mistral/mistral-large-latest'

async function openSocket(t: TestContext, options: ServingOptions = {}): Promise<ResponsesWS> {
  const { url } = await serving(t, options)
  const socket = new ResponsesWS(new OpenAI({ apiKey: 'any', baseURL: `${url}/v1` }))
  t.after(() => socket.close())
  await new Promise((resolve) => socket.socket.once('open', resolve))
  return socket
}

test('requests on two lanes are answered at the same time, and each lane continues its own conversation', async (t) => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const between: ServingOptions['between'] = (next) => async (url, init) => {
    if (String(init?.body).includes('slow')) await released
    return next(url, init)
  }
  const socket = await openSocket(t, { between })
  const session = new ResponsesWebSocketSession(socket, {
    maxLanes: 4,
    maxBufferedEvents: 10_000,
    maxBufferedBytes: 10_000_000,
  })
  const [slow, fast, usual] = [session.lane('slow'), session.lane('fast'), session.lane()]
  slow.create({ model, input: 'My name is Ada. Be slow.' })
  fast.create({ model, input: 'My name is Bob.' })
  const first = await fast.finalResponse()
  fast.create({ model, input: 'What is my name?', previous_response_id: first.id })
  assert.match((await fast.finalResponse()).output_text, /Bob/)
  usual.create({ model, input: 'Hello' })
  assert.equal((await usual.finalResponse()).status, 'completed')
  release()
  const held = await slow.finalResponse()
  slow.create({ model, input: 'What is my name?', previous_response_id: held.id })
  assert.match((await slow.finalResponse()).output_text, /Ada/)
})

test('a compaction that is not stored is continued by its id over the same connection', async (t) => {
  const lane = new ResponsesWebSocketSession(await openSocket(t), {
    maxLanes: 1,
    maxBufferedEvents: 1000,
    maxBufferedBytes: 1_000_000,
  }).lane()
  const input: OpenAI.Responses.ResponseInput = [
    { role: 'user', content: 'My name is Ada.' },
    { type: 'compaction_trigger' },
  ]
  lane.create({ model, store: false, input })
  const { id, output } = await lane.finalResponse()
  assert.equal(output[0]?.type, 'compaction')
  lane.create({ model, store: false, input: 'What is my name?', previous_response_id: id })
  assert.match((await lane.finalResponse()).output_text, /Ada/)
})

test('an error belongs to its lane, and steering is refused with the input', async (t) => {
  const socket = await openSocket(t)
  const answerTo = (event: Parameters<ResponsesWS['send']>[0]) =>
    new Promise<{ [field: string]: unknown }>((resolve) => {
      socket.once('event', (answer) => resolve({ ...answer }))
      socket.send(event)
    })
  // Without a listener the client throws.
  socket.on('error', () => {})
  const unknown = await answerTo({ type: 'response.create', stream_id: 'a', model: 'none/none', input: 'Hi' })
  assert.deepEqual([unknown['type'], unknown['status'], unknown['stream_id']], ['error', 404, 'a'])
  const steered = await answerTo({ type: 'response.steer', previous_response_id: 'resp_1', input: 'Shorter.' })
  assert.equal(steered['type'], 'response.steer.failed')
  assert.deepEqual(steered['steer'], { input: 'Shorter.', previous_response_id: 'resp_1' })
  const wrong = await answerTo({ type: 'response.create', stream_id: 'not a name', model, input: 'Hi' })
  assert.match(JSON.stringify(wrong), /stream_id must match/)
})
