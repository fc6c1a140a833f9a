// What the API refuses in the body of an interaction. The rules about turns, calls and signatures are those of the
// models (G-…, the same as for generateContent), applied to steps; the others (I-…) are its own. Unpublished
// texts are Google's general ones.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { geminiVersion } from '../google/models.ts'
import { referenceFault } from '../tool-schema/rules.ts'
import type { Issue, Profile } from '../wire.ts'
import { hasSignature, isStep, serverToolOf } from './types.ts'
import { textIn, valuesIn } from '../shared/json-fields.ts'

export function refuse(body: Json, profile: Profile = {}): Issue[] {
  const issues: Issue[] = []
  const add = (rule: string, message: string, code = 'invalid_request') =>
    void issues.push({ rule, status: 400, message, code })
  if (!isObject(body)) {
    add('I-1', vague)
    return issues
  }
  for (const key of Object.keys(body)) {
    if (!parameters.has(key)) add('I-2', `Unknown parameter: '${key}'.`, 'parameter_unknown')
  }
  const bodyModel = typeof body.model === 'string' && body.model !== '' ? body.model : undefined
  const hasAgent = typeof body.agent === 'string' && body.agent !== ''
  if ((bodyModel !== undefined) === hasAgent) add('I-1', vague)
  checkState(body, hasAgent, add)
  const steps = inputOf(body, add)
  const model = profile.model ?? bodyModel
  checkSteps(steps, { chained: typeof body.previous_interaction_id === 'string', model, add })
  checkTools(body, add)
  checkConfig(body, model, add)
  return issues
}

type AddIssue = (rule: string, message: string, code?: string) => void

/** Google's general error. */
const vague = 'Request contains an invalid argument.'

const parameters: ReadonlySet<string> = new Set(
  'model agent agent_config input system_instruction tools response_format response_mime_type response_modalities generation_config previous_interaction_id continuation_token cached_content store background stream service_tier environment webhook_config safety_settings labels'.split(
    ' ',
  ),
)

const legacy =
  "The legacy Interactions API schema is no longer supported. Please upgrade your client SDK to Python >= 2.0.0 or JavaScript/TypeScript >= 2.0.0 to adopt the new 'steps' schema. For details and migration examples, see: https://ai.google.dev/gemini-api/docs/interactions-breaking-changes-may-2026"

function checkState(body: JsonObject, hasAgent: boolean, add: AddIssue): void {
  if (body.store === false && body.background === true) {
    add('I-5', 'store=true is required for background interactions')
  }
  if (body.store === false && typeof body.previous_interaction_id === 'string') add('I-6', vague)
  if (hasAgent && body.background !== true) add('I-7', 'background=true is required for agent interactions.')
}

const contentTypes: ReadonlySet<Json | undefined> = new Set(['text', 'image', 'audio', 'video', 'document'])

/** The input as steps: a text or a list of content is the current user message. */
function inputOf(body: JsonObject, add: AddIssue): JsonObject[] {
  const { input } = body
  if (typeof input === 'string' && input !== '')
    return [{ type: 'user_input', content: [{ type: 'text', text: input }] }]
  const items = valuesIn(input)
  if (items.length === 0 || input === '') {
    add('I-1', vague)
    return []
  }
  if (items.some((item) => isObject(item) && typeof item.role === 'string')) {
    add('I-3', legacy)
    return []
  }
  if (items.every((item) => isObject(item) && contentTypes.has(item.type))) {
    return [{ type: 'user_input', content: items }]
  }
  if (items.every(isObject)) return items
  add('I-4', vague)
  return []
}

function checkTools(body: JsonObject, add: AddIssue): void {
  const names = new Set<Json>()
  for (const tool of valuesIn(body.tools)) {
    if (!isObject(tool) || typeof tool.type !== 'string') {
      add('I-4', vague)
    } else if (tool.type === 'function') {
      const { name = '' } = tool
      const fits = typeof name === 'string' && /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/.test(name)
      if (!fits || names.has(name)) add('I-4', vague)
      names.add(name)
      if (isObject(tool.parameters)) checkSchema(tool.parameters, add)
    }
  }
}

/** G-12: the arguments are an object, and references resolve. */
function checkSchema(schema: JsonObject, add: AddIssue): void {
  if (schema.type !== 'object') add('G-12', vague)
  const fault = referenceFault(schema)
  if (fault !== undefined) add('G-12', fault)
}

const choices: ReadonlySet<Json | undefined> = new Set(['auto', 'any', 'none', 'validated'])
const thinkingLevels: ReadonlySet<Json | undefined> = new Set(['minimal', 'low', 'medium', 'high'])

function checkConfig(body: JsonObject, model: string | undefined, add: AddIssue): void {
  const config = body.generation_config
  if (!isObject(config)) return
  const { tool_choice: choice, thinking_level: level } = config
  if (choice !== undefined && !isObject(choice) && !choices.has(choice)) add('I-4', vague)
  if (level !== undefined && !thinkingLevels.has(level)) add('I-4', vague)
  if (level === 'minimal' && (geminiVersion(model) ?? 0) >= 307) {
    add('G-14', 'Thinking level MINIMAL is not supported for this model.')
  }
}

// Steps as the models see them: consecutive model steps are one turn, and so are consecutive inputs.

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

function checkSteps(steps: readonly JsonObject[], asked: Asked): void {
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
      if (valuesIn(step.content).length === 0) add('G-8', vague)
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
    if (step.type === 'user_input') addInput(turn, valuesIn(step.content))
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
  const ids = turn.calls.map(({ step }) => textIn(step.id)).toSorted()
  const answered = after.results.map(textIn).toSorted()
  if (ids.length !== answered.length) {
    add(
      'G-4',
      'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
    )
  } else if (ids.some((id, index) => id !== answered[index])) {
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
      `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${textIn(first.step.name)}\` , position ${first.position}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
    )
  }
}
