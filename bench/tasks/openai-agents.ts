// The eight tasks of docs/why.md with the OpenAI Agents SDK. Another provider needs a model class of your own there.

import { readFile, writeFile } from 'node:fs/promises'
import { Agent, MemorySession, OpenAIProvider, Runner, RunState, tool } from '@openai/agents'
import * as z from 'zod'
import { url } from './emulator.ts'

const modelProvider = new OpenAIProvider({ apiKey: 'any', baseURL: `${url}/openai/v1` })
const runner = new Runner({ modelProvider, tracingDisabled: true })
const clock = tool({
  name: 'clock',
  description: 'Tells the time.',
  parameters: z.object({}),
  execute: async () => '12:00',
})
const remove = tool({
  name: 'remove',
  description: 'Removes a file.',
  parameters: z.object({ path: z.string() }),
  needsApproval: true,
  execute: async ({ path }) => `${path} is gone`,
})
const model = 'gpt-5.6'

export async function toolLoop() {
  const agent = new Agent({ name: 'bot', model, tools: [clock] })
  return (await runner.run(agent, 'What time is it?')).finalOutput
}

export async function streamText() {
  const agent = new Agent({ name: 'bot', model, tools: [clock] })
  const result = await runner.run(agent, 'What time is it?', { stream: true })
  let answer = ''
  for await (const text of result.toTextStream()) answer += text
  return answer
}

export async function typedAnswer() {
  const agent = new Agent({ name: 'bot', model, outputType: z.object({ city: z.string() }) })
  return typeof (await runner.run(agent, 'Which city?')).finalOutput?.city
}

export async function continueLater() {
  const agent = new Agent({ name: 'bot', model })
  const session = new MemorySession()
  await runner.run(agent, 'My name is Ada.', { session })
  await writeFile('chat.json', JSON.stringify(await session.getItems()))
  const later = new MemorySession({ initialItems: JSON.parse(await readFile('chat.json', 'utf8')) })
  const result = await runner.run(agent, 'What did I say first?', { session: later })
  await writeFile('chat.json', JSON.stringify(await later.getItems()))
  return result.finalOutput
}

export async function approveLater() {
  const agent = new Agent({ name: 'bot', model, tools: [remove] })
  const first = await runner.run(agent, 'use the tool remove with {"path":"a.txt"}')
  await writeFile('state.json', first.state.toString())
  const state = await RunState.fromString(agent, await readFile('state.json', 'utf8'))
  for (const one of state.getInterruptions()) state.approve(one)
  return (await runner.run(agent, state)).finalOutput
}

export async function askAgain() {
  const first = await runner.run(new Agent({ name: 'one', model }), 'My name is Ada.')
  const second = await runner.run(new Agent({ name: 'two', model: 'gpt-5.6-mini' }), 'My name is Ada.')
  const branches = [first.history, second.history]
  await writeFile('branches.json', JSON.stringify(branches))
  return `${branches.length} branches`
}
