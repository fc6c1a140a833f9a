// A note as a line for people.

import type { Note } from '../core/context.ts'

export function noteLine({ kind, what, why, at, rule }: Note): string {
  return `${kind.padEnd(8)} ${at ? `${at}: ` : ''}${what}, because ${why}${rule ? ` (${rule})` : ''}`
}
