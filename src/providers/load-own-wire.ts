// The wire of a row that brings its own module. The reader of the row has checked whether the module may be loaded.

import { pathToFileURL } from 'node:url'
import { badInput } from '../core/error.ts'
import { isObject } from '../core/json.ts'
import { defineWire, type WireDefinition } from '../wires/define-wire.ts'
import type { Wire } from '../wires/wire.ts'

export async function loadOwnWire(path: string, id: string): Promise<Wire> {
  let exported: Record<string, unknown>
  try {
    exported = (await import(pathToFileURL(path).href)) as Record<string, unknown>
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n', 1)[0] : String(error)
    throw badInput(`The module ${path} of the wire ${id} cannot be loaded: ${why}`)
  }
  const found = Object.values(exported).find(
    (value): value is WireDefinition & object => isObject(value) && value['id'] === id,
  )
  if (!found) throw badInput(`The module ${path} exports no wire with the id "${id}".`)
  return defineWire(found)
}
