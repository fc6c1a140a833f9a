// Two conversations of some length in SQLite, opened and continued through the library: the processor time from `send`
// until the request is handed over. `node turn.ts FILE SIZE` makes them; `node turn.ts FILE` opens both, one after the
// other, and says how long the first turn of each took, and the next ones of the first. The first turn of the first one
// is that of a new process, which has to compile everything.

import { openSynapse } from '../built.ts'
import { answer } from '../quick-provider.ts'
import { longHistory } from '../history.ts'

const [file = '', size] = process.argv.slice(2)
const turns = 15
let handedOver = 0

const synapse = await openSynapse({ store: file, keys: { openai: 'none' }, transport: { fetch: timedAnswer } })
const settings = { model: 'openai/gpt-5.1', protocol: 'openai-chat' } as const
if (size === undefined) {
  const [one, other] = (await synapse.conversations()).items
  const cold = await opened(one?.id ?? '')
  const next: number[] = []
  for (let turn = 0; turn < turns; turn++) {
    const before = cpu()
    await cold.chat.send(`Continue, ${turn}.`).text()
    next.push(handedOver - before)
  }
  const warm = await opened(other?.id ?? '')
  console.log(JSON.stringify({ cold: cold.first, warm: warm.first, next }))
} else {
  for (let i = 0; i < 2; i++) {
    const chat = await synapse.start({ ...settings, messages: longHistory(Number(size)) })
    await chat.send('Begin.').text()
  }
}
await synapse.close()

async function opened(id: string) {
  const start = cpu()
  const chat = await synapse.open(id, settings)
  await chat.send('Continue, first.').text()
  return { chat, first: handedOver - start }
}

function cpu(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function timedAnswer(): Promise<Response> {
  handedOver = cpu()
  return answer()
}
