// One process that opens a long conversation and continues with it, and says how much memory that takes. Run with
// `--expose-gc`, so that what is counted is what is held.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSynapse } from '../../src/runtime/open.ts'
import { longHistory } from '../history.ts'
import { answer } from '../quick-provider.ts'

const [messages = '200', turns = '20'] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'synapse-bench-'))
const synapse = await openSynapse({
  store: join(folder, 'log.db'),
  keys: { openai: 'none' },
  transport: { fetch: answer },
})
try {
  const { id } = await synapse.store.createConversation('local')
  await synapse.store.appendAll(
    'local',
    id,
    longHistory(Number(messages)).map((message) => ({ message })),
  )
  const chat = await synapse.open(id, {
    model: 'openai/gpt-5.1',
    protocol: 'openai-chat',
    policy: { preset: 'economy', atLimit: 'cut' },
  })
  for (let turn = 0; turn < 10; turn++) await chat.send(`Continue, ${turn}.`).text()
  const before = held()
  for (let turn = 0; turn < Number(turns); turn++) await chat.send(`And on, ${turn}.`).text()
  const after = held()
  console.log(JSON.stringify({ before, after, rss: process.memoryUsage.rss() }))
} finally {
  await synapse.close()
  rmSync(folder, { recursive: true, force: true })
}

function held(): number {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}
