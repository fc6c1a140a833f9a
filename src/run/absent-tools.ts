// Tools that a conversation was started with and that no one has given since: the model continues without them, and each
// request says so.

import type { Note } from '../core/context.ts'
import type { RunContext } from './run-context.ts'

export function absentToolNotes({ absentTools = [] }: Pick<RunContext, 'absentTools'>): Note[] {
  if (absentTools.length === 0) return []
  const why = 'The conversation was started with them, and they were not given when it was opened.'
  return [{ kind: 'dropped', what: `tools: ${absentTools.join(', ')}`, why, rule: 'absent-tools' }]
}
