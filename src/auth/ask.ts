// One request to a token or metadata service, and its JSON answer. Redirects are not followed, and an error repeats
// nothing of the request or the answer except the service's own short name for the problem.

import { SynapseError } from '../core/error.ts'
import { isObject, parseJson, type JsonObject } from '../core/json.ts'
import type { TokenFetch } from './authorizer.ts'

export interface TokenRequest {
  method?: 'GET' | 'POST' | 'PUT'
  url: string
  headers?: Record<string, string>
  form?: Record<string, string>
}

/** `who` begins the error message: "Google's token service". */
export async function askJson(who: string, request: TokenRequest, fetch: TokenFetch): Promise<JsonObject> {
  const text = await askText(who, request, fetch)
  const body = parseJson(text)
  if (isObject(body)) return body
  throw tokenError(who, 'answered with something that is not JSON')
}

export async function askText(who: string, request: TokenRequest, fetch: TokenFetch): Promise<string> {
  const { method = 'GET', url, headers = {}, form } = request
  let reply
  try {
    reply = await fetch(url, {
      method,
      headers: { ...headers, ...(form && { 'content-type': 'application/x-www-form-urlencoded' }) },
      ...(form && { body: new URLSearchParams(form).toString() }),
      redirect: 'manual',
      signal: AbortSignal.timeout(10_000),
    })
  } catch (error) {
    throw tokenError(who, `could not be reached at ${new URL(url).host}`, 'network', error)
  }
  const text = await reply.text()
  if (reply.status >= 200 && reply.status < 300) return text
  const body = parseJson(text)
  const code = isObject(body) && typeof body.error === 'string' ? ` (${body.error.slice(0, 60)})` : ''
  const kind = reply.status === 429 || reply.status >= 500 ? 'overloaded' : 'auth'
  throw tokenError(who, `answered ${reply.status}${code}`, kind)
}

function tokenError(
  who: string,
  what: string,
  kind: 'auth' | 'network' | 'overloaded' = 'auth',
  cause?: unknown,
): SynapseError {
  const hint = kind === 'auth' ? '; check the credentials' : '; try again'
  return new SynapseError({ kind, message: `${who} ${what}${hint}.` }, { cause })
}
