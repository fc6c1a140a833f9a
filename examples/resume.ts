// A run whose process is killed inside a tool, and continued by another process on another provider.

import { execFile } from 'node:child_process'
import { defineTool, openSynapse } from 'synapse'

const dies = process.argv[2] === 'die'
const report = defineTool({
  name: 'report',
  description: 'Gives the report.',
  input: { type: 'object' },
  repeatable: true, // safe to run again after a crash
  run() {
    if (dies) process.kill(process.pid, 'SIGKILL')
    return '3 builds failed'
  },
})
const synapse = await openSynapse({ store: 'resume.db', offline: true, tools: [report] })
if (dies) {
  const chat = await synapse.start({ model: 'anthropic/claude-opus-5', tools: [report] })
  await chat.send('Use the tool report with {}').ended
}
await new Promise((done) => execFile(process.execPath, [import.meta.filename, 'die'], done))
const [latest] = (await synapse.conversations({ limit: 1 })).items
const chat = await synapse.open(latest?.id ?? '')
console.log((await chat.history()).length, 'messages before')
console.log(await chat.resume({ model: 'openai/gpt-5.6' }).text())
console.log((await chat.history()).length, 'messages after')
await synapse.close()
