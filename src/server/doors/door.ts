// The door for a request: the provider APIs that the server offers to clients. Each wire that can be written for
// clients has one; its service defines the paths. Each is served under its usual path and under the name of its
// provider, because clients differ in what they use as a base URL.

import { loadService, wireIds } from '../../wires/list.ts'
import type { Operation, WireDoor, WireService } from '../../wires/service.ts'
import { decodedName } from '../../wires/shared/path.ts'

export type DoorOperation =
  | Operation
  /** A WebSocket, for the wires that have one. */
  | { do: 'upgrade' }
  /** Some clients check whether a server is there before they send a request. */
  | { do: 'head' }
  | { do: 'unknown' }

export interface Door {
  wire: string
  /** The provider of a bare model name. */
  provider: string
  /** After the name of the provider and the version. */
  path: string
  operation: DoorOperation
}

interface DoorService extends WireService {
  id: string
  door: WireDoor
}

let loaded: Promise<DoorService[]> | undefined

async function services(): Promise<DoorService[]> {
  const all = await Promise.all(wireIds.map(async (id) => ({ id, ...(await loadService(id)) })))
  return all.flatMap((service) => (service.door ? [{ ...service, door: service.door }] : []))
}

/** Undefined: the request is for the page or the server's own API. */
export async function doorOf(method: string, url: URL, headers: Headers): Promise<Door | undefined> {
  const whole = withoutExtraSlashes(url.pathname)
  const [, first = '', rest = ''] = /^\/([^/]+)(\/.*)?$/.exec(whole) ?? []
  const isVersion = /^v1(?:beta|alpha)?$/.test(first)
  // Loading all of them takes time, which the page need not wait for.
  if (!isVersion && !/^(?!(?:assets|health|ready)$)[a-z]{3,20}$/.test(first)) return undefined
  loaded ??= services()
  const all = await loaded
  const isNamed = all.some(({ home }) => home === first)
  const prefix = isNamed ? first : all.find(({ door }) => door.barePaths?.test(whole))?.home
  if (!isVersion && prefix === undefined) return undefined
  const path = isNamed ? rest : whole
  const ordered = all.toSorted((a, b) => rank(a) - rank(b))
  const format = formatService(path, prefix, headers, ordered)
  if (!format) return undefined
  if (headers.get('upgrade')?.toLowerCase() === 'websocket') {
    const socket = ordered.find(
      (service) => service.door.sockets && service.route('POST', path, prefix)?.do === 'reply',
    )
    return doorTo(socket ?? format, { do: socket ? 'upgrade' : 'unknown' })
  }
  if (method === 'HEAD') return doorTo(format, { do: 'head' })
  const route = findRoute(ordered, method, path, prefix)
  // Lists of models have the same path on many wires.
  if (route && route.operation.do !== 'models') return doorTo(route.service, route.operation)
  return doorTo(format, route?.operation ?? modelsIn(method, path) ?? { do: 'unknown' })

  function rank({ home }: DoorService): number {
    return home === prefix ? 0 : 1
  }

  function doorTo({ id, home }: DoorService, operation: DoorOperation): Door {
    const tail = path.replace(/^\/v1(?:beta|alpha)?(?=\/|$)/, '')
    return { wire: id, provider: prefix ?? home, path: tail, operation }
  }
}

/** A base URL with a slash at its end gives two in a row, and some clients end every path with one. */
function withoutExtraSlashes(path: string): string {
  return path.replaceAll(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
}

function findRoute(
  ordered: readonly DoorService[],
  method: string,
  path: string,
  prefix: string | undefined,
): { service: DoorService; operation: Operation } | undefined {
  for (const service of ordered) {
    // Paths without a version belong to the server, unless the provider is named.
    const operation = service.route(method, path, prefix)
    if (operation) return { service, operation: withoutSlash(operation) }
  }
  return undefined
}

/** The wire whose error and list formats a client reads if the path does not tell. */
function formatService(
  path: string,
  prefix: string | undefined,
  headers: Headers,
  ordered: readonly DoorService[],
): DoorService | undefined {
  const named = ordered.find(({ home }) => home === prefix)
  if (named && !named.door.compatiblePaths?.test(path)) return named
  return ordered.find(({ door }) => door.recognises?.(path, headers)) ?? ordered.find(({ door }) => door.isDefault)
}

function modelsIn(method: string, path: string): Operation | undefined {
  const models = method === 'GET' ? /\/models(?:\/(.{1,200}))?$/.exec(path) : null
  if (!models) return undefined
  return { do: 'models', ...(models[1] !== undefined && { id: decodedName(models[1]) }) }
}

/** The model name in a path may be that of another provider: `anthropic/claude-opus-5`. */
function withoutSlash(operation: Operation): Operation {
  if (!('model' in operation) || operation.model === undefined) return operation
  return { ...operation, model: decodedName(operation.model) }
}
