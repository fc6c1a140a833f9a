// Whether a request has an allowed origin. A page elsewhere can make a browser send requests to this machine, by its
// address (detected by `Origin`) or by a DNS name that it points here (detected by `Host`).

import { isIP } from 'node:net'
import { SynapseError } from '../core/error.ts'

export function checkHost(headers: Headers, names: readonly string[]): void {
  const name = nameIn(headers.get('host') ?? '')
  if (isOurs(name, names)) return
  throw foreign(
    `This server does not accept the host name "${name.slice(0, 100)}": add it with "synapse serve --name".`,
  )
}

/** For everything but the page itself, which may be linked to. */
export function checkOrigin(headers: Headers): void {
  const host = headers.get('host') ?? ''
  const origin = headers.get('origin')
  if (origin !== null && hostIn(origin) !== host.toLowerCase()) throw foreign('Requests from other sites are refused.')
  // More reliable than Origin, which a plain GET of another site does not have.
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin' && site !== 'none')
    throw foreign('Requests from other sites are refused.')
}

/** An address cannot be rebound, only a name can. */
function isOurs(name: string, names: readonly string[]): boolean {
  return name === 'localhost' || isIP(name) !== 0 || names.includes(name)
}

function nameIn(host: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{1,5})?$/.exec(host.toLowerCase()) ?? []
  return bracketed ?? plain ?? ''
}

function hostIn(origin: string): string | undefined {
  const [, host] = /^https?:\/\/([^/]+)$/.exec(origin.toLowerCase()) ?? []
  return host
}

function foreign(message: string): SynapseError {
  return new SynapseError({ kind: 'permission', message })
}
