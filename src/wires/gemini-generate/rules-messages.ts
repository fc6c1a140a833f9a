// The order of turns, as the API sees it after merging adjacent contents of one role.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { geminiVersion } from '../google/models.ts'
import type { Issue, Profile } from '../wire.ts'
import { field, functionCallOf } from './types.ts'
import { textIn, valuesIn } from '../shared/json-fields.ts'

interface JoinedTurn {
  role: 'user' | 'model'
  calls: JsonObject[]
  results: JsonObject[]
  /** A part other than a function response: a new turn of the user begins. */
  speaks: boolean
  /** The first call of each content, with its position: each was a separate step. */
  steps: { part: JsonObject; position: number }[]
}

export function checkTurns(contents: readonly JsonObject[], check: Check): void {
  const turns = joinTurns(contents)
  for (const [index, turn] of turns.entries()) {
    const previous = turns[index - 1]
    const after = turns[index + 1]
    if (turn.calls.length > 0 && !previous) {
      check.refuse(
        'G-2',
        'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
      )
    }
    if (turn.results.length > 0 && !previous?.calls.length) {
      check.refuse('G-3', 'Please ensure that function response turn comes immediately after a function call turn.')
    }
    if (turn.calls.length > 0 && after && after.results.length !== turn.calls.length) {
      check.refuse(
        'G-4',
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      )
    } else if (turn.calls.length > 0 && after) {
      checkMatch(turn, after, check)
    }
  }
  checkEnd(turns, contents.length, check)
  checkSignatures(turns, check)
}

function joinTurns(contents: readonly JsonObject[]): JoinedTurn[] {
  const turns: JoinedTurn[] = []
  for (const [index, content] of contents.entries()) {
    const role = content.role === 'model' ? 'model' : 'user'
    let turn = turns.at(-1)
    if (turn?.role !== role) {
      turn = { role, calls: [], results: [], speaks: false, steps: [] }
      turns.push(turn)
    }
    addContent(turn, valuesIn(content.parts), index + 1)
  }
  return turns
}

function addContent(turn: JoinedTurn, parts: readonly Json[], position: number): void {
  let stepSeen = false
  for (const part of parts) {
    if (!isObject(part)) continue
    const call = functionCallOf(part)
    const result = field(part, 'functionResponse')
    if (call) {
      turn.calls.push(call)
      if (!stepSeen) turn.steps.push({ part, position })
      stepSeen = true
    }
    if (isObject(result)) turn.results.push(result)
    else turn.speaks = true
  }
}

/** The newest models also compare ids and names (G-5); the text of that refusal is unknown. */
function checkMatch(turn: JoinedTurn, after: JoinedTurn, check: Check): void {
  if ((geminiVersion(check.profile.model) ?? 0) < 308) return
  const key = (item: JsonObject) => JSON.stringify([item.id ?? null, item.name])
  const called = turn.calls.map(key).toSorted()
  const answered = after.results.map(key).toSorted()
  if (called.some((call, index) => call !== answered[index]))
    check.refuse('G-5', 'Request contains an invalid argument.')
}

function checkEnd(turns: readonly JoinedTurn[], contents: number, check: Check): void {
  if (turns.at(-1)?.role !== 'model') return
  const single = 'Please ensure that single turn requests end with a user role or the role field is empty.'
  const several = 'Please ensure that multiturn requests ends with a user role or a function response.'
  check.refuse('G-5', contents === 1 ? single : several)
}

/** Gemini 3 and later: each step since the last user message. */
function checkSignatures(turns: readonly JoinedTurn[], check: Check): void {
  if ((geminiVersion(check.profile.model) ?? 0) < 300) return
  const start = turns.findLastIndex((turn) => turn.role === 'user' && turn.speaks)
  for (const turn of turns.slice(start + 1)) {
    for (const { part, position } of turn.steps) {
      if (field(part, 'thoughtSignature')) continue
      const name = functionCallOf(part)?.name
      check.refuse(
        'G-6',
        `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${textIn(name)}\` , position ${position}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
      )
    }
  }
}

// What the rules about one body share.

export interface Check {
  profile: Profile
  vertex: boolean
  refuse(rule: string, message: string): void
}

export function createCheck(profile: Profile, issues: Issue[]): Check {
  return {
    profile,
    vertex: profile.provider?.includes('vertex') ?? false,
    refuse: (rule, message) => issues.push({ rule, status: 400, type: 'INVALID_ARGUMENT', message }),
  }
}

/** The parser's error for an unknown field of a message. */
export function unknownName(key: string, at: string): string {
  const where = at === '' ? '' : ` at '${at}'`
  return `Invalid JSON payload received. Unknown name "${key}"${where}: Cannot find field.`
}
