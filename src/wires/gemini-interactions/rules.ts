// What the API refuses in the body of an interaction. The rules about turns, calls and signatures are those of the
// models (G-…, the same as for generateContent), applied to steps; the others (I-…) are its own. Unpublished
// texts are Google's general ones.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { geminiVersion } from '../google/models.ts'
import type { Issue, Profile } from '../wire.ts'
import { referenceFault } from '../tool-schema/gemini-rules.ts'
import { checkSteps } from './rules-steps.ts'
import { listOf } from './types.ts'

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
  const asked = typeof body.model === 'string' && body.model !== '' ? body.model : undefined
  const hasAgent = typeof body.agent === 'string' && body.agent !== ''
  if ((asked !== undefined) === hasAgent) add('I-1', vague)
  checkState(body, hasAgent, add)
  const steps = inputOf(body, add)
  const model = profile.model ?? asked
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
  const items = listOf(input)
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
  for (const tool of listOf(body.tools)) {
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
