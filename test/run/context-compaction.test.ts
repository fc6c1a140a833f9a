// Compaction: the three ways to a summary, and what is sent after it.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Exchange } from '../../src/core/log.ts'
import { textOf } from '../../src/core/message.ts'
import { estimateMessage, estimateTokens } from '../../src/context/count.ts'
import type { PolicySettings } from '../../src/settings/policy.ts'
import type { EmulatorOptions, ResponderInput } from '../../src/testing.ts'
import { start } from './chatting.ts'
import { clockTool, talk, type Talk } from './talking.ts'

/** What a request for a summary gives to read; nothing where it asks for something else. */
function toSummarise({ system, messages }: ResponderInput): string | undefined {
  const told = [...system, ...messages.flatMap((message) => (message.role === 'system' ? message.parts : []))]
  if (!/memory of a conversation/.test(textOf(told))) return undefined
  return textOf(messages.at(-1)?.parts ?? [])
}

/** A brain that writes summaries when it is asked for one. */
const summarising: EmulatorOptions = {
  reply: (situation) => {
    const text = toSummarise(situation)
    return text === undefined ? undefined : { parts: [{ type: 'text', text: `SUMMARY of ${text.length} characters` }] }
  },
}

const policy: PolicySettings = { preset: 'economy', compaction: { keep: 4 } }

async function longTalk(model: string, emulation: EmulatorOptions = summarising): Promise<Talk> {
  const chat = await talk({ model, policy, tools: [clockTool] }, emulation)
  await chat.say('My name is Ada.')
  for (let i = 0; i < 5; i++) await chat.say('What time is it?')
  return chat
}

for (const model of [
  'deepseek/deepseek-v4-flash',
  'google/gemini-3.8-flash',
  'mistral/mistral-medium-latest',
  'ollama/llama3.3',
]) {
  test(`a summary by ${model} replaces what it covers, and the log does not change`, async () => {
    const chat = await longTalk(model)
    const before = await chat.store.history('local', chat.history.at(-1)?.id ?? '')
    const made = await chat.compact()
    assert.equal(made?.by, 'model')
    assert.deepEqual(await chat.store.history('local', chat.history.at(-1)?.id ?? ''), before)
    assert.equal((await chat.say('Hello.')).outcome, 'done')
    const body = JSON.stringify(chat.bodies().at(-1))
    assert.match(body, /SUMMARY of \d+ characters/)
    assert.doesNotMatch(body, /Ada/)
    const [exchange] = await chat.exchanges()
    assert.ok(
      exchange?.notes.some((note) => note.rule === 'compaction' && /^messages\[0\.\.\d+\]$/.test(note.at ?? '')),
    )
  })
}

