// The tools that the command line offers: harmless, and enough to see a tool turn happen.

import { badInput } from '../core/error.ts'
import { isObject, type Json } from '../core/json.ts'
import type { Tool } from '../core/tool.ts'
import { zoneOf } from '../emulator/city-zones.ts'

const clock: Tool = {
  name: 'clock',
  description: 'Tells the current date and time.',
  input: {
    type: 'object',
    properties: {
      zone: { type: 'string', description: 'IANA time zone, such as Europe/Berlin, or a city. Default: local.' },
    },
    additionalProperties: false,
  },
  repeatable: true,
  run(input) {
    const zone = field(input, 'zone')
    return typeof zone === 'string' && zone !== '' ? timeIn(zone) : localTime(new Date())
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

function timeIn(place: string): string {
  const timeZone = zoneOf(place)
  if (timeZone === undefined) {
    throw badInput(`Unknown time zone ${JSON.stringify(place)}. Give an IANA zone, such as Europe/Berlin, or a city.`)
  }
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long', timeZone }).format()
}

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

/** In the same format, by hand: the first use of Intl takes longer than the rest of an answer. */
function localTime(now: Date): string {
  const two = (count: number) => String(count).padStart(2, '0')
  const offset = -now.getTimezoneOffset()
  const east = `${offset < 0 ? '-' : '+'}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`
  const local = new Date(now.getTime() + offset * 60_000).toISOString()
  return `${days[now.getDay()]}, ${local.slice(0, 10)} at ${local.slice(11, 19)} UTC${offset === 0 ? '' : east}`
}

function field(input: Json, name: string): Json | undefined {
  return isObject(input) ? input[name] : undefined
}
