// What the real hosts refuse in a body, with their error messages. Written from recorded refusals and from the hosts'
// sources, never from the output of `encode`; a host differs from OpenAI only where it is known to
// (docs/protocols/openai-chat.md).

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { invalid } from '../shared/openai-rules.ts'
import { rangeIssues } from '../shared/ranges.ts'
import type { Issue, Profile } from '../wire.ts'
import {
  cerebrasFields,
  deepseekPairing,
  deepseekRoles,
  deepseekThinking,
  deepseekTools,
  deepseekTurns,
  groqEffort,
  groqFieldsOnly,
  groqReasoning,
  groqResults,
  llamaArguments,
  llamaMessages,
  llamaSchemas,
  moonshotContent,
  moonshotPairing,
  moonshotThinking,
  ollamaArguments,
  ollamaContent,
  ollamaEffort,
  ollamaImages,
  qwenCalls,
  qwenPairing,
  qwenTools,
  vllmArguments,
  vllmTools,
  xaiContent,
} from './rules-hosts.ts'
import type { ChatBody, Check } from './rules-context.ts'
import {
  callShape,
  contentShape,
  imagesOnlyFromUsers,
  knownParts,
  knownRoles,
  notEmpty,
  openaiPairing,
  checkPairs,
} from './rules-messages.ts'
import {
  answerByModel,
  answerSchema,
  cacheKeyLength,
  choiceNeedsTools,
  deepseekAnswer,
  deepseekSchemas,
  effortValue,
  effortWithTools,
  fireworksSchemas,
  groqAnswer,
  groqSchemas,
  jsonNamed,
  lmstudioSchemas,
  moonshotSchemas,
  openaiSchemas,
  outputField,
  sampling,
  searchByModel,
  soundByModel,
  streamOptionsNeedStream,
  systemRole,
  toolCount,
  toolNames,
  toolsNotEmpty,
} from './rules-options.ts'

export function refuse(body: Json, profile: Profile = {}): Issue[] {
  const read = readBody(body)
  if ('issue' in read) return [read.issue]
  const model = profile.model ?? read.body.model
  return hostChecks(profile.provider).flatMap((check) => check({ ...read.body, model }))
}

function readBody(body: Json): { body: ChatBody } | { issue: Issue } {
  if (!isObject(body)) return { issue: invalid('shape', 'We could not parse the JSON body of your request.') }
  const { model, messages } = body
  if (typeof model !== 'string' || model === '')
    return { issue: invalid('shape', 'you must provide a model parameter') }
  if (messages === undefined) {
    const message = "Missing required parameter: 'messages'."
    return { issue: invalid('shape', message, 'messages', 'missing_required_parameter') }
  }
  if (!Array.isArray(messages)) {
    const message = `Invalid type for 'messages': expected an array of objects, but got ${nameOf(messages)} instead.`
    return { issue: invalid('shape', message, 'messages', 'invalid_type') }
  }
  const i = messages.findIndex((message) => !isObject(message))
  if (i >= 0) {
    const text = `Invalid type for 'messages[${i}]': expected an object, but got ${nameOf(messages[i] ?? null)} instead.`
    return { issue: invalid('shape', text, `messages[${i}]`, 'invalid_type') }
  }
  return { body: { fields: body, model, messages: messages as JsonObject[] } }
}

function nameOf(value: Json): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function hostChecks(provider = 'openai'): readonly Check[] {
  return (Object.hasOwn(hosts, provider) ? hosts[provider] : undefined) ?? hosted
}

const shape: readonly Check[] = [notEmpty, knownRoles, contentShape]
const calls = callShape({ idLength: 40, names: true })
const pairs = checkPairs(openaiPairing)

const ranges: Check = ({ fields }) => rangeIssues(fields)

const openai: readonly Check[] = [
  ...shape,
  knownParts,
  calls,
  toolsNotEmpty,
  toolNames,
  toolCount,
  openaiSchemas,
  answerByModel,
  answerSchema,
  jsonNamed,
  cacheKeyLength,
  systemRole,
  outputField,
  ranges,
  sampling,
  effortValue,
  effortWithTools,
  searchByModel,
  choiceNeedsTools,
  streamOptionsNeedStream,
  soundByModel,
  imagesOnlyFromUsers,
  pairs,
]

const hosted: readonly Check[] = [...shape, calls, toolNames, toolCount, imagesOnlyFromUsers, pairs]

const hosts: Record<string, readonly Check[]> = {
  openai,
  'azure-openai': openai,
  deepseek: [
    ...shape,
    deepseekRoles,
    callShape({ names: true }),
    deepseekTools,
    toolNames,
    deepseekSchemas,
    deepseekAnswer,
    checkPairs(deepseekPairing),
    deepseekThinking,
    deepseekTurns,
  ],
  openrouter: [...shape, calls, toolNames, pairs],
  groq: [
    ...shape,
    groqFieldsOnly,
    groqResults,
    groqReasoning,
    groqEffort,
    calls,
    toolNames,
    toolCount,
    groqSchemas,
    groqAnswer,
    jsonNamed,
    pairs,
  ],
  fireworks: [...hosted, fireworksSchemas],
  cerebras: [...shape, cerebrasFields, calls, toolNames, pairs],
  moonshot: [
    ...shape,
    moonshotContent,
    calls,
    toolNames,
    moonshotSchemas,
    checkPairs(moonshotPairing),
    moonshotThinking,
  ],
  qwen: [...shape, qwenCalls, calls, qwenTools, toolNames, jsonNamed, checkPairs(qwenPairing)],
  xai: [...shape, xaiContent, calls, toolNames, imagesOnlyFromUsers, pairs],
  ollama: [ollamaContent, ollamaImages, ollamaArguments, ollamaEffort],
  vllm: [notEmpty, vllmTools, vllmArguments],
  'llama.cpp': [llamaMessages, llamaArguments, llamaSchemas],
  lmstudio: [notEmpty, lmstudioSchemas],
}
