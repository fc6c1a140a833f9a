// An error outside a run, until it is dismissed. A dialog shows it itself: nothing behind one can be reached.

import { trouble } from '../state/session.ts'
import { IconButton } from './icon-button.tsx'

export function Trouble() {
  if (!trouble.value) return null
  return (
    <div class="trouble" role="alert">
      <p>{trouble.value.message}</p>
      <IconButton icon="close" label="Dismiss" onClick={() => (trouble.value = undefined)} />
    </div>
  )
}