for (const model of ['openai/gpt-5.6', 'anthropic/claude-opus-5', 'anthropic/claude-opus-5-5']) {
  test(`${model} makes its own, which is sent back only to it`, async () => {
    const chat = await longTalk(model)
    const made = await chat.compact()
    assert.equal(made?.by, 'provider')
    const items = JSON.stringify(made.decision.native?.items)
    assert.equal((await chat.say('Hello.')).outcome, 'done')
    const own = JSON.stringify(chat.bodies().at(-1))
    assert.match(own, /"type":"compaction"/)
    assert.equal((await chat.say('Hello.')).outcome, 'done')

    for (const other of ['deepseek/deepseek-v4-flash', 'xai/grok-4.7', 'google/gemini-3.8-flash']) {
      assert.equal((await chat.say('Hello.', { model: other })).outcome, 'done')
      const body = JSON.stringify(chat.bodies().at(-1))
      assert.doesNotMatch(body, /encrypted_content":"[^"]|"signature":"/)
      assert.match(body, /Ada/, 'by its words where it has some, else by the messages themselves')
    }
    assert.equal((await chat.say('Hello.')).outcome, 'done')
    assert.ok(items.length > 0)
  })
}

test('native, then the model, then none: each is tried once, and there is always a summary', async () => {
  const chat = await longTalk('openai/gpt-5.6')
  chat.emulator.order({
    status: 400,
    body: { error: { message: 'no compaction today', type: 'invalid_request_error' } },
  })
  const second = await chat.compact()
  assert.equal(second?.by, 'model')
  assert.match(second.decision.text ?? '', /SUMMARY/)

  const other = await longTalk('openai/gpt-5.6')
  const before = other.bodies().length
  other.emulator.order({ status: 400, body: { error: { message: 'not today', type: 'invalid_request_error' } } }, 2)
  const third = await other.compact()
  assert.equal(third?.by, 'fold')
  assert.match(third.decision.text ?? '', /My name is Ada/)
  assert.equal(other.bodies().length, before + 2)
  assert.equal((third.overlay.data['failures'] as string[]).length, 2)
  assert.equal((await other.say('Hello.')).outcome, 'done')
})

test('what a summary was made of is no longer sent, and everything else is', async () => {
  const asked: string[] = []
  const chat = await talk(
    { model: 'deepseek/deepseek-v4-flash', policy },
    {
      reply: (situation) => {
        const text = toSummarise(situation)
        const fruit = /one (\w+)\?/.exec(textOf(situation.messages.at(-1)?.parts ?? []))?.[1]
        if (text === undefined) return { parts: [{ type: 'text', text: `Here is the ${fruit}.` }] }
        asked.push(text)
        return {
          parts: [
            { type: 'reasoning', text: 'I must be brief.' },
            { type: 'text', text: `SUMMARY ${asked.length}` },
          ],
        }
      },
    },
  )
  const fruits = ['apple', 'banana', 'cherry', 'damson', 'elderberry', 'fig', 'grape', 'hazelnut', 'imbe', 'jujube']
  for (const [i, fruit] of fruits.entries()) {
    if (i === 5 || i === 9) {
      const made = await chat.compact({}, { head: 1000 })
      assert.match(made?.decision.text ?? '', /^SUMMARY \d/)
      assert.doesNotMatch(made?.decision.text ?? '', /brief/)
      assert.equal(made?.spent.length, 1)
      if (i === 5) {
        const covered = chat.history.slice(0, Number(made?.overlay.data['messages'])).map(({ message }) => message)
        assert.equal(made?.overlay.data['size'], 1000 + covered.reduce((sum, each) => sum + estimateMessage(each), 0))
        assert.equal(made?.decision.through, covered.length - 1)
      }
    }
    await chat.say(`And one ${fruit}?`)
  }
  const sent = JSON.stringify(chat.bodies().at(-1))
  const placesOf = (said: string) => [...asked, sent].flatMap((text, i) => (text.includes(said) ? [i] : []))
  assert.deepEqual(
    fruits.map((fruit) => placesOf(`one ${fruit}`)),
    [0, 0, 0, 0, 1, 1, 1, 1, 2, 2].map((place) => [place]),
  )
  assert.deepEqual(
    fruits.slice(0, -1).map((fruit) => placesOf(`the ${fruit}`)),
    [0, 0, 0, 1, 1, 1, 1, 2, 2].map((place) => [place]),
  )
})

for (const { budget, words, output } of [
  { budget: undefined, words: 1400, output: 4096 },
  { budget: 3000, words: 2100, output: 6000 },
  { budget: 10, words: 70, output: 4096 },
]) {
  test(`a summary of ${budget ?? 'any number of'} tokens is asked for in ${words} words`, async () => {
    const compaction = { keep: 2, prompt: 'Write a ballad.', ...(budget !== undefined && { budget }) }
    const chat = await talk({ model: 'deepseek/deepseek-v4-flash', policy: { preset: 'economy', compaction } })
    for (let i = 0; i < 3; i++) await chat.say('Hello.')
    await chat.compact()
    const body = chat.bodies().at(-1)
    assert.match(JSON.stringify(body), new RegExp(`Write a ballad\\.\\\\nWrite at most ${words} words\\.`))
    assert.deepEqual([body?.['max_tokens'], body?.['stream']], [output, true], 'streamed: it may take long')
  })
}

test('the request for a summary leaves room for the summary', async () => {
  const compaction = { keep: 2, budget: 2000 }
  const chat = await talk({ model: 'deepseek/deepseek-v4-flash', policy: { preset: 'full', compaction } })
  const text = 'many words '.repeat(20)
  for (let i = 0; i < 100; i++) {
    const message = { role: 'user' as const, parts: [{ type: 'text' as const, text }] }
    chat.history.push(await chat.store.append('local', chat.conversationId, { message }))
  }
  for (const [limit, isWhole] of [
    [8000, true],
    [6000, false],
  ] as const) {
    await chat.compact({}, { limit })
    const { messages } = chat.bodies().at(-1) as { messages: { content: string }[] }
    const size = messages.reduce((sum, { content }) => sum + estimateTokens(content), 0)
    assert.ok(size + compaction.budget <= limit, `${size} of ${limit}`)
    assert.equal(messages.at(-1)?.content.includes(text.trim()), isWhole, `${size} of ${limit}`)
    await chat.store.setOverlayUndone('local', (await chat.overlays('compaction')).at(-1)?.id ?? '', true)
  }
})

test("a provider's own summary is not asked for if that is switched off, or if its request would be too long", async () => {
  const chat = await longTalk('openai/gpt-5.6')
  const own = { preset: 'economy', compaction: { keep: 4, native: false } } as const
  assert.equal((await chat.compact({ policy: own }))?.by, 'model')
  const long = await longTalk('openai/gpt-5.6')
  assert.equal((await long.compact({}, { head: 90_000 }))?.by, 'provider')
  assert.equal((await (await longTalk('openai/gpt-5.6')).compact({}, { head: 99_999 }))?.by, 'model')
})

test("a provider's own summary is in the log with its outcome and cost, and one without content is none", async () => {
  const chat = await longTalk('openai/gpt-5.6')
  const made = await chat.compact()
  const [{ outcome, cost = 0, usage, basedOn } = assert.fail()] = await chat.exchanges()
  assert.deepEqual([outcome, cost > 0], ['done', true])
  assert.equal(basedOn, chat.history[made?.decision.through ?? -1]?.id)
  assert.deepEqual(
    made?.spent.map((one) => [one.usage, one.cost]),
    [[usage, cost]],
  )
  assert.equal(usage?.offline, undefined)

  const empty = { output: [], usage: { input_tokens: 7, output_tokens: 1 } }
  for (const [status, body, ends] of [
    [400, { error: { message: 'not today' } }, ['failed', 'invalid-request']],
    [200, empty, ['done', undefined]],
  ] as const) {
    const other = await longTalk('openai/gpt-5.6')
    other.emulator.order({ status, body })
    const instead = await other.compact()
    assert.equal(instead?.by, 'model')
    const [, native] = await other.exchanges()
    assert.deepEqual([native?.outcome, native?.failure?.kind], ends)
    assert.equal(instead.spent.length, status === 200 ? 2 : 1)
  }

  const stop = new AbortController()
  const stopped = await longTalk('openai/gpt-5.6')
  stopped.emulator.order({ delayMs: 60_000 })
  const compacting = stopped.compact({ signal: stop.signal })
  while ((await stopped.exchanges())[0]?.outcome !== 'open') await new Promise(setImmediate)
  stop.abort()
  assert.equal((await compacting)?.by, 'fold')
  const [, cancelled] = await stopped.exchanges()
  assert.deepEqual([cancelled?.outcome, cancelled?.failure?.kind], ['cancelled', 'aborted'])
})

test("a reply that is no summary is not taken for the provider's own", async () => {
  const chat = await longTalk('anthropic/claude-opus-5')
  const content = [{ type: 'text', text: 'I would rather talk.' }]
  const usage = { input_tokens: 7, output_tokens: 1 }
  const about = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-opus-5', stop_reason: 'end_turn' }
  chat.emulator.order({ status: 200, body: { ...about, content, usage } })
  const made = await chat.compact()
  assert.deepEqual([made?.by, made?.decision.native], ['model', undefined])
  assert.match(made?.decision.text ?? '', /^SUMMARY/)
  assert.deepEqual(
    made?.spent.map((one) => one.usage?.input === 7),
    [true, false],
  )
})

test('each request for a summary is in the log with its outcome, its failure and its cost', async () => {
  const ends = async (chat: Talk) => {
    const [{ outcome, failure, cost, usage, notes } = assert.fail()] = await chat.exchanges()
    const about = notes.find(({ rule }) => rule === 'compaction-request')
    assert.equal(about?.why, 'asked for')
    return [outcome, failure?.kind, cost === undefined ? 'unpriced' : cost > 0, usage !== undefined]
  }
  const paid = await longTalk('deepseek/deepseek-v4-flash')
  const made = await paid.compact()
  assert.deepEqual(await ends(paid), ['done', undefined, true, true])
  assert.equal(made?.overlay.data['failures'], undefined)
  assert.equal(made?.overlay.data['why'], 'asked for')
  const free = await longTalk('vllm/a-model')
  await free.compact()
  assert.deepEqual(await ends(free), ['done', undefined, 'unpriced', true])

  const failing = await longTalk('deepseek/deepseek-v4-flash')
  failing.emulator.order({ status: 400, body: { error: { message: 'not today' } } })
  assert.deepEqual((await failing.compact())?.overlay.data['failures'], ['DeepSeek answered 400: not today.'])
  assert.deepEqual(await ends(failing), ['failed', 'invalid-request', 'unpriced', false])

  const stop = new AbortController()
  const stopping = await longTalk('deepseek/deepseek-v4-flash', {
    reply: (situation) => {
      if (toSummarise(situation) !== undefined) stop.abort()
      return undefined
    },
  })
  const { length } = await stopping.exchanges()
  assert.equal((await stopping.compact({ signal: stop.signal }))?.by, 'fold')
  assert.deepEqual(await ends(stopping), ['cancelled', undefined, 'unpriced', false])
  assert.equal(await stopping.compact({ signal: stop.signal }), undefined, 'no summary for a cancelled run')
  assert.equal((await stopping.exchanges()).length, length + 1)
})

test('a summary is made as soon as more user messages than set have come since the last one', async () => {
  const chat = await talk(
    { model: 'deepseek/deepseek-v4-flash', policy: { preset: 'full', compaction: { every: 3, keep: 1 } } },
    summarising,
  )
  const counts: number[] = []
  for (let i = 0; i < 10; i++) {
    await chat.say('Tell me more.')
    counts.push((await chat.overlays('compaction')).length)
  }
  assert.deepEqual(counts, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3])
})

