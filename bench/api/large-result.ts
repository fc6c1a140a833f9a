// A server with a tool that returns 200 MB: `node large-result.ts FILE` prints its address. The emulator calls `clock`
// when it is asked for the time.

import { rows } from '../../src/providers/rows.ts'
import { endpointFinder } from '../../src/runtime/open.ts'
import { startServer } from '../../src/server/serve.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { createEmulator } from '../../src/testing.ts'

const [file = ''] = process.argv.slice(2)
const result = Buffer.alloc(200_000_000, 'A line of a log that has some words in it.\n').toString()
const { url } = await startServer({
  store: await openSqliteStore(file),
  address: file,
  endpoint: await endpointFinder({ offline: createEmulator(), env: {} }),
  rows,
  env: {},
  version: 'bench',
  defaultModel: 'openai/gpt-5.1',
  tools: [{ name: 'clock', description: 'Tells the time.', input: { type: 'object' }, run: () => result }],
  offline: true,
})
console.log(url)
