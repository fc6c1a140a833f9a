// A conversation of some length in SQLite, opened and continued through the library: the processor time from `send` until
// the request is handed over. `node turn.ts FILE SIZE` makes it; `node turn.ts FILE` opens it, and says how long the first
// turn and the next ones took.

import { openSynapse } from '../built.ts'
import { answer } from '../quick-provider.ts'
import { longHistory } from '../history.ts'

const [file = '', size] = process.argv.slice(2)
const turns = 15
let handedOver = 0

const synapse = await openSynapse({ store: file, keys: { openai: 'none' }, transport: { fetch: timedAnswer } })
const settings = { model: 'openai/gpt-5.1', protocol: 'openai-chat' } as const
if (size === undefined) {
  const [stored] = (await synapse.conversations()).items
  const start = cpu()
  const chat = await synapse.open(stored?.id ?? '', settings)
  await chat.send('Continue, first.').text()
  const first = handedOver - start
  const next: number[] = []
  for (let turn = 0; turn < turns; turn++) {
    const before = cpu()
    await chat.send(`Continue, ${turn}.`).text()
    next.push(handedOver - before)
  }
  console.log(JSON.stringify({ first, next }))
} else {
  const chat = await synapse.start({ ...settings, messages: longHistory(Number(size)) })
  await chat.send('Begin.').text()
}
await synapse.close()

function cpu(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function timedAnswer(): Promise<Response> {
  handedOver = cpu()
  return answer()
}
