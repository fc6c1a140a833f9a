// A server as a separate process, for tests that kill it: `process.ts FILE HOLD COUNTER`. With HOLD, replies stop
// behind so many chunks until SIGUSR2, and tools never end. Each start of a tool adds a byte to the file COUNTER.

import { appendFileSync } from 'node:fs'
import { endpointFinder } from '../../src/runtime/open.ts'
import { rows } from '../../src/providers/rows.ts'
import { startServer } from '../../src/server/serve.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { createEmulator } from '../../src/testing.ts'
import { clock, gate } from './serving.ts'

const [file = '', hold = '', counter = ''] = process.argv.slice(2)
const emulator = createEmulator()
const held = hold === '' || hold === 'tool' ? undefined : gate(Number(hold))
const store = await openSqliteStore(file)
const server = await startServer({
  store,
  endpoint: await endpointFinder({
    offline: { ...emulator, fetch: held ? held.between(emulator.fetch) : emulator.fetch },
    env: {},
  }),
  rows,
  env: {},
  version: '0',
  defaultModel: 'anthropic/claude-opus-5',
  offline: true,
  tools: [
    {
      ...clock,
      repeatable: false,
      run() {
        appendFileSync(counter, 'x')
        return hold === 'tool' ? new Promise(() => {}) : '12:00'
      },
    },
  ],
})
process.stdout.write(`${server.url}\n`)
if (held) process.once('SIGUSR2', held.open)
process.once('SIGTERM', () => {
  void server
    .stop(200)
    .then(() => store.close())
    .then(() => process.exit(0))
})
