// What is open on the page besides the conversation.

import { effect, signal } from '@preact/signals'

export const pickingModel = signal(false)
export const changingSettings = signal(false)
export const sidebarOpen = signal(false)
export const inspectorOpen = signal(localStorage.getItem('synapse-inspector') !== 'closed')
/** The inspector over the whole page, for two requests side by side. */
export const inspectorWide = signal(false)
/** What is being written, as text; the inspector shows the request it would make. */
export const draft = signal('')

effect(() => localStorage.setItem('synapse-inspector', inspectorOpen.value ? 'open' : 'closed'))
