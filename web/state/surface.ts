// What is open on the page besides the conversation.

import { signal } from '@preact/signals'

export const pickingModel = signal(false)
export const changingSettings = signal(false)
export const importing = signal(false)
export const connecting = signal(false)
/** The message being edited. */
export const editing = signal<string | undefined>(undefined)
export const sidebarOpen = signal(false)
/** Below this width the inspector covers the conversation, so there it opens only on request. */
const isNarrow = matchMedia('(max-width: 1180px)').matches
const chosen = localStorage.getItem('synapse-inspector')
export const inspectorOpen = signal(!isNarrow && chosen === 'open')
/** Until the user has opened or closed it, the inspector opens automatically once there is something to show. */
export const opensByItself = signal(!isNarrow && chosen === null)
/** The inspector over the whole page, for two requests side by side. */
export const inspectorWide = signal(false)
/** The current draft as text; the inspector shows the request it would make. */
export const draft = signal('')

inspectorOpen.subscribe((isOpen) => {
  if (isNarrow || isOpen === (localStorage.getItem('synapse-inspector') === 'open')) return
  opensByItself.value = false
  localStorage.setItem('synapse-inspector', isOpen ? 'open' : 'closed')
})
