// A call whose arguments come in pieces (Vertex, `streamFunctionCallArguments`): each piece has a JSON path for its
// position, and texts continue until one comes without `willContinue`. Elsewhere a call is complete in one chunk.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'

export interface PartialCall {
  /** Adds a further `functionCall` of the stream. */
  add(call: JsonObject): void
  /** The arguments so far. */
  args(): JsonObject
}

export function partialCall(): PartialCall {
  const base: JsonObject = {}
  const pieces = new Map<string, string[]>()
  const values = new Map<string, Json>()
  return {
    add(call) {
      if (isObject(call.args)) Object.assign(base, call.args)
      for (const piece of Array.isArray(call.partialArgs) ? call.partialArgs : []) {
        if (!isObject(piece) || typeof piece.jsonPath !== 'string') continue
        if (typeof piece.stringValue !== 'string') {
          values.set(piece.jsonPath, piece.numberValue ?? piece.boolValue ?? null)
          continue
        }
        const texts = pieces.get(piece.jsonPath)
        if (texts) texts.push(piece.stringValue)
        else pieces.set(piece.jsonPath, [piece.stringValue])
      }
    },
    args() {
      const args = structuredClone(base)
      for (const [path, texts] of pieces) place(args, stepsOf(path), texts.join(''))
      for (const [path, value] of values) place(args, stepsOf(path), value)
      return args
    },
  }
}

/** `$.a['b c'][0]` as `a`, `b c`, 0. */
function stepsOf(path: string): (string | number)[] {
  return [...path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\[(?:'([^']*)'|"([^"]*)")\]/g)].map(
    ([, name, index, single, double]) => (index === undefined ? (name ?? single ?? double ?? '') : Number(index)),
  )
}

function place(root: JsonObject, steps: readonly (string | number)[], value: Json): void {
  let at: Json = root
  for (const [depth, step] of steps.entries()) {
    const next = steps[depth + 1]
    if (next === undefined) {
      put(at, step, value)
      return
    }
    let inside: Json | undefined = get(at, step)
    if (!isObject(inside) && !Array.isArray(inside)) {
      inside = typeof next === 'number' ? [] : {}
      put(at, step, inside)
    }
    at = inside
  }
}

function get(at: Json, step: string | number): Json | undefined {
  if (Array.isArray(at)) return typeof step === 'number' ? at[step] : undefined
  return isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined
}

/** A list grows by one at most, whatever the index; and `__proto__` is a name like any other. */
function put(at: Json, step: string | number, value: Json): void {
  if (Array.isArray(at)) {
    if (typeof step === 'number') at[Math.min(step, at.length)] = value
  } else if (isObject(at)) {
    Object.defineProperty(at, step, { value, enumerable: true, writable: true, configurable: true })
  }
}
