// Two processes of `synapse serve` on one PostgreSQL that get requests of the same conversation at the same time.

import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import OpenAI from 'openai'
import { textOf } from '../../src/core/message.ts'
import { createKey, spentBy } from '../../src/server/keys.ts'
import type { Store } from '../../src/store/store.ts'
import { newPlace, openPlace, reasonToSkip } from '../crash/stores.ts'
import { binWithPostgres } from '../installed.ts'
import { tempFolder } from '../store/temp.ts'
import { thorough } from '../thorough.ts'
import { models, startProvider, startServer } from './server-process.ts'

type Messages = OpenAI.ChatCompletionMessageParam[]

const owner = 'ada'
const rounds = thorough ? 200 : 6

interface TwoServers {
  store: Store
  /** A client of each. */
  clients: [OpenAI, OpenAI]
  asked(): number
  spent(): Promise<number>
}

/** The provider repeats the question, so that every answer shows which one it belongs to. */
async function twoServers(t: TestContext): Promise<TwoServers> {
  const { url: db } = await newPlace(t, 'postgres')
  const store = await openPlace({ url: db })
  t.after(() => store.close())
  const { key, about } = await createKey(store, { owner, perMinute: 1_000_000 })
  let asked = 0
  const provider = await startProvider(t, {
    reply({ messages }) {
      asked++
      const question = messages.findLast(({ role }) => role === 'user')
      return { parts: [{ type: 'text', text: answerTo(textOf(question?.parts ?? [])) }] }
    },
  })
  const command = binWithPostgres(tempFolder(t))
  const start = () => startServer(t, tempFolder(t), provider, { command, db })
  const servers = await Promise.all([start(), start()])
  const [one, two] = servers.map(({ openai }) => openai.withOptions({ apiKey: key }))
  assert.ok(one && two)
  return { store, clients: [one, two], asked: () => asked, spent: () => spentBy(store, about.id) }
}

function answerTo(question: string): string {
  return `The answer to "${question}".`
}

interface Answer {
  conversationId: string
  exchangeId: string
  text: string
}

async function ask(openai: OpenAI, model: string, messages: Messages, isStreamed: boolean): Promise<Answer> {
  const about = ({ headers }: Response) => ({
    conversationId: headers.get('x-synapse-conversation') ?? '',
    exchangeId: headers.get('x-synapse-exchange') ?? '',
  })
  if (!isStreamed) {
    const { data, response } = await openai.chat.completions.create({ model, messages }).withResponse()
    return { ...about(response), text: data.choices[0]?.message.content ?? '' }
  }
  const { data, response } = await openai.chat.completions.create({ model, messages, stream: true }).withResponse()
  let text = ''
  for await (const { choices } of data) text += choices[0]?.delta.content ?? ''
  return { ...about(response), text }
}

/** The texts up to the reply of an exchange. */
async function pathOf(store: Store, exchangeId: string): Promise<string[]> {
  const exchange = await store.exchange(owner, exchangeId)
  const path = await store.history(owner, exchange?.replyEntryId ?? '')
  return path.map(({ message }) => textOf(message.parts))
}

describe('two servers on one PostgreSQL', { skip: reasonToSkip('postgres') }, () => {
  test('both requests of a pair are answered, each with its whole history, and paid for once', async (t) => {
    const { store, clients, asked, spent } = await twoServers(t)
    const [one, two] = clients
    let copies = 0
    for (let i = 0; i < rounds; i++) {
      const model = i % 2 === 0 ? models.passed : models.translated
      const first = `Remember the number ${i}.`
      const messages: Messages = [{ role: 'user', content: first }]
      const begun = await ask(one, model, messages, false)
      messages.push({ role: 'assistant', content: begun.text })
      const questions = [`Is ${i} even?`, `Is ${i} odd?`] as const
      const pair = [
        ask(one, model, [...messages, { role: 'user', content: questions[0] }], i % 3 === 0),
        ask(two, model, [...messages, { role: 'user', content: questions[1] }], i % 3 === 1),
      ]
      for (const [n, { text, exchangeId, conversationId }] of (await Promise.all(pair)).entries()) {
        const question = questions[n] ?? ''
        assert.equal(text, answerTo(question))
        assert.deepEqual(await pathOf(store, exchangeId), [first, begun.text, question, text])
        if (conversationId !== begun.conversationId) copies++
      }
    }
    assert.equal(asked(), 3 * rounds, 'nothing is asked twice')
    const costs = await allCosts(store)
    assert.equal(costs.length, 3 * rounds)
    const sum = costs.reduce((all, cost) => all + cost, 0)
    assert.ok(Math.abs((await spent()) - sum) < 1e-9, 'nothing is charged twice')
    t.diagnostic(`${copies} of ${rounds} pairs were answered in two conversations`)
  })

  test('requests that name a conversation are answered one after the other or refused, and no turn is lost', async (t) => {
    const { clients, asked } = await twoServers(t)
    const [one] = clients
    const { id: conversation } = await one.conversations.create()
    let refused = 0
    /** Repeats the request as long as it is refused. */
    const insist = async (openai: OpenAI, input: string): Promise<void> => {
      try {
        const { output_text } = await openai.responses.create({ model: models.translated, conversation, input })
        assert.equal(output_text, answerTo(input))
      } catch (error) {
        if (!(error instanceof OpenAI.APIError)) throw error
        assert.deepEqual([error.status, error.code], [409, 'conversation_locked'])
        refused++
        await insist(openai, input)
      }
    }
    const questions = [...clients, ...clients].map((openai, n) => ({
      openai,
      inputs: Array.from({ length: rounds / 2 }, (_, i) => `Question ${i} of client ${n}`),
    }))
    await Promise.all(
      questions.map(async ({ openai, inputs }) => {
        for (const input of inputs) await insist(openai, input)
      }),
    )
    const texts: string[] = []
    for await (const item of one.conversations.items.list(conversation, { order: 'asc', limit: 100 })) {
      if (item.type === 'message') texts.push(item.content.map((part) => ('text' in part ? part.text : '')).join(''))
    }
    const asks = texts.filter((_, i) => i % 2 === 0)
    assert.deepEqual(asks.toSorted(), questions.flatMap(({ inputs }) => inputs).toSorted(), 'each turn is there once')
    assert.deepEqual(
      texts,
      asks.flatMap((question) => [question, answerTo(question)]),
    )
    assert.equal(asked(), asks.length, 'what was refused was not asked')
    t.diagnostic(`${refused} requests were refused, ${asks.length} answered`)
  })
})

/** What each request to the provider cost. */
async function allCosts(store: Store): Promise<number[]> {
  const costs: number[] = []
  for (let cursor: string | undefined; ;) {
    const page = await store.conversations(owner, { limit: 500, ...(cursor && { cursor }) })
    for (const { id } of page.items) {
      const { items } = await store.exchanges(owner, id, { limit: 500 })
      costs.push(...items.map(({ cost }) => cost ?? Number.NaN))
    }
    cursor = page.next
    if (!cursor) return costs
  }
}
