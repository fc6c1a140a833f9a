// A refusal that names a field of the history, in the format of each wire. A provider's reply is sent back to it,
// including unknown fields; if it does not accept one, it names it, and the field is left out.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'

/** Each finds a field, or the path to one (checked 2026-11). */
const patterns: readonly RegExp[] = [
  // OpenAI: Unknown parameter: 'input[1].x'.
  /Unknown parameter: '([^']+)'/g,
  // Anthropic and every other server that checks with pydantic: messages.1.content.0.text.x: Extra inputs are not permitted
  /([\w.[\]-]+): Extra inputs are not permitted/g,
  // Gemini: Unknown name "x" at 'contents[1].parts[0]': Cannot find field.
  /Unknown name "([^"]+)"/g,
  // Groq: 'messages.1' : property 'x' is unsupported
  /property '([^']+)' is unsupported/g,
  // Servers in Rust: unknown field `x`, expected one of …
  /unknown field `([^`]+)`/g,
  // Servers that check with JSON Schema: Additional properties are not allowed ('x' was unexpected)
  /Additional properties are not allowed \('([^']+)' was unexpected\)/g,
]

/** Without these a reply is not a reply: a refusal that names one concerns something else. */
const essential: ReadonlySet<string> = new Set(
  (
    'role type content text parts id call_id name input arguments args function tool_calls functionCall ' +
    'thinking signature thoughtSignature encrypted_content summary'
  ).split(' '),
)

export function refusedFields(message: string): string[] {
  const fields = patterns.flatMap((pattern) => [...message.matchAll(pattern)].map(([, path = '']) => lastStep(path)))
  return [...new Set(fields)].filter((field) => field !== '' && !essential.has(field))
}

function lastStep(path: string): string {
  return (
    path
      .replaceAll(/\[\d+\]/g, '')
      .split('.')
      .at(-1) ?? ''
  )
}

/** The parts of a reply with provider fields; everything else inside is data, such as the arguments of a call. */
const structure: ReadonlySet<string> = new Set(
  'content tool_calls function custom summary thinking citations annotations functionCall'.split(' '),
)

/** The same value if none of the fields is in it. */
export function withoutFields(value: Json, fields: ReadonlySet<string>): Json {
  if (Array.isArray(value)) {
    const items = value.map((item) => withoutFields(item, fields))
    return items.some((item, i) => item !== value[i]) ? items : value
  }
  if (!isObject(value)) return value
  const remaining: JsonObject = {}
  let changed = false
  for (const [key, inner] of Object.entries(value)) {
    if (fields.has(key)) {
      changed = true
      continue
    }
    remaining[key] = structure.has(key) && inner !== undefined ? withoutFields(inner, fields) : inner
    changed ||= remaining[key] !== inner
  }
  return changed ? remaining : value
}
