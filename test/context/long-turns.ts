// Tool turns that are long enough to be folded.

import type { Message } from '../../src/core/message.ts'
import { call, reply, result } from '../histories.ts'

export const long = 'and so on '.repeat(100)

/** One call without arguments, and its result. */
export const turn = (id: string, text = long): Message[] => [reply(call(id, 'read')), result(id, text, 'read')]

/** The same with a word in its arguments, after the given words. */
export const fileTurn = (id: string, text = long, ...words: string[]): Message[] => [
  reply(...words, call(id, 'read', { path: `f_${id}` })),
  result(id, text, 'read'),
]
