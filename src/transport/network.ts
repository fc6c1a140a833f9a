// The meaning of a failed connection, as a sentence. Node hides the reason in the `cause` of "fetch failed".

import type { ErrorKind, Failure } from '../core/error.ts'

/** Undefined: the caller is at fault, not the connection. `began`: the headers of the reply had already arrived. */
export function networkFailure(
  error: unknown,
  url: string,
  provider = 'The provider',
  began = false,
): Failure | undefined {
  const code = codeOf(error)
  const row = reasons.find(({ codes }) => codes.test(code ?? ''))
  if (!row && !isTransport(error, code)) return undefined
  const shown = code ? ` (${code})` : ''
  const host = URL.parse(url)?.host ?? 'its address'
  return {
    kind: row?.kind ?? 'network',
    message: began
      ? `The connection to ${provider} broke in the middle of the reply${shown}.`
      : `${provider} could not be reached at ${host}: ${row?.words ?? 'the connection failed'}${shown}.`,
    ...(code !== undefined && { code }),
  }
}

const reasons: readonly { codes: RegExp; kind: ErrorKind; words: string }[] = [
  { codes: /^ECONNREFUSED$/, kind: 'network', words: 'nothing listens there; check that the server runs' },
  {
    codes: /^(ENOTFOUND|EAI_AGAIN)$/,
    kind: 'network',
    words: 'the host name was not found; check the network and the base URL',
  },
  {
    codes: /^(EHOSTUNREACH|ENETUNREACH|ENETDOWN)$/,
    kind: 'network',
    words: 'there is no route to it; check the network',
  },
  { codes: /TIMEOUT|^ETIMEDOUT$/, kind: 'timeout', words: 'it took too long' },
  {
    codes: /CERT|^ERR_(TLS|SSL)|SIGNED|^EPROTO$/,
    kind: 'network',
    words: 'no secure connection could be made; check its certificate',
  },
  { codes: /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, kind: 'network', words: 'the connection was closed' },
  { codes: /^HPE_/, kind: 'malformed-reply', words: 'the server there does not speak HTTP' },
  { codes: /^Z_/, kind: 'malformed-reply', words: 'its reply cannot be decompressed' },
]

function isTransport(error: unknown, code: string | undefined): boolean {
  if (code !== undefined) return /^E[A-Z]+$|^UND_ERR_/.test(code)
  return error instanceof TypeError && /^(fetch failed|terminated)$/.test(error.message)
}

function codeOf(error: unknown): string | undefined {
  for (let cause = error, depth = 0; depth < 5 && cause instanceof Error; cause = cause.cause, depth++) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code
  }
  return undefined
}
