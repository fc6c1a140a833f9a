// What Converse refuses in a body, with its error messages. Written from the rules of the API (docs/protocols), not
// from the output of `encode`. Positions count from 0 in sentences, from 1 in shape errors.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { listIn, objectIn, textIn } from '../shared/json-fields.ts'
import { isBlank } from '../shared/text.ts'
import type { Issue, Profile } from '../wire.ts'
import { inside, kindOf, toolNamePattern } from './types.ts'

type Report = (rule: string, message: string, about?: Partial<Issue>) => void

interface WireMessage {
  role: string
  content: JsonObject[]
}

export function refuse(body: Json, profile: Profile = {}): Issue[] {
  const issues: Issue[] = []
  const report: Report = (rule, message, about = {}) => {
    issues.push({ rule, status: 400, type: 'ValidationException', message, ...about })
  }
  if (!isObject(body)) {
    report('shape', 'The request body is not a JSON object.')
    return issues
  }
  if (!Array.isArray(body.messages)) {
    report('shape', constraint(String(body.messages ?? null), 'messages', 'Member must not be null'))
    return issues
  }
  const messages = body.messages.map(messageOf)
  checkTurns(messages, report)
  checkResults(messages, body, report)
  for (const [index, { role, content }] of messages.entries()) {
    for (const [place, block] of content.entries()) checkBlock(block, role, { index, place }, report)
  }
  checkTools(body, report)
  checkDocuments(messages, report)
  checkModel(messages, body, profile.model ?? '', report)
  return issues
}

function messageOf(message: Json): WireMessage {
  const { role, content } = objectIn(message)
  return { role: textIn(role), content: listIn(content).filter(isObject) }
}

function constraint(value: string, path: string, requirement: string): string {
  return `1 validation error detected: Value '${value}' at '${path}' failed to satisfy constraint: ${requirement}`
}

function checkTurns(messages: readonly WireMessage[], report: Report): void {
  for (const [index, { role, content }] of messages.entries()) {
    if (!['user', 'assistant', 'system'].includes(role)) {
      const requirement = 'Member must satisfy enum value set: [user, assistant, system]'
      report('shape', constraint(role, `messages.${index + 1}.member.role`, requirement))
    }
    if (content.length === 0) {
      const sentence = `The content field in the Message object at messages.${index} is empty. Add a ContentBlock object to the content field and try again.`
      report('BC-6', sentence)
    }
  }
  const turns = messages.filter(({ role }) => role !== 'system')
  if (turns[0]?.role !== 'user') {
    const sentence = 'A conversation must start with a user message.'
    report('BC-1', `${sentence} Try again with a conversation that starts with a user message.`)
  }
  if (turns.some(({ role }, index) => index > 0 && role === turns[index - 1]?.role)) {
    const sentence = 'A conversation must alternate between user and assistant roles.'
    report('BC-2', `${sentence} Make sure the conversation alternates between user and assistant roles and try again.`)
  }
}

function checkResults(messages: readonly WireMessage[], body: JsonObject, report: Report): void {
  for (const [index, { role, content }] of messages.entries()) {
    const previous = messages[index - 1]
    const callIds = previous?.role === 'assistant' ? idsOf(previous.content, 'toolUse') : []
    const answered = role === 'user' ? idsOf(content, 'toolResult') : []
    const answeredIds = new Set(answered)
    const open = callIds.filter((id) => !answeredIds.has(id))
    if (open.length > 0) {
      report(
        'BC-3',
        `Expected toolResult blocks at messages.${index}.content for the following Ids: ${open.join(', ')}`,
      )
    }
    if (answered.length > callIds.length) {
      const sentence = `The number of toolResult blocks at messages.${index}.content exceeds the number of toolUse blocks of previous turn.`
      report('BC-4', sentence)
    }
  }
  const last = messages.at(-1)
  if (last?.role === 'assistant') {
    const open = idsOf(last.content, 'toolUse')
    if (open.length > 0) {
      const path = `messages.${messages.length}.content`
      report('BC-3', `Expected toolResult blocks at ${path} for the following Ids: ${open.join(', ')}`)
    }
  }
  const usesTools = messages.some(({ content }) => content.some((block) => /^tool(Use|Result)$/.test(kindOf(block))))
  if (usesTools && listIn(inside(body, 'toolConfig')?.tools).length === 0) {
    report('BC-5', 'The toolConfig field must be defined when using toolUse and toolResult content blocks.')
  }
}

