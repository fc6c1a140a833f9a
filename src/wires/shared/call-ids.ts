// Our ids for the calls of one reply, for the decoders: the caller's scheme, or the provider's id if it is unique.

import type { DecoderOptions } from '../wire.ts'

export function callIds(options: DecoderOptions | undefined): (alias: string | undefined) => string {
  const used = new Set<string>()
  let position = 0
  return (alias) => {
    const n = position++
    if (options?.callId) return options.callId(n, alias)
    const id = alias && !used.has(alias) ? alias : `call-${n}`
    used.add(id)
    return id
  }
}
