// Keys and conversations per tenant over one store. The caller that opened the store closes it.

import { openStore, openSynapse } from 'synapse'
import { createEmulator } from 'synapse/testing'

const store = await openStore('tenants.db')
const keys = { acme: 'key-of-acme', globex: 'key-of-globex' }
const emulator = createEmulator() // emulates the provider; leave `transport` out to use it

for (const [owner, key] of Object.entries(keys)) {
  const synapse = await openSynapse({ store, owner, keys: { openai: key }, transport: { fetch: emulator.answer } })
  const chat = await synapse.start({ model: 'openai/gpt-5.6', budget: { conversation: { usd: 1 } } })
  const { outcome } = await chat.send(`We are ${owner}.`).ended
  console.log(owner, outcome, (await synapse.conversations()).items.length)
  await synapse.close() // not the store, which was given
}
await store.close()
