// What is open on the page besides the conversation.

import { effect, signal } from '@preact/signals'

export const pickingModel = signal(false)
export const changingSettings = signal(false)
/** The message that is being edited. */
export const editing = signal<string | undefined>(undefined)
export const sidebarOpen = signal(false)
/** Below this width the inspector covers the conversation, so there it opens only when asked for. */
const isNarrow = matchMedia('(max-width: 1180px)').matches
export const inspectorOpen = signal(!isNarrow && localStorage.getItem('synapse-inspector') !== 'closed')
/** The inspector over the whole page, for two requests side by side. */
export const inspectorWide = signal(false)
/** What is being written, as text; the inspector shows the request it would make. */
export const draft = signal('')

effect(() => {
  const state = inspectorOpen.value ? 'open' : 'closed'
  if (!isNarrow) localStorage.setItem('synapse-inspector', state)
})
