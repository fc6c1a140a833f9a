// `synapse serve` killed by SIGKILL while a client waits for an answer and between two requests, and started again on the
// same store.

import assert from 'node:assert/strict'
import test from 'node:test'
import type OpenAI from 'openai'
import { tempFolder } from '../store/temp.ts'
import { startProvider, startServer } from './server-process.ts'

const first = 'My name is Ada.'
const question = 'What is my name?'

/** The types of the events of a stream, until it ends or is interrupted. */
async function read(
  stream: AsyncIterable<OpenAI.Responses.ResponseStreamEvent>,
  onText: () => void = () => {},
): Promise<string[]> {
  const seen: string[] = []
  try {
    for await (const { type } of stream) {
      seen.push(type)
      if (type === 'response.output_text.delta') onText()
    }
  } catch {
    seen.push('broken')
  }
  return seen
}

/** Kills the server in the middle of streams, and then between requests. */
export function continuesAfterKill(model: string): void {
  test(`responses and conversations of a server that was killed continue, and half an answer is none, ${model}`, async (t) => {
    const [folder, provider] = [tempFolder(t), await startProvider(t)]
    const before = await startServer(t, folder, provider)
    const stored = await before.openai.responses.create({ model, input: first })
    const { id: conversation } = await before.openai.conversations.create()
    await before.openai.responses.create({ model, conversation, input: first })
    const bodies = [
      { model, previous_response_id: stored.id, input: question, stream: true as const },
      { model, conversation, input: question, stream: true as const },
    ]
    provider.hold()
    const cut = bodies.map(async (body) => {
      const begun = Promise.withResolvers<void>()
      const types = read(await before.openai.responses.create(body), begun.resolve)
      await begun.promise
      return { types }
    })
    const streams = await Promise.all(cut)
    await before.kill()
    for (const { types } of streams) assert.equal((await types).at(-1), 'broken')
    provider.resume()
    const second = await startServer(t, folder, provider)
    for (const body of bodies) {
      const types = await read(await second.openai.responses.create(body))
      assert.equal(types.at(-1), 'response.completed')
    }
    assert.equal(provider.asked(), 6, 'what broke off is asked again')
    await second.kill()
    const { openai } = await startServer(t, folder, provider)
    const next = await openai.responses.create({ model, previous_response_id: stored.id, input: question })
    assert.match(next.output_text, /Ada/)
    assert.match((await openai.responses.create({ model, conversation, input: question })).output_text, /Ada/)
    assert.equal((await openai.responses.retrieve(stored.id)).output_text, stored.output_text)
    const { data } = await openai.conversations.items.list(conversation, { order: 'asc', limit: 100 })
    assert.deepEqual(
      data.flatMap((item) => (item.type === 'message' ? [item.role] : [])),
      ['user', 'assistant', 'user', 'assistant', 'user', 'assistant'],
      'the question that was asked again is there once, without the half of an answer',
    )
  })
}

/** Kills the server between the moment when an answer is stored and the moment when its client has all of it. */
export function givesStoredAnswer(model: string): void {
  test(`an answer that was stored when the server was killed is returned for the retry, and paid for once, ${model}`, async (t) => {
    const [folder, provider] = [tempFolder(t), await startProvider(t)]
    const before = await startServer(t, folder, provider, { failpoint: 'finishExchange:after' })
    const body = { model, input: question, stream: true } as const
    const types = await read(await before.openai.responses.create(body))
    await before.ended
    assert.ok(!types.includes('response.completed'))
    assert.equal(provider.asked(), 1)
    const { openai } = await startServer(t, folder, provider)
    assert.equal((await read(await openai.responses.create(body))).at(-1), 'response.completed')
    assert.equal(provider.asked(), 1, 'the retry gets the answer that was paid for')
    assert.equal((await read(await openai.responses.create(body))).at(-1), 'response.completed')
    assert.equal(provider.asked(), 2, 'the same request after that is a new one')
  })
}
