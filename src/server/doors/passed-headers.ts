// The headers of requests and answers that pass through: not those of one connection, and no credentials.

import type { FetchedReply } from '../../transport/send.ts'

/** Specific to one connection, or to decoded content. */
const ofConnection = new Set(
  'connection keep-alive te trailer transfer-encoding upgrade content-length content-encoding set-cookie set-cookie2'.split(
    ' ',
  ),
)

/**
 * Credentials and routing headers are for this server only. An organization or project is that of the client's own key,
 * and would be billed with that of the server.
 */
const ofClient = new Set(
  'authorization x-api-key api-key x-goog-api-key openai-organization openai-project x-goog-user-project cookie cookie2 host origin referer forwarded x-real-ip via accept-encoding idempotency-key expect'.split(
    ' ',
  ),
)

function isOfConnection(name: string): boolean {
  return ofConnection.has(name) || name.startsWith('proxy-')
}

function isOfClient(name: string): boolean {
  return ofClient.has(name) || /^(?:x-forwarded|sec|x-synapse)-/.test(name)
}

/**
 * The headers of a client that are passed on to the provider. Those that the provider's row sets are the row's, except
 * those of the API itself.
 */
export function requestHeaders(
  headers: Headers,
  ofRow: Readonly<Record<string, string>>,
  ofApi: RegExp | undefined,
): Record<string, string> {
  const set = new Set(Object.keys(ofRow).map((name) => name.toLowerCase()))
  const given = [...headers].filter(
    ([name, value]) =>
      !isOfConnection(name) &&
      !isOfClient(name) &&
      (!set.has(name) || ofApi?.test(name)) &&
      !/[^\t\x20-\x7e\x80-\xff]/.test(value),
  )
  return Object.fromEntries(given)
}

/** What a browser or a client would apply to this server, but is about the provider's. */
const ofHost =
  /^(?:strict-transport-security|content-security-policy|access-control-|cross-origin-|alt-svc$|clear-site-data$|nel$|report-to$|reporting-endpoints$|www-authenticate$)/

export function responseHeaders(headers: FetchedReply['headers']): Record<string, string> {
  return Object.fromEntries(
    [...headers].filter(([name]) => !isOfConnection(name.toLowerCase()) && !ofHost.test(name.toLowerCase())),
  )
}
