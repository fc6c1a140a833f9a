// Keys must not reach logs, errors or the store. Headers are shown by allow-list: an unknown one is hidden.

import type { Failure } from '../core/error.ts'

const shownHeaders = new Set([
  'accept',
  'accept-encoding',
  'anthropic-beta',
  'anthropic-version',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'http-referer',
  'openai-beta',
  'openai-processing-ms',
  'openai-version',
  'request-id',
  'retry-after',
  'retry-after-ms',
  'server',
  'transfer-encoding',
  'user-agent',
  'x-generation-id',
  'x-request-id',
  'x-should-retry',
  'x-title',
])
const shownPrefixes = ['x-ratelimit-', 'anthropic-ratelimit-']

const hidden = '[hidden]'

export function redactHeaders(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, isShown(name) ? value : hidden]))
}

/** The values of headers that may not be shown, for `redactText`. */
export function secretsIn(headers: Record<string, string>): string[] {
  const secrets: string[] = []
  for (const [name, value] of Object.entries(headers)) {
    if (isShown(name)) continue
    const bare = value.replace(/^(Bearer|Basic|Token)\s+/i, '').trim()
    if (bare.length >= shortestSecret) secrets.push(bare)
  }
  return secrets
}

/** Shorter values are not keys, and would match inside ordinary words. */
const shortestSecret = 8

/** Strings that look like keys of known providers are hidden too: an error may mention a key that is not ours. */
const keyShapes = [
  /\b(?:sk|pk|rk|gsk|xai|csk|fw|tgp|hf|pplx|r8|nvapi)[-_][A-Za-z0-9_-]{16,}/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  // Keys and tokens of clouds: Bedrock's, AWS's, Google's, and any signed token.
  /\b(?:ABSK|bedrock-api-key-)[A-Za-z0-9+/=]{16,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bya29\.[A-Za-z0-9_.-]{16,}/g,
  /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}/g,
  /\b(Bearer)\s+[A-Za-z0-9._~+/-]{16,}=*/gi,
]

export function redactText(text: string, secrets: readonly string[]): string {
  let clean = text
  for (const secret of secrets.toSorted((a, b) => b.length - a.length)) {
    clean = clean.replaceAll(secret, hidden)
    const escaped = JSON.stringify(secret).slice(1, -1)
    if (escaped !== secret) clean = clean.replaceAll(escaped, hidden)
  }
  for (const shape of keyShapes) clean = clean.replaceAll(shape, hidden)
  return clean
}

/** A provider may echo the key in its error, even in the middle of a stream. */
export function redactFailure(failure: Failure, headers: Record<string, string>): Failure {
  const text = JSON.stringify(failure)
  const clean = redactText(text, secretsIn(headers))
  return clean === text ? failure : (JSON.parse(clean) as Failure)
}

function isShown(name: string): boolean {
  const lower = name.toLowerCase()
  return shownHeaders.has(lower) || shownPrefixes.some((prefix) => lower.startsWith(prefix))
}
