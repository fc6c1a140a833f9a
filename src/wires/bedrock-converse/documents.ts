// Documents of a request: at most five, each with a unique name, and a text with them. The name of a document depends
// only on earlier ones, so that a longer history keeps the names of a shorter one.

import type { Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import { turnOf, type Turn } from '../shared/turns.ts'
import { inside, textBlock } from './types.ts'

const mostDocuments = 5

export function settleDocuments(turns: Turn<JsonObject>[], notes: Note[]): Turn<JsonObject>[] {
  const total = turns.reduce((sum, { items }) => sum + items.filter(isDocument).length, 0)
  if (total === 0) return turns
  let seen = 0
  return turns.map((turn) => {
    if (!turn.items.some(isDocument)) return turn
    const items = turn.items.map((block): JsonObject => {
      const document = inside(block, 'document')
      if (!document) return block
      seen++
      // The newest ones are the most relevant.
      if (total - seen >= mostDocuments) {
        const why = `a request takes no more than ${mostDocuments} documents`
        notes.push({ kind: 'dropped', what: 'document', why, at: turn.at, rule: 'BC-14' })
        return textBlock(`[a document in the format ${String(document.format)}, not sent]`)
      }
      const name = seen === 1 ? 'document' : `document-${seen}`
      return { document: { ...document, name } }
    })
    const speaks = items.some((block) => typeof block.text === 'string')
    if (!speaks) {
      const why = 'a message with documents needs a text'
      notes.push({ kind: 'added', what: 'text next to documents', why, at: turn.at, rule: 'BC-14' })
    }
    const all = speaks ? items : [...items, textBlock('See the document.')]
    return { ...turnOf(turn.role, all, turn.at), from: turn.from }
  })
}

function isDocument(block: JsonObject): boolean {
  return inside(block, 'document') !== undefined
}
