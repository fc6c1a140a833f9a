// What differs by model: thinking, sampling, prefill, forced calls, system messages in the middle.

import { isObject, type JsonObject } from '../../core/json.ts'
import {
  effortsOf,
  maxOutputOf,
  takesAdaptiveThinking,
  takesDisabledThinking,
  takesForcedTool,
  takesManualThinking,
  takesMidSystem,
  takesOneSampling,
  takesPrefill,
  takesSampling,
  type Model,
} from './models.ts'
import type { Report } from './rules.ts'
import type { WireMessage } from './rules-shape.ts'
import { isServerCall, isServerResult, isThinking } from './types.ts'

export function checkModel(
  body: JsonObject,
  messages: readonly WireMessage[],
  model: Model | undefined,
  report: Report,
): void {
  checkThinking(body, model, report)
  checkEnd(body, messages, model, report)
  if (!model) return
  checkSampling(body, model, report)
  checkForced(body, model, report)
  checkEffort(body, model, report)
  if (!takesMidSystem(model) && messages.some(({ role }) => role === 'system')) {
    report('R-12', "role 'system' is not supported on this model")
  }
  const most = maxOutputOf(model)
  if (most !== undefined && typeof body.max_tokens === 'number' && body.max_tokens > most) {
    const message = `max_tokens: ${body.max_tokens} > ${most}, which is the maximum allowed number of output tokens for ${String(body.model)}`
    report('shape', message)
  }
}

const switches = ['adaptive', 'between_tools', 'disabled', 'enabled']

function checkThinking(body: JsonObject, model: Model | undefined, report: Report): void {
  const { thinking } = body
  if (thinking === undefined || thinking === null) return
  if (!isObject(thinking) || !switches.includes(String(thinking.type))) {
    const tag = isObject(thinking) ? String(thinking.type) : ''
    const expected = switches.map((one) => `'${one}'`).join(', ')
    const message = `Input tag '${tag}' found using 'type' does not match any of the expected tags: ${expected}`
    report('R-20', `thinking: ${message}`)
    return
  }
  const type = String(thinking.type)
  const known = ['type', ...(type === 'enabled' ? ['budget_tokens'] : [])]
  if (type === 'enabled' || type === 'adaptive') known.push('display', 'block_binding')
  for (const field of Object.keys(thinking)) {
    if (!known.includes(field)) report('R-29', `thinking.${type}.${field}: Extra inputs are not permitted`)
  }
  if (type === 'enabled') checkBudget(body, thinking, report)
  if (!model) return
  if (type === 'enabled' && !takesManualThinking(model)) {
    report(
      'R-20',
      notSupported('enabled', ' Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'),
    )
  }
  if (type === 'adaptive' && !takesAdaptiveThinking(model)) {
    report('R-20', 'adaptive thinking is not supported on this model')
  }
  if (type === 'disabled' && !takesDisabledThinking(model)) report('R-20', notSupported('disabled', ''))
}

function notSupported(type: string, instead: string): string {
  return `"thinking.type.${type}" is not supported for this model.${instead}`
}

