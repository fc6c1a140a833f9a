// An application with the AI SDK, and the log of Synapse: only the model and the store are new.

import { isStepCount, streamText, tool, type ModelMessage } from 'ai'
import { openStore, openSynapse } from 'synapse'
import { synapseModel } from 'synapse/ai-sdk'
import * as z from 'zod'

const store = await openStore('ai-sdk.db')
const tools = { clock: tool({ inputSchema: z.object({}), execute: async () => '12:00' }) }
const messages: ModelMessage[] = [{ role: 'user', content: 'What time is it?' }]

const first = streamText({
  model: synapseModel('anthropic/claude-opus-5', { store, offline: true }),
  tools,
  stopWhen: isStepCount(5),
  messages,
})
for await (const text of first.textStream) process.stdout.write(text)
messages.push(...(await first.responseMessages), { role: 'user', content: 'What did I say first?' })
const second = streamText({ model: synapseModel('openai/gpt-5.6', { store, offline: true }), tools, messages })
console.log(`\n${await second.text}`)

const synapse = await openSynapse({ store, offline: true })
const [latest] = (await synapse.conversations()).items
const chat = await synapse.open(latest?.id ?? '')
console.log((await chat.history()).length, 'messages,', (await chat.usage()).requests, 'requests in the log')
await store.close()
