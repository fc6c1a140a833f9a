// Stands between a store and a PostgreSQL server on a port of loopback, and plays what a network does: it refuses, it
// swallows packets without a word, it leads to another server.

import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

export interface FaultProxy {
  url: string
  /** Connections that are open break, and new ones are refused. */
  refuse(): Promise<void>
  /** Nothing gets through any more: forever on the connections that are open now, on new ones until `pass`. */
  swallow(): void
  /** The connections that are open now go silent forever; new ones work. */
  swallowOpen(): void
  /** Holds everything back until `pass`; then it continues as if nothing had been. */
  hold(): void
  /** New connections work again, and lead to this socket. */
  pass(socket?: string): Promise<void>
}

interface Pair {
  client: Socket
  server: Socket
  /** What comes on it is thrown away. */
  deaf: boolean
}

export async function faultProxyTo(t: Pick<TestContext, 'after'>, socket: string): Promise<FaultProxy> {
  let target = socket
  let isSilent = false
  let isHeld = false
  const pairs = new Set<Pair>()
  const proxy = createServer((client) => {
    const server = connect(target)
    const pair: Pair = { client, server, deaf: isSilent }
    pairs.add(pair)
    const end = (): void => {
      // Also the end of a connection is not told where packets are swallowed.
      if (pair.deaf) return
      pairs.delete(pair)
      client.destroy()
      server.destroy()
    }
    for (const one of [client, server]) one.on('error', end).on('close', end)
    forward(pair, client, server)
    forward(pair, server, client)
    if (isHeld) for (const one of [client, server]) one.pause()
  })
  const listen = async (port: number): Promise<number> => {
    proxy.listen(port, '127.0.0.1')
    await once(proxy, 'listening')
    return (proxy.address() as AddressInfo).port
  }
  const port = await listen(0)
  const breakAll = (): void => {
    for (const { client, server } of pairs) {
      client.destroy()
      server.destroy()
    }
    pairs.clear()
  }
  t.after(() => {
    breakAll()
    proxy.close()
  })
  const swallowOpen = (): void => {
    for (const pair of pairs) pair.deaf = true
  }
  return {
    url: `postgres://tester@127.0.0.1:${port}/postgres`,
    async refuse() {
      const closed = once(proxy, 'close')
      proxy.close()
      breakAll()
      await closed
    },
    swallow() {
      isSilent = true
      swallowOpen()
    },
    swallowOpen,
    hold() {
      isHeld = true
      for (const { client, server } of pairs) {
        client.pause()
        server.pause()
      }
    },
    async pass(to = target) {
      target = to
      isSilent = false
      isHeld = false
      for (const { client, server, deaf } of pairs) {
        if (deaf) continue
        client.resume()
        server.resume()
      }
      if (!proxy.listening) await listen(port)
    },
  }
}

function forward(pair: Pair, from: Socket, to: Socket): void {
  from.on('data', (bytes) => {
    if (!pair.deaf) to.write(bytes)
  })
}
