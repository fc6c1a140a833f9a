// Tool turns that are long enough to be folded.

import type { Message } from '../../src/core/message.ts'
import { call, reply, result } from '../histories.ts'

export const long = 'and so on '.repeat(100)

/** A reply with one call, after the given words, and the result. */
export const turn = (id: string, text = long, ...words: string[]): Message[] => [
  reply(...words, call(id, 'read', { path: `f_${id}` })),
  result(id, text, 'read'),
]