test('an empty summary is none', async () => {
  const chat = await longTalk('deepseek/deepseek-v4-flash', {
    reply: (situation) =>
      toSummarise(situation) === undefined ? undefined : { parts: [{ type: 'text', text: '  ' }] },
  })
  assert.equal((await chat.compact())?.by, 'fold')
})

test('a second summary brings the first one up to date', async () => {
  const asked: string[] = []
  const chat = await longTalk('deepseek/deepseek-v4-flash', {
    reply: (situation) => {
      const text = toSummarise(situation)
      if (text === undefined) return undefined
      asked.push(text)
      return { parts: [{ type: 'text', text: `SUMMARY ${asked.length}` }] }
    },
  })
  await chat.compact()
  for (let i = 0; i < 4; i++) await chat.say('What time is it?')
  await chat.compact()
  assert.match(asked[0] ?? '', /My name is Ada/)
  assert.match(asked[1] ?? '', /Summary of what came before:\nSUMMARY 1/)
  assert.doesNotMatch(asked[1] ?? '', /My name is Ada/)
  await chat.say('Hello.')
  const body = JSON.stringify(chat.bodies().at(-1))
  assert.match(body, /SUMMARY 2/)
  assert.doesNotMatch(body, /SUMMARY 1/)
})

test('undone, a summary represents nothing, and another branch never saw it', async () => {
  const chat = await longTalk('deepseek/deepseek-v4-flash')
  const { length } = chat.history
  const made = await chat.compact()
  await chat.fork(length - 2)
  await chat.say('Another way.')
  assert.match(JSON.stringify(chat.bodies().at(-1)), /Ada/)
  await chat.store.setOverlayUndone('local', made?.overlay.id ?? '', true)
  const back = await chat.store.history('local', made?.overlay.entryId ?? '')
  chat.history.splice(0, chat.history.length, ...back)
  await chat.store.setHead('local', back[0]?.conversationId ?? '', { entryId: back.at(-1)?.id ?? null })
  await chat.say('Once more.')
  assert.match(JSON.stringify(chat.bodies().at(-1)), /Ada/)
})

