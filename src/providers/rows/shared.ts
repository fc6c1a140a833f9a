// How keys are mostly sent, and what can mostly be relied on.

import type { Capabilities } from '../../wires/wire.ts'
import type { Auth } from '../provider.ts'

export const bearer: Auth = { header: 'authorization', prefix: 'Bearer ' }

export const images: string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/** What can be relied on where somebody else serves OpenAI's chat wire. */
export const compatibleChat: Partial<Capabilities> = {
  media: images,
  systemRole: 'system',
  outputField: 'max_tokens',
  prefill: false,
}
