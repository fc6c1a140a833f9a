// The eight tasks of docs/why.md with LangChain's models. The loop over tools and all storage are the application's there.

import { readFile, writeFile } from 'node:fs/promises'
import { ChatAnthropic } from '@langchain/anthropic'
import {
  type AIMessageChunk,
  HumanMessage,
  mapChatMessagesToStoredMessages,
  mapStoredMessagesToChatMessages,
  type BaseMessage,
} from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import * as z from 'zod'
import { url } from './emulator.ts'

const gpt = new ChatOpenAI({ model: 'gpt-5.6', apiKey: 'any', configuration: { baseURL: `${url}/openai/v1` } })
const claude = new ChatAnthropic({ model: 'claude-opus-5', apiKey: 'any', anthropicApiUrl: `${url}/anthropic` })
const clock = tool(async () => '12:00', { name: 'clock', description: 'Tells the time.', schema: z.object({}) })

async function loop(messages: BaseMessage[]) {
  const model = gpt.bindTools([clock])
  for (;;) {
    const reply = await model.invoke(messages)
    messages.push(reply)
    if (!reply.tool_calls?.length) return reply
    for (const call of reply.tool_calls) messages.push(await clock.invoke(call))
  }
}

export async function toolLoop() {
  const messages: BaseMessage[] = [new HumanMessage('What time is it?')]
  const model = gpt.bindTools([clock])
  for (;;) {
    const reply = await model.invoke(messages)
    messages.push(reply)
    if (!reply.tool_calls?.length) return reply.text
    for (const call of reply.tool_calls) messages.push(await clock.invoke(call))
  }
}

export async function streamText() {
  const messages: BaseMessage[] = [new HumanMessage('What time is it?')]
  const model = gpt.bindTools([clock])
  for (let answer = ''; ;) {
    let reply: AIMessageChunk | undefined
    for await (const chunk of await model.stream(messages)) {
      answer += chunk.text
      reply = reply ? reply.concat(chunk) : chunk
    }
    if (!reply?.tool_calls?.length) return answer
    messages.push(reply)
    for (const call of reply.tool_calls) messages.push(await clock.invoke(call))
  }
}

export async function typedAnswer() {
  const model = gpt.withStructuredOutput(z.object({ city: z.string() }))
  return typeof (await model.invoke('Which city?')).city
}

export async function continueLater() {
  const messages: BaseMessage[] = [new HumanMessage('My name is Ada.')]
  messages.push(await gpt.invoke(messages))
  await writeFile('chat.json', JSON.stringify(mapChatMessagesToStoredMessages(messages)))
  const history = mapStoredMessagesToChatMessages(JSON.parse(await readFile('chat.json', 'utf8')))
  history.push(new HumanMessage('What did I say first?'))
  history.push(await gpt.invoke(history))
  await writeFile('chat.json', JSON.stringify(mapChatMessagesToStoredMessages(history)))
  return history.at(-1)?.text
}

export async function switchProvider() {
  const messages: BaseMessage[] = [new HumanMessage('What time is it?')]
  await loop(messages)
  messages.push(new HumanMessage('What did I say first?'))
  return (await claude.bindTools([clock]).invoke(messages)).text
}

export async function askAgain() {
  const messages: BaseMessage[] = [new HumanMessage('My name is Ada.')]
  const branches = [
    [...messages, await gpt.invoke(messages)],
    [...messages, await claude.invoke(messages)],
  ]
  await writeFile('branches.json', JSON.stringify(branches.map(mapChatMessagesToStoredMessages)))
  return `${branches.length} branches`
}
