// Agents: one hands the conversation to another, and one works for another. What each costs is counted together.

import { defineTool, openSynapse, type Handoff } from 'synapse'

const boats = defineTool({ name: 'boats', input: { type: 'object' }, run: () => ['Argo', 'Beagle'] })

const synapse = await openSynapse({ offline: true })
const bob: Handoff = {
  name: 'bob',
  description: 'Knows boats.',
  settings: { model: 'mistral/mistral-medium-latest', system: 'You are Bob.', tools: [boats] },
}
const counter = synapse.agentTool({
  name: 'counter',
  description: 'Counts things.',
  settings: { model: 'google/gemini-3.8-flash', system: 'You count.' },
})
const chat = await synapse.start({
  model: 'anthropic/claude-opus-5',
  system: 'You are Alice.',
  tools: [counter],
  handoffs: [bob],
})
await chat.send('use the tool counter with {"task":"Count to 3."}').ended
await chat.send('use the tool hand_off_to_bob with {}').ended
console.log(await chat.send('What are your instructions?').text())
console.log((await chat.usage()).models.map(({ provider }) => provider).toSorted())
await synapse.close()
