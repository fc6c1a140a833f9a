// The tools that the command line offers: harmless, and enough to see a tool turn happen.

import { isObject, type Json } from '../core/json.ts'
import type { Tool } from '../core/tool.ts'

const clock: Tool = {
  name: 'clock',
  description: 'Tells the current date and time.',
  input: {
    type: 'object',
    properties: { zone: { type: 'string', description: 'IANA time zone, such as Europe/Berlin. Default: local.' } },
    additionalProperties: false,
  },
  repeatable: true,
  run(input) {
    const zone = field(input, 'zone')
    const timeZone = typeof zone === 'string' && zone !== '' ? zone : undefined
    return new Intl.DateTimeFormat('en-GB', {
      dateStyle: 'full',
      timeStyle: 'long',
      ...(timeZone && { timeZone }),
    }).format()
  },
}

const add: Tool = {
  name: 'add',
  description: 'Adds two numbers.',
  input: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
    additionalProperties: false,
  },
  repeatable: true,
  run(input) {
    const [a, b] = [field(input, 'a'), field(input, 'b')]
    if (typeof a !== 'number' || typeof b !== 'number') throw new TypeError('a and b must be numbers')
    return a + b
  },
}

export const builtInTools: readonly Tool[] = [clock, add]

function field(input: Json, name: string): Json | undefined {
  return isObject(input) ? input[name] : undefined
}
