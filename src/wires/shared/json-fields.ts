// Fields of untrusted JSON with the expected type: a field of another type counts as absent.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'

export function textIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

export function numberIn(value: Json | undefined): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}

export function listIn(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : []
}

export function objectsIn(value: Json | undefined): JsonObject[] {
  return listIn(value).filter(isObject)
}