test('a history that is too long even when folded is summarised by itself, once', async () => {
  const chat = await talk(
    { model: 'deepseek/deepseek-v4-flash', contextWindow: 6000, policy: 'economy' },
    { ...summarising, contextWindow: 6000 },
  )
  for (let i = 0; i < 30; i++) assert.equal((await chat.say(`${i}: ${'word '.repeat(200)}`)).outcome, 'done')
  const made = await chat.overlays('compaction')
  assert.ok(made.length >= 1 && made.length <= 6, `${made.length} summaries in 30 requests`)
  assert.ok((await chat.exchanges()).every((exchange) => !exchange.failure))
  assert.ok(chat.events.every((event) => event.type !== 'reply-event' || !JSON.stringify(event).includes('SUMMARY')))
})

test('the usage and the cost of a summary are part of those of the run', async () => {
  const { chat, synapse } = await start(
    {
      model: 'deepseek/deepseek-v4-flash',
      tools: [],
      policy: { preset: 'full', compaction: { every: 3, keep: 2, native: false } },
    },
    { emulation: summarising },
  )
  const runs: Pick<Exchange, 'usage' | 'cost'>[] = []
  for (let i = 0; i < 8; i++) runs.push(await chat.send('Tell me more.').ended)
  const total = (exchanges: readonly Pick<Exchange, 'usage' | 'cost'>[]) => {
    const inputs = exchanges.reduce((sum, { usage }) => sum + (usage?.input ?? 0), 0)
    return [inputs, exchanges.reduce((sum, { cost = 0 }) => sum + cost, 0).toFixed(9)]
  }
  assert.deepEqual(total(runs), total((await synapse.store.exchanges('local', chat.id)).items))
  const made = (await synapse.store.overlays('local', chat.id)).filter(({ kind }) => kind === 'compaction')
  assert.ok(made.length >= 2, 'every three user messages')
})