/** For calls that the caller answers: those of server tools have a different type. */
function idsOf(content: readonly JsonObject[], kind: 'toolUse' | 'toolResult'): string[] {
  return content.flatMap((block) => {
    const value = inside(block, kind)
    return value && value.type === undefined ? [String(value.toolUseId)] : []
  })
}

interface Where {
  index: number
  place: number
}

function checkBlock(block: JsonObject, role: string, { index, place }: Where, report: Report): void {
  const path = `messages.${index}.content.${place}`
  const member = `messages.${index + 1}.member.content.${place + 1}.member`
  if (Object.keys(block).length !== 1) {
    report('shape', `The ContentBlock object at ${path} must set one of its members, and no more than one.`)
  }
  if (typeof block.text === 'string' && isBlank(block.text)) {
    const sentence = `The text field in the ContentBlock object at ${path} is blank.`
    report('BC-6', `${sentence} Add text to the text field, and try again.`)
  }
  if (block.image !== undefined && role !== 'user') {
    report('BC-6', `The image block at ${path} is only supported for the user role.`)
  }
  const use = inside(block, 'toolUse')
  if (use) {
    checkName(use.name, `${member}.toolUse.name`, report)
    checkId(use.toolUseId, `${member}.toolUse.toolUseId`, report)
    if (!isObject(use.input)) {
      const sentence = `The format of the value at ${path}.toolUse.input is invalid.`
      report('BC-8', `${sentence} Provide a json object for the field and try again.`)
    }
  }
  const result = inside(block, 'toolResult')
  if (!result) return
  checkId(result.toolUseId, `${member}.toolResult.toolUseId`, report)
  const content = listIn(result.content)
  if (content.length === 0 && result.status === 'error') {
    report('BC-7', `The content field at ${path}.toolResult cannot be empty when status value is error.`)
  }
  for (const [k, item] of content.entries()) {
    if (!isObject(item)) continue
    if (item.json !== undefined && !isObject(item.json)) {
      const sentence = `The format of the value at ${path}.toolResult.content.${k}.json is invalid.`
      report('BC-8', `${sentence} Provide a json object for the field and try again.`)
    }
  }
}

function checkName(name: Json | undefined, path: string, report: Report): void {
  if (typeof name === 'string' && toolNamePattern.test(name)) return
  const text = typeof name === 'string' ? name : 'null'
  const requirement =
    text.length > 64
      ? 'Member must have length less than or equal to 64'
      : 'Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+'
  report('BC-9', constraint(text, path, requirement))
}

function checkId(id: Json | undefined, path: string, report: Report): void {
  if (typeof id === 'string' && /^[a-zA-Z0-9_.:-]{1,64}$/.test(id)) return
  const text = typeof id === 'string' ? id : 'null'
  const requirement =
    text.length > 64
      ? 'Member must have length less than or equal to 64'
      : 'Member must satisfy regular expression pattern: [a-zA-Z0-9_.:-]+'
  report('BC-11', constraint(text, path, requirement))
}

