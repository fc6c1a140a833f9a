// Which checks a host makes. OpenAI and Azure make all; an unknown host is assumed to make those that every hosted one
// does; local servers parse what they need and trust the rest.

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
  moonshotContent,
  moonshotPairing,
  moonshotThinking,
  qwenCalls,
  qwenPairing,
  qwenTools,
  xaiContent,
} from './rules-compatible.ts'
import {
  llamaArguments,
  llamaMessages,
  llamaSchemas,
  ollamaArguments,
  ollamaContent,
  ollamaEffort,
  ollamaImages,
  vllmArguments,
  vllmTools,
} from './rules-local.ts'
import {
  callShape,
  contentShape,
  imagesOnlyFromUsers,
  knownParts,
  knownRoles,
  notEmpty,
  openaiPairing,
  pairing,
} from './rules-messages.ts'
import {
  effortValue,
  effortWithTools,
  outputField,
  sampling,
  searchByModel,
  soundByModel,
  systemRole,
} from './rules-models.ts'
import {
  answerByModel,
  answerSchema,
  deepseekAnswer,
  deepseekSchemas,
  fireworksSchemas,
  groqAnswer,
  groqSchemas,
  jsonNamed,
  lmstudioSchemas,
  moonshotSchemas,
  openaiSchemas,
} from './rules-schemas.ts'
import {
  cacheKeyLength,
  choiceNeedsTools,
  streamOptionsNeedStream,
  toolCount,
  toolNames,
  toolsNotEmpty,
} from './rules-tools.ts'
import { rangeIssues } from '../shared/ranges.ts'
import type { Check } from './rules-context.ts'

export function hostChecks(provider = 'openai'): readonly Check[] {
  return (Object.hasOwn(hosts, provider) ? hosts[provider] : undefined) ?? hosted
}

const shape: readonly Check[] = [notEmpty, knownRoles, contentShape]
const calls = callShape({ idLength: 40, names: true })
const pairs = pairing(openaiPairing)

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
    pairing(deepseekPairing),
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
  moonshot: [...shape, moonshotContent, calls, toolNames, moonshotSchemas, pairing(moonshotPairing), moonshotThinking],
  qwen: [...shape, qwenCalls, calls, qwenTools, toolNames, jsonNamed, pairing(qwenPairing)],
  xai: [...shape, xaiContent, calls, toolNames, imagesOnlyFromUsers, pairs],
  ollama: [ollamaContent, ollamaImages, ollamaArguments, ollamaEffort],
  vllm: [notEmpty, vllmTools, vllmArguments],
  'llama.cpp': [llamaMessages, llamaArguments, llamaSchemas],
  lmstudio: [notEmpty, lmstudioSchemas],
}
