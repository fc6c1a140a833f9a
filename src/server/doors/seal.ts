// Tokens that name a stored reply: a version, the id of its exchange, and a code that only this store's secret can
// create, for this owner. They contain nothing of the conversation.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { SynapseError } from '../../core/error.ts'
import { uuidFrom } from '../../store/ids.ts'
import type { Store } from '../../store/store.ts'
import { isToken, tokenPrefix } from '../../wires/shared/sealed-token.ts'
import { serverOwner } from '../keys.ts'

export interface Seal {
  token(owner: string, exchangeId: string): string
  /** The exchange that a token names; undefined: it was not made here, or not for this owner. */
  open(owner: string, token: string): string | undefined
}

const idBytes = 16
const macBytes = 17

const seals = new WeakMap<Store, Promise<Seal>>()

/** The secret is stored, so that tokens are valid after a restart and on every server of the store. */
export function sealOf(store: Store): Promise<Seal> {
  const before = seals.get(store)
  if (before) return before
  const made = secretOf(store).then(sealWith)
  seals.set(store, made)
  made.catch(() => seals.delete(store))
  return made
}

function sealWith(secret: Buffer): Seal {
  const mac = (owner: string, id: Buffer) =>
    createHmac('sha256', secret).update(`${owner}\n`).update(id).digest().subarray(0, macBytes)
  return {
    token(owner, exchangeId) {
      const id = Buffer.from(exchangeId.replaceAll('-', ''), 'hex')
      return tokenPrefix + Buffer.concat([id, mac(owner, id)]).toString('base64')
    },
    open(owner, token) {
      if (!isToken(token)) return undefined
      const bytes = Buffer.from(token.slice(tokenPrefix.length), 'base64')
      if (bytes.length !== idBytes + macBytes) return undefined
      const id = bytes.subarray(0, idBytes)
      if (!timingSafeEqual(bytes.subarray(idBytes), mac(owner, id))) return undefined
      return uuidFrom(id.toString('hex'))
    },
  }
}

async function secretOf(store: Store): Promise<Buffer> {
  const place = { owner: serverOwner, kind: 'door-seal', id: 'secret' }
  const find = async () => {
    const secret = (await store.record(place.owner, place.kind, place.id))?.data['secret']
    return typeof secret === 'string' ? Buffer.from(secret, 'base64') : undefined
  }
  const found = await find()
  if (found) return found
  const secret = randomBytes(32)
  try {
    await store.putRecords([{ ...place, data: { secret: secret.toString('base64') }, version: 0 }])
    return secret
  } catch (error) {
    // Another server was first.
    const other = error instanceof SynapseError && error.failure.kind === 'conflict' ? await find() : undefined
    if (!other) throw error
    return other
  }
}
