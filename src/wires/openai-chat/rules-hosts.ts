// Which checks a host makes. OpenAI and Azure make all; a host that is not known here is taken to keep to what every
// hosted one does; the servers that people run themselves parse what they need and believe the rest.

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
  cacheKeyLength,
  choiceNeedsTools,
  streamOptionsNeedStream,
  toolCount,
  toolNames,
  toolsNotEmpty,
} from './rules-tools.ts'
import { rangeIssues } from '../ranges.ts'
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
    pairing(deepseekPairing),
    deepseekThinking,
    deepseekTurns,
  ],
  openrouter: [...shape, calls, toolNames, pairs],
  groq: [...shape, groqFieldsOnly, groqResults, groqReasoning, groqEffort, calls, toolNames, toolCount, pairs],
  cerebras: [...shape, cerebrasFields, calls, toolNames, pairs],
  moonshot: [...shape, moonshotContent, calls, toolNames, pairing(moonshotPairing), moonshotThinking],
  qwen: [...shape, qwenCalls, calls, qwenTools, toolNames, pairing(qwenPairing)],
  xai: [...shape, xaiContent, calls, toolNames, imagesOnlyFromUsers, pairs],
  ollama: [ollamaContent, ollamaImages, ollamaArguments, ollamaEffort],
  vllm: [notEmpty, vllmTools, vllmArguments],
  'llama.cpp': [llamaMessages, llamaArguments],
  lmstudio: [notEmpty],
}
