// A tool that needs approval. The question is stored: another process may answer it, days later.

import { defineTool, openSynapse } from 'synapse'
import * as z from 'zod'

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back.',
  input: z.object({ euros: z.number() }),
  ask: ({ euros }) => euros > 50,
  run: ({ euros }) => `${euros} euros were paid back.`,
})
const open = () => openSynapse({ store: 'approval.db', offline: true, tools: [refund] })

const shop = await open()
const asked = await shop.start({ model: 'anthropic/claude-opus-5', tools: [refund] })
console.log((await asked.send('Use the tool refund with {"euros":80}').ended).outcome)
await shop.close()

const office = await open()
const chat = await office.open(asked.id)
for (const { call, argsHash } of await chat.approvals()) {
  console.log(call.name, JSON.stringify(call.input))
  await chat.approve(call.callId, { argsHash }) // or chat.deny(call.callId, 'Too much.')
}
console.log(await chat.resume().text())
await office.close()
