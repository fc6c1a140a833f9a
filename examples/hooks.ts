// Functions of the application around requests and tools: mask secrets, deny calls, pass the user on.

import { defineTool, openSynapse, type Hooks } from 'synapse'
import * as z from 'zod'

const hooks: Hooks = {
  beforeTool: ({ call, context }) => (context === 'guest' ? { deny: `Guests may not use ${call.name}.` } : undefined),
  afterTool({ result }) {
    const text = result.output.map((part) => (part.type === 'text' ? part.text : '')).join('')
    return { output: text.replaceAll(/secret-\w+/g, '[removed]'), note: 'secrets are removed' }
  },
}
const lookUp = defineTool({
  name: 'look_up',
  input: z.object({ name: z.string() }),
  run({ name }, { context, emit }) {
    emit({ user: String(context) }) // progress, as an event of the run
    return `${name}: secret-123`
  },
})
const synapse = await openSynapse({ offline: true })
const chat = await synapse.start({ model: 'mistral', tools: [lookUp], hooks })
for (const context of ['admin', 'guest']) {
  const run = chat.send('use the tool look_up with {"name":"Ada"}', { context })
  for await (const event of run) if (event.type === 'hook') console.log(event.hook, event.action, event.why)
  console.log(await run.text())
}
await synapse.close()
