// The message of an emulated reply, for wires that keep a whole assistant message as `native`.

import { isObject, type JsonObject } from '../../core/json.ts'
import type { Reply } from '../../core/message.ts'
import { wireIds, type IdGrammar } from '../shared/ids.ts'

/** The native message if the reply came from this wire, otherwise one made from its parts. */
export function assistantMessage(
  reply: Reply,
  protocolId: string,
  grammar: IdGrammar,
  fromParts: (reply: Reply, idOf: (callId: string) => string) => JsonObject,
): JsonObject {
  const [native] = reply.native
  if (reply.origin.protocol === protocolId && isObject(native)) return native
  return fromParts(
    reply,
    wireIds([reply], grammar, () => true),
  )
}
