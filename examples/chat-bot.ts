// A chat bot with a tool: the answer streams, everything is stored, and the model changes in the middle.

import { defineTool, openSynapse } from 'synapse'
import * as z from 'zod'

const clock = defineTool({
  name: 'clock',
  description: 'Tells the current time.',
  input: z.object({ zone: z.string().optional() }),
  run: ({ zone = 'UTC' }) => ({ zone, time: '12:00' }),
})
// The built-in emulator answers, without a key; leave `offline` out to use the real models.
const synapse = await openSynapse({ store: 'chat-bot.db', offline: true })
const chat = await synapse.start({ model: 'anthropic/claude-opus-5', system: 'Be brief.', tools: [clock] })
for await (const text of chat.send('What time is it?').textStream) process.stdout.write(text)
const said = await chat.send('What did I say first?', { model: 'openai/gpt-5.6' }).text()
console.log(`\n${said}\n${(await chat.history()).length} messages stored`)
await synapse.close()
