// Who is asking. The one place that turns headers into an owner and what it may do: a limit that holds for one form of
// the header and not for another is no limit.

import { SynapseError } from '../core/error.ts'
import type { Store } from '../store/store.ts'
import { findKey, unauthorized, type Access } from './keys.ts'

export interface Principal {
  owner: string
  access: Access
  /** Absent: no one gave a key, and none is needed here. */
  keyId?: string
  models?: string[]
  budget?: number
}

export async function principalOf(
  store: Store,
  headers: Headers,
  options: { keysRequired: boolean; now: number },
): Promise<Principal> {
  const given = keyIn(headers)
  if (given === undefined) {
    if (!options.keysRequired) return { owner: 'local', access: 'write' }
    throw unauthorized('A key is needed: send it as "Authorization: Bearer syn_…".')
  }
  const { id, owner, access, models, budget } = await findKey(store, given, options.now)
  return { owner, access, keyId: id, ...(models && { models }), ...(budget !== undefined && { budget }) }
}

export function allow(principal: Principal, access: Access): void {
  if (access === 'read' || principal.access === 'write') return
  throw new SynapseError({ kind: 'permission', message: 'This key may only read.' })
}

/** `model` is the whole name, `provider/model`, as it was resolved. */
export function allowModel({ models }: Principal, model: string): void {
  if (!models || models.some((pattern) => matches(pattern, model))) return
  throw new SynapseError({
    kind: 'permission',
    message: `This key is not allowed to use ${model}; it may use ${models.join(', ')}.`,
  })
}

function keyIn(headers: Headers): string | undefined {
  const authorization = headers.get('authorization')
  const plain = headers.get('x-api-key')
  if (authorization === null) return plain?.trim()
  const [, bearer] = /^Bearer +(\S+)$/i.exec(authorization.trim()) ?? []
  if (bearer === undefined) throw unauthorized('The Authorization header must be "Bearer syn_…".')
  if (plain !== null && plain.trim() !== bearer) throw unauthorized('Two different keys were sent.')
  return bearer
}

function matches(pattern: string, model: string): boolean {
  const pieces = pattern.split('*')
  const [first = ''] = pieces
  const last = pieces.at(-1) ?? ''
  if (pieces.length === 1) return pattern === model
  if (!model.startsWith(first) || !model.endsWith(last) || model.length < first.length + last.length) return false
  let at = first.length
  for (const piece of pieces.slice(1, -1)) {
    const found = model.indexOf(piece, at)
    if (found < 0 || found + piece.length > model.length - last.length) return false
    at = found + piece.length
  }
  return true
}
