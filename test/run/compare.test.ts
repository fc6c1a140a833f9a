// The same question to several models at once.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { RunEvent } from '../../src/core/event.ts'
import { textOf } from '../../src/core/message.ts'
import * as z from 'zod'
import { defineTool } from '../../src/run/tools/define-tool.ts'
import { calling, clock, start } from './chatting.ts'

const models = ['anthropic/claude-opus-5', 'openai/gpt-5.6', 'google/gemini-3.8-flash']

test('each model answers on its own branch, and the conversation continues from the chosen one', async () => {
  const { chat } = await start({
    model: 'anthropic/claude-opus-5',
    tools: [{ ...clock, repeatable: true }],
  })
  await chat.send('My name is Ada.').ended
  const before = (await chat.history()).length
  const { candidates, ended, entryId } = await chat.compare(models, 'What time is it, and what is my name?')
  const events = await Promise.all(
    candidates.map(async ({ run }) => {
      const seen: RunEvent[] = []
      for await (const event of run) seen.push(event)
      return seen
    }),
  )
  const ends = await ended
  assert.deepEqual(
    ends.map(({ outcome }) => outcome),
    ['done', 'done', 'done'],
  )
  for (const [i, seen] of events.entries()) {
    const asked = seen.filter((event) => event.type === 'request').map((event) => `${event.provider}/${event.model}`)
    assert.deepEqual(new Set(asked), new Set([models[i]]), 'no event of another model')
    assert.ok(seen.some((event) => event.type === 'tool-end'))
    assert.equal(ends[i]?.usage.input, sumOf(seen), 'it counts its own requests alone')
  }
  const path = await chat.history()
  assert.equal(path[before]?.id, entryId)
  assert.equal(path.at(-1)?.id, candidates[0]?.leaf())
  const siblings = (await chat.tree()).filter((entry) => entry.parentId === entryId)
  assert.equal(siblings.length, 3)

  await chat.fork(candidates[2]?.leaf() ?? '')
  const { reply } = await chat.send('What is my name?').ended
  assert.match(textOf(reply?.parts ?? []), /Ada/)
  const roles = (await chat.history()).map(({ message }) =>
    message.role === 'assistant' ? message.origin.provider : message.role,
  )
  assert.deepEqual(roles.slice(before, before + 4), ['user', 'google', 'tool', 'google'])
})

function sumOf(events: readonly RunEvent[]): number {
  let sum = 0
  for (const event of events) if (event.type === 'message' && event.usage) sum += event.usage.input
  return sum
}

test('a tool that must not run twice waits, and an unavailable model does not stop the others', async () => {
  let runs = 0
  const tool = { ...clock, repeatable: false, run: () => `${++runs} o'clock` }
  const { chat } = await start({ model: 'anthropic/claude-opus-5', tools: [tool] })
  await chat.send('Hello.').ended
  const { candidates, ended } = await chat.compare(['openai/gpt-5.6', 'nowhere/at-all'], 'What time is it?')
  const [asked, unknown] = await ended
  assert.deepEqual([asked?.outcome, unknown?.outcome], ['waiting', 'failed'])
  assert.equal(runs, 0)
  assert.equal((await chat.history()).at(-1)?.id, candidates[0]?.leaf())
  const [approval] = await chat.approvals()
  await chat.approve(approval?.call.callId ?? '', { argsHash: approval?.argsHash ?? '' })
  assert.equal((await chat.resume().ended).outcome, 'done')
  assert.equal(runs, 1)
})

test('a comparison first closes what a killed process has left open', async () => {
  const { chat, synapse } = await start({ model: 'anthropic/claude-opus-5', tools: [] })
  await chat.send('Hello.').ended
  const [question] = await chat.history()
  const origin = { provider: 'openai', protocol: 'openai-chat', model: 'gpt-5.6' }
  const opened = await synapse.store.openExchange('local', chat.id, {
    ...origin,
    basedOn: question?.id ?? '',
    body: '{}',
  })
  await (
    await chat.compare(['openai/gpt-5.6'], 'Are you there?')
  ).ended
  assert.equal((await synapse.store.exchange('local', opened.id))?.outcome, 'interrupted')
})

test('without a new message the last one is answered again, as an alternative to the existing answer', async () => {
  const { chat } = await start({ model: 'anthropic/claude-opus-5', tools: [] })
  await chat.send('Hello.').ended
  const [question] = await chat.history()
  const { ended, entryId } = await chat.compare(['openai/gpt-5.6'])
  await ended
  assert.equal(entryId, question?.id)
  assert.equal((await chat.tree()).filter((entry) => entry.parentId === entryId).length, 2)
  await assert.rejects(chat.compare([], 'Hello?'), /1 to 4 models/)
})

