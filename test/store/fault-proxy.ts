// A proxy between a store and a PostgreSQL server on loopback that simulates a network: it refuses, it swallows packets
// without a word, it leads to another server.

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
  /** From now on everything takes this long, each way. */
  slow(ms: number): void
  /** New connections work again, and lead to this socket. */
  pass(socket?: string): Promise<void>
}

/** After this long a server knows that its client is gone: what the store sets for its connections. */
const keepAliveMs = 25_000

interface Pair {
  client: Socket
  server: Socket
  /** What comes on it is thrown away. */
  deaf: boolean
}

export async function faultProxyTo(
  t: Pick<TestContext, 'after'>,
  database: { url: string; socket: string },
): Promise<FaultProxy> {
  let target = database.socket
  let isSilent = false
  let isHeld = false
  let delayMs = 0
  const pairs = new Set<Pair>()
  const proxy = createServer((client) => {
    const server = connect(target)
    const pair: Pair = { client, server, deaf: isSilent }
    pairs.add(pair)
    const end = (): void => {
      // The end of a connection is not reported either if packets are swallowed. The server's keep-alive packets, which
      // a socket of this machine does not have, would find out.
      if (pair.deaf) return void setTimeout(() => server.destroy(), keepAliveMs).unref()
      pairs.delete(pair)
      client.destroy()
      server.destroy()
    }
    for (const one of [client, server]) one.on('error', end).on('close', end)
    forward(client, server)
    forward(server, client)
    if (isHeld) for (const one of [client, server]) one.pause()

    function forward(from: Socket, to: Socket): void {
      const write = (bytes: Uint8Array): void => {
        if (!pair.deaf) to.write(bytes)
      }
      from.on('data', (bytes) => {
        if (delayMs > 0) setTimeout(write, delayMs, bytes)
        else write(bytes)
      })
    }
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
    url: `postgres://tester@127.0.0.1:${port}${new URL(database.url).pathname}`,
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
    slow: (ms) => void (delayMs = ms),
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
