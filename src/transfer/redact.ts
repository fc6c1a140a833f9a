// Removes what looks like a secret or a personal address from every text of an export, by its shape. The result must
// still be reviewed.

import type { Json } from '../core/json.ts'
import { redactText } from '../transport/redact.ts'

/** `secrets`: texts to remove wherever they occur, such as the configured keys. */
export function redactor(secrets: readonly string[]): (value: Json) => Json {
  return (value) =>
    JSON.parse(
      JSON.stringify(value, (key, item: unknown) =>
        typeof item !== 'string' || verbatim.has(key) ? item : secretName.test(key) ? hidden : clean(item, secrets),
      ),
    ) as Json
}

/** Values of environment variables that are keys by their name. */
export function secretsInEnv(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL/i.test(name) && value !== undefined && value.length >= 8 ? [value] : [],
  )
}

/** The structure of the archive, and media. */
const verbatim = new Set(['base64', 'sha256', 'bodySha256', 'argsSha256', 'id', 'parentId', 'entryId', 'callId'])

const hidden = '[hidden]'

const secretName =
  /^(?:api[_-]?key|access[_-]?token|refresh[_-]?token|secret|token|password|passwd|authorization|cookie)$/i

const shapes: [RegExp, string][] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, hidden],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, hidden],
  [/\b(?:ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abprs]|npm|dop_v1|syn)[-_][A-Za-z0-9_-]{16,}/g, hidden],
  // Three parts in base64url, the first of which is a JSON object.
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g, hidden],
  [/\b([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/:@]{1,200}:[^\s/@]{1,200}@/gi, `$1${hidden}@`],
  [/\b((?:api[_-]?key|secret|token|password|passwd|pwd)["']?\s{0,5}[:=]\s{0,5}["']?)[^\s"',;&}]{6,}/gi, `$1${hidden}`],
  [/[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu, hidden],
]

function clean(text: string, secrets: readonly string[]): string {
  let redacted = redactText(text, secrets)
  for (const [shape, replacement] of shapes) redacted = redacted.replaceAll(shape, replacement)
  return redacted
}
