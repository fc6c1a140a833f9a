// The address says what is open: `/c/<conversation>`, with `#<entry>` for a place in it.

import { close, open } from './conversation.ts'
import { trouble } from './session.ts'

export function addressOf(id: string, entryId?: string): string {
  return `/c/${encodeURIComponent(id)}${entryId === undefined ? '' : `#${encodeURIComponent(entryId)}`}`
}

/** For links: a click with the left button alone stays on the page. */
export function onLink(event: MouseEvent): void {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return
  if (!(event.currentTarget instanceof HTMLAnchorElement)) return
  event.preventDefault()
  visit(event.currentTarget.pathname + event.currentTarget.hash)
}

export function visit(address: string): void {
  if (address !== location.pathname + location.hash) history.pushState(null, '', address)
  void navigate()
}

/** Opens what the address says. */
export async function navigate(): Promise<void> {
  const id = decoded(/^\/c\/([^/]+)$/.exec(location.pathname)?.[1] ?? '')
  const entryId = decoded(location.hash.slice(1)) || undefined
  if (id === '') close()
  else if (!(await open(id, entryId)) && trouble.value?.kind === 'not-found' && location.pathname === addressOf(id)) {
    visit('/')
  }
}

/** Nothing where somebody has written the address by hand, and wrongly. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

/** A conversation that was just begun gets its address. */
export function nameOpened(id: string): void {
  if (location.pathname !== addressOf(id)) history.pushState(null, '', addressOf(id))
}
