// The floor: a relay that does nothing but pass bytes on. `bare.ts ORIGIN`

import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

const [origin = ''] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

const server = createServer((incoming, outgoing) => {
  const { method, url, headers } = incoming
  const there = request(new URL(url ?? '/', origin), { method, headers, agent } as object, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(outgoing)
  })
  there.on('error', () => outgoing.destroy())
  incoming.pipe(there)
})
server.listen(0, '127.0.0.1', 20_000, () => console.log((server.address() as AddressInfo).port))
