// Variable parts of addresses: `{region}`, `{project}` and the like, which depend on the user's account and are read
// from a variable. Only a valid host label or path segment is filled in, so that no value leads to another host.

import type { Env } from '../auth/authorizer.ts'
import { badInput } from '../core/error.ts'
import type { AddressPlace, ProviderRow } from './provider.ts'

type Placed = Pick<ProviderRow, 'id' | 'places'>

/**
 * Throws one sentence that names the variable of the first part without a value. `seen`: nothing is sent, so an example
 * value is used.
 */
export function filledIn(template: string, row: ProviderRow, env: Env, seen = false): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => valueOf(name, row, env, seen))
}

/** The same with placeholder values. */
export function exampleOf(template: string, row: Placed): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => exampleValue(name, row))
}

/** Undefined if it has no value, or the row has no such part. */
export function placeIn(name: string, row: ProviderRow, env: Env): string | undefined {
  const place = row.places?.[name]
  if (!place || 'from' in place) return undefined
  return valueFor(place, env)?.value ?? place.usual
}

function valueOf(name: string, row: ProviderRow, env: Env, seen: boolean): string {
  const place = placeOf(name, row)
  if ('from' in place) return chooseCase(place, valueOf(place.from, row, env, seen))
  const setting = valueFor(place, env)
  const value = setting?.value ?? place.usual ?? (seen ? place.example : undefined)
  if (value === undefined) throw badInput(`${row.name} needs ${place.what}: set ${place.variables.join(' or ')}.`)
  if (/^[A-Za-z0-9]([\w.:-]*[A-Za-z0-9])?$/.test(value) && !value.includes('..')) return value
  throw badInput(`${setting?.source ?? name} is not ${place.what}: ${JSON.stringify(value)}.`)
}

function exampleValue(name: string, row: Placed): string {
  const place = placeOf(name, row)
  return 'from' in place ? chooseCase(place, exampleValue(place.from, row)) : place.example
}

function placeOf(name: string, row: Placed): AddressPlace {
  const place = row.places?.[name]
  if (!place) throw badInput(`The address of ${row.id} has a placeholder {${name}} that its row does not define.`)
  return place
}

function valueFor(
  place: Exclude<AddressPlace, { from: string }>,
  env: Env,
): { value: string; source: string } | undefined {
  const variable = place.variables.find((name) => env[name]?.trim())
  return variable === undefined ? undefined : { value: env[variable]?.trim() ?? '', source: variable }
}

function chooseCase({ cases }: Extract<AddressPlace, { from: string }>, value: string): string {
  const match = cases.find(([beginning]) =>
    beginning.endsWith('$') ? value === beginning.slice(0, -1) : beginning === '*' || value.startsWith(beginning),
  )
  return (match?.[1] ?? value).replaceAll('*', value)
}
