// One question in a separate process, to a provider that sends too much: how it ended, and how much memory it took. The
// task is the first argument, the result one line of JSON.

import { join } from 'node:path'
import { defineTool, openSynapse } from '../../src/index.ts'
import type { Guards } from '../../src/settings/run.ts'
import type { Limits } from '../../src/transport/limits.ts'

export interface Task {
  baseUrl: string
  folder: string
  guards?: Guards
  limits?: Partial<Limits>
  /** Read the events, as a terminal does. */
  watch?: boolean
}

export interface Done {
  outcome: string
  failure?: { kind: string; message: string }
  /** The most memory that was resident, in MB. */
  rssMb: number
  ms: number
  toolRuns: number
  mostAtOnce: number
  messages: number
  results: number
  notRun: number
  guards: string[]
}

const task = JSON.parse(process.argv[2] ?? '{}') as Task
const began = performance.now()
let toolRuns = 0
let running = 0
let mostAtOnce = 0
const note = defineTool({
  name: 'note',
  input: { type: 'object', properties: { text: { type: 'string' } } },
  async run() {
    toolRuns++
    mostAtOnce = Math.max(mostAtOnce, ++running)
    await new Promise((resolve) => setImmediate(resolve))
    running--
    return 'noted'
  },
})
const synapse = await openSynapse({
  store: join(task.folder, 'log.db'),
  env: { OPENAI_COMPATIBLE_BASE_URL: task.baseUrl, OPENAI_COMPATIBLE_API_KEY: 'k' },
  transport: { retry: { retries: 0 }, ...(task.limits && { limits: task.limits }) },
})
const chat = await synapse.start({
  model: 'openai-compatible/m',
  tools: [note],
  ...(task.guards && { guards: task.guards }),
})
const run = chat.send('Go.')
const guards: string[] = []
if (task.watch) for await (const event of run) if (event.type === 'guard') guards.push(event.why)
const { outcome, failure } = await run.ended
// Reading the log again, as the checks below do, is not what is measured.
const rssMb = Math.round(process.resourceUsage().maxRSS / 1024)
const history = await chat.history()
const parts = history.flatMap(({ message }) => (message.role === 'tool' ? message.parts : []))
const done: Done = {
  outcome,
  ...(failure && { failure: { kind: failure.kind, message: failure.message } }),
  rssMb,
  ms: Math.round(performance.now() - began),
  toolRuns,
  mostAtOnce,
  messages: history.length,
  results: parts.length,
  notRun: parts.filter((part) => part.output.some((one) => one.type === 'text' && one.text.includes('Not run'))).length,
  guards,
}
process.stdout.write(`${JSON.stringify(done)}\n`)
await synapse.close()
