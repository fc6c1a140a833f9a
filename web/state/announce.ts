// Announcements for screen readers: finished paragraphs, not every token.

import { signal } from '@preact/signals'

export const announcement = signal('')

const longest = 600

export function announce(text: string): void {
  const plain = text.replaceAll(/[`*_#>|[\]]+/g, '').trim()
  if (plain !== '') announcement.value = plain.length > longest ? `${plain.slice(0, longest)}…` : plain
}

export function announceCopy(isCopied: boolean): void {
  announce(isCopied ? 'Copied' : 'The browser does not allow access to the clipboard')
}

let announcedLength = 0

/** Announces a growing text, paragraph by paragraph; with the last call the rest of it. */
export function readOut(text: string, isWhole: boolean): void {
  const end = isWhole ? text.length : text.lastIndexOf('\n\n')
  if (end > announcedLength) announce(text.slice(announcedLength, end))
  announcedLength = isWhole ? 0 : Math.max(announcedLength, end)
}
