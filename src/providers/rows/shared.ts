// How keys are usually sent, and the usual capabilities.

import type { Capabilities } from '../../wires/wire.ts'
import type { Auth } from '../provider.ts'

export const bearer: Auth = { header: 'authorization', prefix: 'Bearer ' }

export const images: string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/** What can be relied on when a third party serves OpenAI's chat wire. */
export const compatibleChat: Partial<Capabilities> = {
  media: images,
  systemRole: 'system',
  outputField: 'max_tokens',
  prefill: false,
}