test('the request for a summary fits, however long the history is', async () => {
  const chat = await talk(
    { model: 'deepseek/deepseek-v4-flash', policy: { ...policy, preset: 'full' }, contextWindow: 8000 },
    summarising,
  )
  for (let i = 0; i < 6; i++) {
    const text = `${i} ${'word '.repeat(3000)}`
    chat.history.push(
      await chat.store.append('local', chat.conversationId, {
        message: { role: 'user', parts: [{ type: 'text', text }] },
      }),
    )
  }
  assert.equal((await chat.say('Hello.')).outcome, 'done')
  const request = (await chat.exchanges()).find((exchange) =>
    exchange.notes.some((note) => note.rule === 'compaction-request'),
  )
  assert.ok(request && (request.usage?.input ?? Infinity) < 8000)
})

for (const { model, at } of [
  { model: 'openai/gpt-5.6', at: 1500 },
  { model: 'anthropic/claude-opus-5-5', at: 50_000 },
]) {
  test(`${model} summarises by itself in the middle of an answer, and gets nothing from before`, async () => {
    const policy = { preset: 'economy', compaction: { at } } as const
    const chat = await talk({ model, policy, tools: [clockTool] })
    await chat.say(`My name is Ada. ${'Many words. '.repeat((at * 4) / 12)}`)
    assert.equal((await chat.overlays('compaction')).length, at === 1500 ? 0 : 1)
    await chat.say('What time is it?')
    const made = (await chat.overlays('compaction')).at(-1)
    assert.equal(made?.data['why'], 'the provider summarised by itself')
    assert.equal((await chat.say('What did I say first?')).outcome, 'done')
    const body = JSON.stringify(chat.bodies().at(-1))
    assert.ok(body.length < 20_000 && body.includes('"type":"compaction"'), body.slice(0, 500))
    for (const exchange of await chat.exchanges()) assert.equal(exchange.failure, undefined)
    // Only the one that made it can read it.
    await chat.say('Hello.', { model: 'google/gemini-3.8-flash' })
    assert.match(JSON.stringify(chat.bodies().at(-1)), /My name is Ada/)
  })
}

test('a provider without native compaction is not asked for it', async () => {
  const chat = await talk({ model: 'xai/grok-4.7', policy: { preset: 'economy', compaction: { at: 2000 } } })
  await chat.say('Hello.')
  assert.equal(chat.bodies().at(-1)?.['context_management'], undefined)
})
