// The URL shows what is open: `/c/<conversation>`, with `#<entry>` for a position in it.

import { close, open } from './conversation.ts'
import { trouble } from './session.ts'

export function addressOf(id: string, entryId?: string): string {
  return `/c/${encodeURIComponent(id)}${entryId === undefined ? '' : `#${encodeURIComponent(entryId)}`}`
}

/** For links: a plain left click stays on the page. */
export function onLink(event: MouseEvent): void {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return
  if (!(event.currentTarget instanceof HTMLAnchorElement)) return
  event.preventDefault()
  openAddress(event.currentTarget.pathname + event.currentTarget.hash)
}

export function openAddress(address: string): void {
  if (address !== location.pathname + location.hash) history.pushState(null, '', address)
  void navigate()
}

/** Opens what the URL names. */
export async function navigate(): Promise<void> {
  const id = decoded(/^\/c\/([^/]+)$/.exec(location.pathname)?.[1] ?? '')
  const entryId = decoded(location.hash.slice(1)) || undefined
  if (id === '') close()
  else if (!(await open(id, entryId)) && trouble.value?.kind === 'not-found' && location.pathname === addressOf(id)) {
    openAddress('/')
  }
}

/** Undefined if the URL was typed incorrectly. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

/** A new conversation gets its URL. */
export function nameOpened(id: string): void {
  if (location.pathname !== addressOf(id)) history.pushState(null, '', addressOf(id))
}
