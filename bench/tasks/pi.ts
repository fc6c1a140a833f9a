// The eight tasks of docs/why.md with pi-ai. The loop over tools and all storage are the application's there.

import { readFile, writeFile } from 'node:fs/promises'
import { Type, type AssistantMessage, type Context, type Message } from '@earendil-works/pi-ai'
import { builtinModels } from '@earendil-works/pi-ai/providers/all'
import { url } from './emulator.ts'

const models = builtinModels()
const named = (provider: string, id: string, baseUrl: string) => {
  const model = models.getModel(provider, id)
  if (!model) throw new Error(`pi does not know ${id}`)
  return { ...model, baseUrl }
}
const options = { apiKey: 'any' }
const gpt = named('openai', 'gpt-5.1', `${url}/openai/v1`)
const claude = named('anthropic', 'claude-sonnet-4-5', `${url}/anthropic`)
const clock = { name: 'clock', description: 'Tells the time.', parameters: Type.Object({}) }
const user = (content: string): Message => ({ role: 'user', content, timestamp: Date.now() })
const textOf = ({ content }: AssistantMessage) =>
  content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')

async function loop(context: Context) {
  for (;;) {
    const reply = await models.complete(gpt, context, options)
    context.messages.push(reply)
    const calls = reply.content.filter((part) => part.type === 'toolCall')
    if (calls.length === 0) return textOf(reply)
    for (const { id, name } of calls) {
      const content = [{ type: 'text' as const, text: '12:00' }]
      const about = { toolCallId: id, toolName: name, isError: false, timestamp: Date.now() }
      context.messages.push({ role: 'toolResult', content, ...about })
    }
  }
}

export async function toolLoop() {
  const context: Context = { messages: [user('What time is it?')], tools: [clock] }
  for (;;) {
    const reply = await models.complete(gpt, context, options)
    context.messages.push(reply)
    const calls = reply.content.filter((part) => part.type === 'toolCall')
    if (calls.length === 0) return textOf(reply)
    for (const { id, name } of calls) {
      const content = [{ type: 'text' as const, text: '12:00' }]
      const about = { toolCallId: id, toolName: name, isError: false, timestamp: Date.now() }
      context.messages.push({ role: 'toolResult', content, ...about })
    }
  }
}

export async function streamText() {
  const context: Context = { messages: [user('What time is it?')], tools: [clock] }
  for (let answer = ''; ;) {
    const stream = models.stream(gpt, context, options)
    for await (const event of stream) if (event.type === 'text_delta') answer += event.delta
    const reply = await stream.result()
    context.messages.push(reply)
    const calls = reply.content.filter((part) => part.type === 'toolCall')
    if (calls.length === 0) return answer
    for (const { id, name } of calls) {
      const content = [{ type: 'text' as const, text: '12:00' }]
      const about = { toolCallId: id, toolName: name, isError: false, timestamp: Date.now() }
      context.messages.push({ role: 'toolResult', content, ...about })
    }
  }
}

export async function continueLater() {
  const context: Context = { messages: [user('My name is Ada.')] }
  context.messages.push(await models.complete(gpt, context, options))
  await writeFile('chat.json', JSON.stringify(context))
  const later = JSON.parse(await readFile('chat.json', 'utf8')) as Context
  later.messages.push(user('What did I say first?'))
  const reply = await models.complete(gpt, later, options)
  await writeFile('chat.json', JSON.stringify({ messages: [...later.messages, reply] }))
  return textOf(reply)
}

export async function switchProvider() {
  const context: Context = { messages: [user('What time is it?')], tools: [clock] }
  await loop(context)
  context.messages.push(user('What did I say first?'))
  return textOf(await models.complete(claude, context, options))
}

export async function askAgain() {
  const context: Context = { messages: [user('My name is Ada.')] }
  const replies = [await models.complete(gpt, context, options), await models.complete(claude, context, options)]
  const branches = replies.map((reply) => [...context.messages, reply])
  await writeFile('branches.json', JSON.stringify(branches))
  return `${branches.length} branches`
}
