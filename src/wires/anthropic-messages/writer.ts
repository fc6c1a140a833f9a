// What the parts of the encoder share, and the decision how a reply is written: can its native data be sent?

import type { Note } from '../../core/context.ts'
import type { Reply } from '../../core/message.ts'
import type { NameMap } from '../shared/names.ts'
import type { Target } from '../wire.ts'
import { isClaude } from './models.ts'
import { protocolId, type Block } from './types.ts'
import { isIntact } from '../shared/replayable.ts'

export interface Writer {
  target: Target
  notes: Note[]
  names: Pick<NameMap, 'toWire'>
  idOf(callId: string): string
}

/** A block, and the index of its message in the context; -1 = ours. */
export interface Item {
  block: Block
  message: number
}

/**
 * A thinking signature is valid on every host of a Claude model, so a Claude reply may be replayed to any other Claude;
 * a reply of another model on this wire is valid at its own provider only.
 */
export function isReplayed(reply: Reply, target: Target): boolean {
  if (target.quirks.toolMessages || !target.capabilities.tools) return false
  return isOfIssuer(reply, target) && isIntact(reply)
}

export function isOfIssuer({ origin }: Reply, target: Target): boolean {
  if (origin.protocol !== protocolId) return false
  const bothClaude = isClaude(origin.model) === isClaude(target.model)
  if (origin.provider !== target.provider) return bothClaude && isClaude(target.model)
  return bothClaude || target.provider === 'anthropic'
}
