// Interactions that a server stores for its clients.

import type { Failure } from '../../core/error.ts'
import type { StoredReplies } from '../service.ts'

export const storedInteractions: StoredReplies = {
  endpoint: 'interactions',
  fields: ({ previous_interaction_id: id }) => (typeof id === 'string' ? { previous_interaction_id: id } : {}),
  previousId: (body) => body.previous_interaction_id,
  unknown,
  unknownPrevious: unknown,
  deleted: () => ({}),
  notCancellable: 'Only interactions that run in the background can be cancelled.',
}

function unknown(id: string): Failure {
  return { kind: 'not-found', message: `Interaction ${id} not found.` }
}
