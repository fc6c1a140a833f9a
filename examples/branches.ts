// Retry, edit an earlier message, go back: the log is a tree, and nothing is overwritten.

import { openSynapse } from 'synapse'

const synapse = await openSynapse({ offline: true })
const chat = await synapse.start({ model: 'anthropic/claude-opus-5' })
await chat.send('My name is Ada.').ended
await chat.retry({ model: 'openai/gpt-5.6' }).ended // the earlier answer stays as a branch
const [first, answer] = await chat.history()
await chat.fork(answer?.id ?? '', { name: 'with Ada' })
await chat.edit(first?.id ?? '', 'My name is Bob.').ended
console.log(await chat.send('What is my name?').text())
await chat.checkout('with Ada')
console.log(await chat.send('What is my name?').text())
console.log((await chat.branches()).length, 'branches')
await synapse.close()
