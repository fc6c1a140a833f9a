// The eight tasks of docs/why.md with the AI SDK. What it leaves to the application is a file here.

import { readFile, writeFile } from 'node:fs/promises'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, isStepCount, Output, streamText as stream, tool, type ModelMessage } from 'ai'
import * as z from 'zod'
import { url } from './emulator.ts'

const gpt = createOpenAI({ apiKey: 'any', baseURL: `${url}/openai/v1` })('gpt-5.6')
const claude = createAnthropic({ apiKey: 'any', baseURL: `${url}/anthropic/v1` })('claude-opus-5')
const clock = tool({ inputSchema: z.object({}), execute: async () => '12:00' })
const remove = tool({ inputSchema: z.object({ path: z.string() }), execute: async ({ path }) => `${path} is gone` })
const stopWhen = isStepCount(5)

export async function toolLoop() {
  const { text } = await generateText({ model: gpt, tools: { clock }, stopWhen, prompt: 'What time is it?' })
  return text
}

export async function streamText() {
  const { textStream } = stream({ model: gpt, tools: { clock }, stopWhen, prompt: 'What time is it?' })
  let answer = ''
  for await (const text of textStream) answer += text
  return answer
}

export async function typedAnswer() {
  const output = Output.object({ schema: z.object({ city: z.string() }) })
  return typeof (await generateText({ model: gpt, output, prompt: 'Which city?' })).output.city
}

export async function continueLater() {
  const messages: ModelMessage[] = [{ role: 'user', content: 'My name is Ada.' }]
  const first = await generateText({ model: gpt, messages })
  await writeFile('chat.json', JSON.stringify([...messages, ...first.responseMessages]))
  const history = JSON.parse(await readFile('chat.json', 'utf8')) as ModelMessage[]
  history.push({ role: 'user', content: 'What did I say first?' })
  const second = await generateText({ model: gpt, messages: history })
  await writeFile('chat.json', JSON.stringify([...history, ...second.responseMessages]))
  return second.text
}

export async function switchProvider() {
  const messages: ModelMessage[] = [{ role: 'user', content: 'What time is it?' }]
  const first = await generateText({ model: gpt, tools: { clock }, stopWhen, messages })
  messages.push(...first.responseMessages, { role: 'user', content: 'What did I say first?' })
  return (await generateText({ model: claude, tools: { clock }, messages })).text
}

export async function approveLater() {
  const messages: ModelMessage[] = [{ role: 'user', content: 'use the tool remove with {"path":"a.txt"}' }]
  const toolApproval = { remove: 'user-approval' as const }
  const first = await generateText({ model: gpt, tools: { remove }, toolApproval, stopWhen, messages })
  await writeFile('chat.json', JSON.stringify([...messages, ...first.responseMessages]))
  const history = JSON.parse(await readFile('chat.json', 'utf8')) as ModelMessage[]
  const asked = history.flatMap((message) =>
    message.role === 'assistant' && Array.isArray(message.content) ? message.content : [],
  )
  const content = asked.flatMap((part) =>
    part.type === 'tool-approval-request'
      ? [{ type: 'tool-approval-response' as const, approvalId: part.approvalId, approved: true }]
      : [],
  )
  history.push({ role: 'tool', content })
  return (await generateText({ model: gpt, tools: { remove }, toolApproval, stopWhen, messages: history })).text
}

export async function askAgain() {
  const messages: ModelMessage[] = [{ role: 'user', content: 'My name is Ada.' }]
  const first = await generateText({ model: gpt, messages })
  const second = await generateText({ model: claude, messages })
  const branches = [first, second].map(({ responseMessages }) => [...messages, ...responseMessages])
  await writeFile('branches.json', JSON.stringify(branches))
  return `${branches.length} branches`
}

export async function httpHandler() {
  return stream({ model: gpt, prompt: 'Hello' }).toUIMessageStreamResponse().text()
}