function checkBudget(body: JsonObject, thinking: JsonObject, report: Report): void {
  const budget = thinking.budget_tokens
  if (typeof budget !== 'number') report('R-20', 'thinking.enabled.budget_tokens: Field required')
  else if (budget < 1024) {
    report('R-20', 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024')
  } else if (typeof body.max_tokens === 'number' && body.max_tokens <= budget) {
    const where =
      'https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size'
    const message = `\`max_tokens\` must be greater than \`thinking.budget_tokens\`. Please consult our documentation at ${where}`
    report('R-20', message)
  }
}

/** The last turn, and how the tool loop at the end began. */
function checkEnd(body: JsonObject, messages: readonly WireMessage[], model: Model | undefined, report: Report): void {
  const last = messages.at(-1)
  const type = isObject(body.thinking) ? body.thinking.type : undefined
  if (type === 'enabled') checkLoop(messages, report)
  // A request for a summary ends at the current position: nothing is prefilled.
  if (last?.role !== 'assistant' || last.content.length === 0 || isObject(body.compaction)) return
  const at = `messages.${last.index}`
  const final = last.content.at(-1)
  if (final?.type === 'text' && typeof final.text === 'string' && /\s$/.test(final.text)) {
    report('R-13', 'messages: final assistant content cannot end with trailing whitespace')
  }
  if (final && isThinking(final)) {
    report('final-thinking', `${at}: The final block in an assistant message cannot be \`${final.type}\`.`)
  }
  // A paused reply is sent back unchanged; it always contains server tool blocks.
  const paused = last.content.some(
    (block) => isServerCall(block) || isServerResult(block) || block.type === 'compaction',
  )
  const thought = last.content.findIndex(isThinking)
  if (!paused && thought >= 0 && (type === undefined || type === 'disabled') && (!model || takesPrefill(model))) {
    const message =
      'When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`. To use thinking blocks, enable `thinking` in your request.'
    report('R-17', `${at}.content.${thought}: ${message}`)
  }
  if (!paused && model && !takesPrefill(model)) {
    const message =
      'This model does not support assistant message prefill. The conversation must end with a user message.'
    report('R-14', message)
  }
}

function checkLoop(messages: readonly WireMessage[], report: Report): void {
  const turns = messages.filter(({ role }) => role !== 'system')
  const onlyResults = (message: WireMessage | undefined) =>
    message?.role === 'user' && message.content.some((block) => block.type === 'tool_result')
  let first: WireMessage | undefined
  let thinks = false
  let inLoop = onlyResults(turns.at(-1)) || turns.at(-1)?.role === 'assistant'
  for (const message of turns.toReversed()) {
    if (!inLoop) break
    if (message.role === 'assistant') {
      first = message
      thinks ||= message.content.some(isThinking)
    } else inLoop = onlyResults(message)
  }
  const opening = first?.content[0]
  if (!first || !opening || thinks) return
  const message =
    'When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking'
  const expected = `Expected \`thinking\` or \`redacted_thinking\`, but found \`${opening.type}\`. ${message}`
  report('R-16', `messages.${first.index}.content.0.type: ${expected}`)
}

function checkSampling(body: JsonObject, model: Model, report: Report): void {
  const thinks = isObject(body.thinking) && (body.thinking.type === 'enabled' || body.thinking.type === 'adaptive')
  for (const field of ['temperature', 'top_p', 'top_k']) {
    const value = body[field]
    const byDefault = value === undefined || value === null || (field === 'temperature' && value === 1)
    if (byDefault) continue
    if (!takesSampling(model)) report('sampling', `\`${field}\` is deprecated for this model.`)
    else if (thinks && field === 'temperature') {
      report('sampling', '`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.')
    }
  }
  const both = typeof body.temperature === 'number' && typeof body.top_p === 'number'
  if (both && takesSampling(model) && takesOneSampling(model)) {
    const message = '`temperature` and `top_p` cannot both be specified for this model. Please use only one.'
    report('sampling', message)
  }
}

/** The texts for both cases are recorded (checked 2026-11). */
function checkEffort(body: JsonObject, model: Model, report: Report): void {
  const effort = isObject(body.output_config) ? body.output_config.effort : undefined
  if (typeof effort !== 'string') return
  const known = effortsOf(model)
  if (known.length === 0) report('R-20', 'This model does not support the effort parameter.')
  else if (!known.includes(effort)) {
    const levels = known.toSorted().join(', ')
    report('R-20', `This model does not support effort level '${effort}'. Supported levels: ${levels}.`)
  }
}

function checkForced(body: JsonObject, model: Model, report: Report): void {
  const type = isObject(body.tool_choice) ? body.tool_choice.type : undefined
  if (type !== 'any' && type !== 'tool') return
  if (!takesForcedTool(model)) {
    report('R-21', 'tool_choice: type "tool" and "any" are not supported for this model.')
  } else if (isObject(body.thinking) && body.thinking.type === 'enabled') {
    report('R-21', 'Thinking may not be enabled when tool_choice forces tool use.')
  }
}