function checkTools(body: JsonObject, report: Report): void {
  const config = inside(body, 'toolConfig')
  if (!config) return
  const tools = listIn(config.tools)
  if (tools.length === 0) {
    report('BC-5', constraint('[]', 'toolConfig.tools', 'Member must have length greater than or equal to 1'))
  }
  const names: Json[] = []
  for (const [index, tool] of tools.entries()) {
    const spec = inside(tool, 'toolSpec')
    if (!spec) continue
    const path = `toolConfig.tools.${index + 1}.member.toolSpec`
    checkName(spec.name, `${path}.name`, report)
    names.push(spec.name ?? '')
    if (spec.description === '') {
      report('BC-10', constraint('', `${path}.description`, 'Member must have length greater than or equal to 1'))
    }
    if (!isObject(inside(spec, 'inputSchema')?.json)) {
      report('shape', `The toolConfig.tools.${index}.toolSpec.inputSchema.json field must be a JSON object.`)
    }
  }
  const chosen = inside(inside(config, 'toolChoice'), 'tool')?.name
  if (chosen !== undefined && !names.includes(chosen)) {
    report('BC-9', `The toolChoice.tool.name ${JSON.stringify(chosen)} is not the name of a tool in toolConfig.tools.`)
  }
}

/** Errors of single models, after "The model returned the following errors". */
function checkModel(messages: readonly WireMessage[], body: JsonObject, model: string, report: Report): void {
  const config = inside(body, 'inferenceConfig') ?? {}
  const newClaude = /claude-(opus|sonnet|haiku|fable|mythos)-(5|4-[5-9])/.test(model)
  if (newClaude && config.temperature !== undefined && config.topP !== undefined) {
    const sentence = '`temperature` and `top_p` cannot both be specified for this model. Please use only one.'
    report('BM-10', `The model returned the following errors: ${sentence}`)
  }
  if (/claude-(sonnet-5|fable-5-[1-9])/.test(model)) {
    const onlyThoughts = messages.some(
      ({ role, content }) =>
        role === 'assistant' && content.length > 0 && content.every((block) => kindOf(block) === 'reasoningContent'),
    )
    if (onlyThoughts || messages.at(-1)?.role === 'assistant') {
      const sentence = 'This model does not support assistant message prefill.'
      report('BC-16', `${sentence} The conversation must end with a user message.`)
    }
  }
  if (/(llama|deepseek|nemotron)/.test(model) && hasMark(messages, body)) {
    const sentence = 'You invoked an unsupported model or your request did not allow prompt caching.'
    const about = { status: 403, type: 'AccessDeniedException' }
    report('BC-18', `${sentence} See the documentation for more information.`, about)
  }
  if (/deepseek\.r1/.test(model) && isObject(body.toolConfig)) {
    report('BM-3', "This model doesn't support tool use.")
  }
}

function hasMark(messages: readonly WireMessage[], body: JsonObject): boolean {
  const lists = [...messages.map(({ content }) => content), body.system, inside(body, 'toolConfig')?.tools]
  return lists.some((list) => listIn(list).some((block) => kindOf(block) === 'cachePoint'))
}

// Converse's rules for documents: their number, their names, and the text next to them.

function checkDocuments(messages: readonly WireMessage[], report: Report): void {
  const names: string[] = []
  for (const [index, { content }] of messages.entries()) {
    const results = content.flatMap((block) => listIn(inside(block, 'toolResult')?.content).filter(isObject))
    const blocks = content.filter((block) => block.document !== undefined)
    const documents = [...content, ...results].flatMap((block) => {
      const document = inside(block, 'document')
      return document ? [document] : []
    })
    names.push(...documents.map(({ name }) => textIn(name)))
    if (
      blocks.length > 0 &&
      !content.some((block) => typeof block.text === 'string' || block.toolResult !== undefined)
    ) {
      const sentence = `A text block is required with a document block at messages.${index}.content.`
      report('BC-14', `${sentence} Add a text block and try again.`)
    }
  }
  if (names.length > 5) report('BC-14', "You can't include more than 5 documents in a request.")
  if (new Set(names).size < names.length) {
    report('BC-12', "Messages can't contain duplicate document names. Rename the document and retry your request.")
  }
  const isName = (name: string) => /^[A-Za-z0-9 \-()[\]_]{1,200}$/.test(name) && !/\s{2}/.test(name)
  if (!names.every(isName)) {
    report(
      'BC-13',
      "The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets. The name can't contain more than one consecutive whitespace character. Check that the file name conforms to these restrictions and retry your request.",
    )
  }
}
