// A typed, checked answer, read while it is written, the same on every provider.

import { openSynapse } from 'synapse'
import * as z from 'zod'

const city = z.object({ name: z.string(), population: z.number(), rivers: z.array(z.string()) })

const synapse = await openSynapse({ offline: true })
const chat = await synapse.start({ model: 'openai/gpt-5.6', answer: city })
const run = chat.send('Which city is the largest?')
for await (const partial of run.partialObjectStream) console.log('so far:', Object.keys(partial).join(', '))
const { name, population, rivers } = await run.object() // string, number, string[]
console.log(typeof name, typeof population, Array.isArray(rivers))
// A model without schema support gets it in the prompt, and its answer is validated anyway.
const again = await chat.send('And the second?', { model: 'mistral' }).object()
console.log(typeof again.name)
await synapse.close()
