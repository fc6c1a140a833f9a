// What OpenAI refuses and a translation would lose without a word: another provider would not see it.

import type { Failure } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import { objectsIn } from '../shared/json-fields.ts'
import { functionIn } from '../shared/request-options.ts'
import { missing, wrongValue } from './rules-context.ts'
import { roles } from './rules-messages.ts'

export function untranslatable({ tools, input }: JsonObject): Failure | undefined {
  const nameless = objectsIn(tools).findIndex((tool) => tool.type === 'function' && !functionIn(tool))
  if (nameless >= 0) return failureOf(missing('C9', `tools[${nameless}].name`))
  const items = objectsIn(input)
  const index = items.findIndex(({ type, role }) => (type ?? 'message') === 'message' && isUnknown(role))
  if (index < 0) return undefined
  return failureOf(wrongValue('R14', `input[${index}]`, String(items[index]?.role), roles))
}

function isUnknown(role: JsonObject[string] | undefined): boolean {
  return role !== undefined && role !== null && !roles.includes(String(role))
}

function failureOf({ message, code, param }: ReturnType<typeof missing>): Failure {
  return { kind: 'bad-input', message, ...(code && { code }), ...(param && { param }) }
}