test('a comparison takes one to four models and one question, and what it refuses leaves the conversation free', async () => {
  const { chat } = await start({ model: 'anthropic/claude-opus-5', tools: [] })
  await assert.rejects(chat.compare([], 'Hello.'), /takes 1 to 4 models, not 0/)
  const five = Array<string>(5).fill('openai/gpt-5.6')
  await assert.rejects(chat.compare(five, 'Hello.'), /takes 1 to 4 models, not 5/)
  await assert.rejects(chat.compare(models, 7 as never), /A message is a text or a list of parts/)
  await assert.rejects(chat.compare(models), /There is no message to answer again/)
  assert.deepEqual(await chat.history(), [])
  const { candidates, ended } = await chat.compare([...five.slice(0, 3), 'mistral'], 'Hello.')
  assert.throws(() => candidates[0]?.run.steer('More.'), /A comparison takes one question/)
  assert.equal((await ended).length, 4)
  assert.equal((await chat.info()).title, 'Hello.')
  assert.equal((await chat.send('And now?').ended).outcome, 'done')
})

test('the conversation continues from the first whole answer, from a partial one only if there is no other', async () => {
  for (const failing of [['anthropic'], ['anthropic', 'openai', 'google']]) {
    const { chat } = await start(
      { model: 'anthropic/claude-opus-5', tools: [] },
      {
        emulation: {
          reply: () => ({ parts: [{ type: 'text', text: 'one two three four five six seven' }] }),
          piece: 4,
        },
      },
    )
    const { candidates, ended, entryId } = await chat.compare(models, 'Hello.', { guards: {} })
    for (const { model, run } of candidates) {
      if (!failing.some((provider) => model.startsWith(provider))) continue
      void (async () => {
        for await (const event of run)
          if (event.type === 'reply-event' && event.event.type === 'part-delta') run.abort()
      })()
    }
    const ends = await ended
    assert.deepEqual(
      ends.map(({ outcome }) => outcome),
      models.map((model) => (failing.some((provider) => model.startsWith(provider)) ? 'cancelled' : 'done')),
    )
    for (const { leaf } of candidates) assert.notEqual(leaf(), entryId)
    assert.equal((await chat.history()).at(-1)?.id, candidates[0]?.leaf())
  }
})

test('a model that failed in the middle is not continued from if another has answered, nor one without an answer', async () => {
  for (const [fault, times, place] of [
    [{ cutAt: 8 }, 1, 1],
    [{ cutAt: 8 }, 2, 0],
    [{ status: 401 }, 1, 1],
    [{ status: 401 }, 2, undefined],
  ] as const) {
    const { chat, emulator } = await start({ model: 'openai/gpt-5.6', tools: [] })
    emulator.order(fault, times)
    const { candidates, ended, entryId } = await chat.compare(['openai/gpt-5.6', 'openai/gpt-5.5'], 'Hello.')
    const ends = await ended
    assert.deepEqual(
      ends.map(({ failure }) => failure !== undefined),
      [true, times === 2],
    )
    const leaf = place === undefined ? entryId : candidates[place]?.leaf()
    assert.equal((await chat.history()).at(-1)?.id, leaf, JSON.stringify([fault, times]))
  }
})

test('a comparison ends with its signal, and a call of a typed tool waits in it unless its arguments are wrong', async () => {
  const { chat } = await start({ model: 'openai/gpt-5.6', tools: [] })
  const { ended } = await chat.compare(models, 'Hello.', { signal: AbortSignal.abort() })
  assert.deepEqual(
    (await ended).map(({ outcome }) => outcome),
    ['cancelled', 'cancelled', 'cancelled'],
  )
  for (const [input, outcome] of [
    [{ n: 1 }, 'waiting'],
    [{ n: 'x' }, 'done'],
  ] as const) {
    const add = defineTool({ name: 'add', input: z.object({ n: z.number() }), run: () => assert.fail('it was run') })
    const typed = await start({ model: 'openai/gpt-5.6' }, { emulation: { reply: calling([{ name: 'add', input }]) } })
    const compared = await typed.chat.compare(['openai/gpt-5.6'], 'Add.', { tools: [add] })
    assert.equal((await compared.ended)[0]?.outcome, outcome)
  }
})

test('a comparison waits for runs of its conversation, and they for it', async () => {
  const { chat } = await start({ model: 'openai/gpt-5.6', tools: [] })
  const before = chat.send('One.')
  const { ended } = await chat.compare(['openai/gpt-5.6'], 'Two.')
  assert.equal((await before.ended).outcome, 'done')
  const leaf = await chat.fork((await chat.history())[0]?.id ?? '').then(() => chat.history())
  assert.equal((await ended)[0]?.outcome, 'done')
  assert.equal(leaf.length, 1)
})
