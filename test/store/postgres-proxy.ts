// A proxy between a store and a PostgreSQL server that cuts the connection at a chosen statement: before the server has
// it, while it is on its way, or when the server has answered and the answer is lost.

import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

export type Cut = 'before it is sent' | 'on its way' | 'before its answer'

export interface Proxy {
  url: string
  /** The next statement with these words loses its connection; gives whether one has. */
  cut(words: string, when: Cut): { done(): boolean }
  /** The same, but the server does not hear of it, and the statement neither. */
  lose(words: string): { done(): boolean }
  close(): void
}

export async function proxyTo(t: TestContext, serverUrl: string): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), 'synapse-proxy-'))
  const target = join(new URL(serverUrl).searchParams.get('host') ?? '', '.s.PGSQL.5432')
  let order: { words: string; when: Cut | 'unheard' } | undefined
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const server = connect(target)
    let deaf = false
    const end = () => {
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.on('error', end).on('close', end)
    }
    client.on('data', (bytes) => {
      const when = order && bytes.includes(order.words) ? order.when : undefined
      if (when === undefined) return void server.write(bytes)
      order = undefined
      if (when === 'unheard') {
        client
          .off('error', end)
          .off('close', end)
          .on('error', () => {})
        return void client.destroy()
      }
      if (when === 'before it is sent') return end()
      if (when === 'on its way') return void server.end(bytes, () => client.destroy())
      deaf = true
      server.write(bytes)
    })
    server.on('data', (bytes) => {
      if (deaf) end()
      else client.write(bytes)
    })
  })
  proxy.listen(join(folder, '.s.PGSQL.5432'))
  await once(proxy, 'listening')
  const close = () => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  }
  t.after(() => {
    close()
    rmSync(folder, { recursive: true, force: true })
  })
  const url = new URL(serverUrl)
  url.searchParams.set('host', folder)
  return {
    url: url.href,
    close,
    lose: (words) => lost(words, 'unheard'),
    cut: lost,
  }

  function lost(words: string, when: Cut | 'unheard'): { done(): boolean } {
    const given = { words, when }
    order = given
    return { done: () => order !== given }
  }
}
