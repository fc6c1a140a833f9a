// Servers for models that run on this machine, such as Ollama and LM Studio: whether one is running, and which models
// it has. Only loopback is queried, without a key.

import { connect } from 'node:net'
import { isObject } from '../core/json.ts'
import { baseUrlOf } from './base-url.ts'
import type { ProviderRow } from './provider.ts'
import { listIn } from '../wires/shared/json-fields.ts'

export interface LocalServer {
  provider: string
  name: string
  /** In the form that `-m` takes. */
  models: string[]
}

const paths: Readonly<Record<string, string>> = { ollama: '/api/tags', lmstudio: '/models' }
const patienceMs = 500

export async function findLocalServers(
  rows: readonly ProviderRow[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<LocalServer[]> {
  const local = rows.filter((row) => Object.hasOwn(paths, row.id))
  const servers = await Promise.all(local.map((row) => look(row, env).catch(() => undefined)))
  return servers.filter((server) => server !== undefined && server.models.length > 0) as LocalServer[]
}

async function look(
  row: ProviderRow,
  env: Readonly<Record<string, string | undefined>>,
): Promise<LocalServer | undefined> {
  const address = new URL(baseUrlOf(row, row.wires[0], undefined, env))
  if (!/^(localhost|127\.[\d.]+|\[::1\])$/.test(address.hostname) || !(await listens(address))) return undefined
  const reply = await fetch(address.href.replace(/\/+$/, '') + (paths[row.id] ?? ''), {
    redirect: 'error',
    signal: AbortSignal.timeout(patienceMs),
  })
  const body: unknown = await reply.json()
  const list = isObject(body) ? (body['models'] ?? body['data']) : undefined
  const models = listIn(list).flatMap((model: unknown) => {
    const name = isObject(model) ? (model['model'] ?? model['id'] ?? model['name']) : undefined
    // Embedding models do not answer.
    return typeof name === 'string' && !/embed/i.test(name) ? [`${row.id}/${name}`] : []
  })
  return { provider: row.id, name: row.name, models: models.slice(0, 100) }
}

/** Cheap if nothing is there, which is the usual case. */
function listens({ hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80), timeout: patienceMs })
    const end = (there: boolean) => {
      socket.destroy()
      resolve(there)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
    socket.once('timeout', () => end(false))
  })
}
