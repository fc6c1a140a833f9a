// Two processes on one PostgreSQL: one conversation, written by one of them at a time, and separate owners.

import { execFileSync } from 'node:child_process'
import { openSynapse, SynapseError } from 'synapse'

const store = process.env['DATABASE_URL'] ?? 'postgres://localhost/postgres'
const [, , id] = process.argv
const synapse = await openSynapse({ store, owner: 'alice', offline: true })

if (id) {
  // The second process, on another provider.
  const chat = await synapse.open(id)
  console.log(await chat.send('What did I say first?', { model: 'openai/gpt-5.6' }).text())
} else {
  const chat = await synapse.start({ model: 'anthropic/claude-opus-5' })
  await chat.send('My name is Ada.').ended
  console.log(execFileSync(process.execPath, [import.meta.filename, chat.id], { encoding: 'utf8' }).trim())
  console.log((await chat.history()).length, 'messages')
  const bob = await openSynapse({ store: synapse.store, owner: 'bob', offline: true })
  await bob.open(chat.id).catch((error: unknown) => console.log(error instanceof SynapseError && error.kind))
}
await synapse.close()
