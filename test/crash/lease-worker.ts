// A process that wants to be the one writer of a conversation. `race`: after a line on stdin it sends a number of
// messages, each until it gets through. `sleep`: its tool waits for a line on stdin, so that it can be put to sleep in
// the middle of a run.

import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Tool } from '../../src/core/tool.ts'
import { openSynapse } from '../../src/runtime/open.ts'
import { openPlace } from './stores.ts'

const [job, url = '', conversationId = '', name = '', count = '0'] = process.argv.slice(2)
const store = await openPlace({ url })
const input = createInterface({ input: process.stdin })

const wait: Tool = {
  name: 'clock',
  description: 'Tells the current time.',
  input: { type: 'object', properties: {} },
  async run() {
    say({ running: true })
    await once(input, 'line')
    return 'too late'
  },
}

const synapse = await openSynapse({ store, owner: 'ada', offline: true, env: {} })
const chat = await synapse.open(conversationId, { model: 'openai/gpt-5.6', tools: job === 'sleep' ? [wait] : [] })
say({ ready: true })

if (job === 'sleep') {
  const { outcome, failure } = await chat.send('What time is it?').ended
  say({ outcome, kind: failure?.kind, code: failure?.code })
} else {
  await once(input, 'line')
  for (let won = 0, lost = 0; won < Number(count);) {
    const { outcome, failure } = await chat.send(`${name} ${won}`).ended
    if (outcome === 'done') say({ won: ++won, lost })
    else if (failure?.code === 'lease-held') lost++
    else throw new Error(`${outcome}: ${failure?.message}`)
  }
}
await store.close()
input.close()

function say(value: object): void {
  writeSync(1, `${JSON.stringify(value)}\n`)
}
