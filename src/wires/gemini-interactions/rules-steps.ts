// Steps as the models see them: consecutive model steps are one turn, and so are consecutive inputs.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { geminiVersion } from '../google/models.ts'
import { hasSignature, isStep, listOf, serverToolOf } from './types.ts'

interface Asked {
  /** Something before the first step is stored at the provider. */
  chained: boolean
  model: string | undefined
  add: (rule: string, message: string) => void
}

interface StepTurn {
  role: 'user' | 'model'
  calls: { step: JsonObject; position: number; signed: boolean }[]
  results: Json[]
  /** A user message: a new turn of the conversation begins. */
  speaks: boolean
}

const vague = 'Request contains an invalid argument.'

export function checkSteps(steps: readonly JsonObject[], asked: Asked): void {
  if (steps.length === 0) return
  for (const step of steps) checkStep(step, asked)
  const turns = turnsOf(steps)
  for (const [index, turn] of turns.entries()) checkTurn(turn, turns[index - 1], turns[index + 1], asked)
  if (turns.at(-1)?.role === 'model') {
    asked.add('G-5', 'Please ensure that multiturn requests ends with a user role or a function response.')
  }
  checkSignatures(turns, asked)
}

function checkStep(step: JsonObject, { add }: Asked): void {
  switch (step.type) {
    case 'user_input':
      if (listOf(step.content).length === 0) add('G-8', vague)
      break
    case 'function_call':
      if (!isText(step.id) || !isText(step.name) || !isObject(step.arguments)) add('I-4', vague)
      break
    case 'function_result':
      if (!isText(step.call_id) || step.result === undefined) add('I-4', vague)
      break
    case 'model_output':
    case 'thought':
      break
    default:
      if (!serverToolOf(step)) add('I-4', vague)
  }
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

function isText(value: Json | undefined): boolean {
  return typeof value === 'string' && value !== ''
}

function turnsOf(steps: readonly JsonObject[]): StepTurn[] {
  const turns: StepTurn[] = []
  let thought = false
  for (const [index, step] of steps.entries()) {
    const role = step.type === 'user_input' || step.type === 'function_result' ? 'user' : 'model'
    let turn = turns.at(-1)
    if (turn?.role !== role) {
      turn = { role, calls: [], results: [], speaks: false }
      turns.push(turn)
      thought = false
    }
    if (step.type === 'thought' && hasSignature(step)) thought = true
    if (step.type === 'function_call') {
      turn.calls.push({ step, position: index + 1, signed: thought || hasSignature(step) })
    }
    if (step.type === 'function_result') turn.results.push(step.call_id ?? null)
    if (step.type === 'user_input') addInput(turn, listOf(step.content))
  }
  return turns
}

/** Results may also be in the content of a user message: some clients send them this way. */
function addInput(turn: StepTurn, content: readonly Json[]): void {
  for (const item of content) {
    if (isStep(item, 'function_result')) turn.results.push(item.call_id ?? null)
    else turn.speaks = true
  }
}

function checkTurn(
  turn: StepTurn,
  before: StepTurn | undefined,
  after: StepTurn | undefined,
  { chained, add }: Asked,
): void {
  if (turn.calls.length > 0 && !before && !chained) {
    add(
      'G-2',
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
    )
  }
  if (turn.results.length > 0 && !before?.calls.length && (before || !chained)) {
    add('G-3', 'Please ensure that function response turn comes immediately after a function call turn.')
  }
  if (turn.calls.length === 0 || !after) return
  const ids = turn.calls.map(({ step }) => textOf(step.id)).toSorted()
  const given = after.results.map(textOf).toSorted()
  if (ids.length !== given.length) {
    add(
      'G-4',
      'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
    )
  } else if (ids.some((id, index) => id !== given[index])) {
    add('G-5', vague)
  }
}

/** Gemini 3 and later: each step since the last user message. Only its first call is checked. */
function checkSignatures(turns: readonly StepTurn[], { model, add }: Asked): void {
  if ((geminiVersion(model) ?? 0) < 300) return
  const start = turns.findLastIndex((turn) => turn.role === 'user' && turn.speaks)
  for (const turn of turns.slice(start + 1)) {
    const first = turn.calls[0]
    if (!first || first.signed) continue
    add(
      'G-6',
      `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${textOf(first.step.name)}\` , position ${first.position}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
    )
  }
}
