// The address of a wire: the caller's, else the environment's, else the row's. An address without a path gets the path
// of the row, so that OLLAMA_HOST and AZURE_OPENAI_ENDPOINT work in their documented form.

import type { Env } from '../auth/authorizer.ts'
import { badInput } from '../core/error.ts'
import { exampleOf, filledIn } from './places.ts'
import type { ProviderRow, ProviderWire } from './provider.ts'

/** `seen`: nothing is sent, the address is only displayed. */
export function baseUrlOf(
  row: ProviderRow,
  wire: ProviderWire,
  given: string | undefined,
  env: Env,
  seen = false,
): string {
  const variable = row.baseUrlVariables?.find((name) => env[name]?.trim())
  const address = (given ?? (variable && env[variable]))?.trim()
  const home = parsedHome(exampleOf(wire.baseUrl, row))
  if (!address) {
    if (home) return trimSlash(filledIn(wire.baseUrl, row, env, seen))
    const where = row.baseUrlVariables ? `set ${row.baseUrlVariables.join(' or ')}, or ` : ''
    throw badInput(`${row.name} has no address yet: ${where}give a base URL.`)
  }

  const source = given === undefined ? `${variable}` : 'The base URL'
  const bare = !/^[a-z]+:\/\//i.test(address)
  const url = URL.parse(bare ? `${home?.protocol ?? 'https:'}//${address}` : address)
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    throw badInput(`${source} is not a valid URL: "${address}". Write it like https://host/v1.`)
  }
  if (url.username || url.password || url.search || url.hash) {
    throw badInput(`${source} may have a host and a path only: keys go into ${row.keyVariables.join(' or ')}.`)
  }
  // If a server listens on every interface, a client uses loopback.
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  if (bare && home && !/:\d+(\/|$)/.test(address)) url.port = home.port
  // Nothing is sent to a placeholder, so it needs no account.
  if (url.pathname === '/')
    url.pathname = filledIn(
      wire.baseUrl.replace(/^https?:\/\/[^/]+/, ''),
      row,
      env,
      seen || url.hostname.endsWith('.invalid'),
    )
  else if (given === undefined) url.pathname = withPath(url.pathname, row.baseUrlPath)
  return trimSlash(url.href)
}

const homes = new Map<string, URL | null>()

/** Of a row: there are few of them, and each is needed for every request. */
export function parsedHome(baseUrl: string): Readonly<URL> | null {
  const cached = homes.get(baseUrl)
  if (cached !== undefined) return cached
  const home = URL.parse(baseUrl)
  homes.set(baseUrl, home)
  return home
}

/** In an SDK's variable an address lacks the path that the SDK adds. */
function withPath(pathname: string, added: string | undefined): string {
  const path = trimSlash(pathname)
  return added === undefined || path.endsWith(added) ? path : `${path}${added}`
}

function trimSlash(url: string): string {
  return url.replace(/\/+$/, '')
}
