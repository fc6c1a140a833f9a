// One long run with a tool whose results have 30 KB, through the library: `node --expose-gc long-run.ts STEPS [FILE]` says
// how much processor time the steps took, how much was sent, and how much memory the conversation takes at the end.

import { defineTool, openSynapse } from '../built.ts'
import { look, lookSchema, type LookInput } from './look.ts'

const [steps = '400', file] = process.argv.slice(2)
const size = 30_000
const times: number[] = []
const sent: number[] = []

const synapse = await openSynapse({
  ...(file !== undefined && { store: file }),
  keys: { openai: 'none' },
  transport: { fetch: answer },
})
const tool = defineTool({
  name: 'look',
  description: 'Looks something up.',
  input: lookSchema as never,
  run: async (input: unknown) => look(input as LookInput),
})
const settings = { model: 'openai/gpt-5.1', protocol: 'openai-chat', tools: [tool], maxSteps: 10_000 } as const
const before = held()
const chat = await synapse.start(settings)
const { outcome, failure } = await chat.send('Look until you know.').ended
if (outcome !== 'done') throw new Error(failure?.message ?? outcome)
const after = held()
const log = (await chat.history()).reduce((sum, { message }) => sum + JSON.stringify(message).length, 0)
console.log(JSON.stringify({ times, sent, held: after - before, log }))
await synapse.close()

function held(): number {
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

async function answer(_: unknown, { body: asked }: { body?: unknown } = {}): Promise<Response> {
  const { user, system } = process.threadCpuUsage()
  times.push((user + system) / 1000)
  sent.push((asked as Uint8Array).length)
  const number = times.length - 1
  const call = {
    index: 0,
    id: `call_${number}`,
    type: 'function',
    function: { name: 'look', arguments: JSON.stringify({ number, size }) },
  }
  const asks = number < Number(steps)
  const usage = { prompt_tokens: Math.round(sent.at(-1) ?? 0) / 4, completion_tokens: 20 }
  const chunk = (delta: object, finish: string | null): string =>
    `data: ${JSON.stringify({ id: 'r', choices: [{ index: 0, delta, finish_reason: finish }], usage })}\n\n`
  const body =
    chunk(asks ? { tool_calls: [call] } : { content: 'Done.' }, null) + chunk({}, asks ? 'tool_calls' : 'stop')
  return new Response(`${body}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } })
}
