// The eight tasks of docs/why.md with Synapse.

import { defineTool, openSynapse } from '../../src/index.ts'
import * as z from 'zod'
import { emulator } from './emulator.ts'

const synapse = await openSynapse({ store: 'tasks.db', offline: emulator })
const clock = defineTool({ name: 'clock', input: z.object({}), run: () => '12:00' })
const remove = defineTool({
  name: 'remove',
  input: z.object({ path: z.string() }),
  ask: true,
  run: ({ path }) => `${path} is gone`,
})
const [gpt, claude] = ['openai/gpt-5.6', 'anthropic/claude-opus-5']

export async function toolLoop() {
  const chat = await synapse.start({ model: gpt, tools: [clock] })
  return chat.send('What time is it?').text()
}

export async function streamText() {
  const chat = await synapse.start({ model: gpt, tools: [clock] })
  let answer = ''
  for await (const text of chat.send('What time is it?').textStream) answer += text
  return answer
}

export async function typedAnswer() {
  const chat = await synapse.start({ model: gpt, answer: z.object({ city: z.string() }) })
  return typeof (await chat.send('Which city?').object()).city
}

export async function continueLater() {
  const chat = await synapse.start({ model: gpt })
  await chat.send('My name is Ada.').ended
  const later = await synapse.open(chat.id)
  return later.send('What did I say first?').text()
}

export async function switchProvider() {
  const chat = await synapse.start({ model: gpt, tools: [clock] })
  await chat.send('What time is it?').ended
  return chat.send('What did I say first?', { model: claude }).text()
}

export async function approveLater() {
  const chat = await synapse.start({ model: gpt, tools: [remove] })
  await chat.send('use the tool remove with {"path":"a.txt"}').ended
  const later = await synapse.open(chat.id, { tools: [remove] })
  for (const { call, argsHash } of await later.approvals()) await later.approve(call.callId, { argsHash })
  return later.resume().text()
}

export async function askAgain() {
  const chat = await synapse.start({ model: gpt })
  await chat.send('My name is Ada.').ended
  await chat.retry({ model: claude }).ended
  return `${(await chat.branches()).length} branches`
}

export async function httpHandler() {
  const chat = await synapse.start({ model: gpt })
  return chat.send('Hello').toUIMessageStreamResponse().text()
}
