// Every setting, declared once: what code, YAML, HTTP, command line and AI SDK accept, and what the JSON Schemas, the
// OpenAPI document and the tables in the documentation are made from. The compiler holds each rule to the type of its
// setting, and misses no key.

import type { Grammar } from '../core/context.ts'
import type { ErrorKind } from '../core/error.ts'
import type { Tool } from '../core/tool.ts'
import { efforts, type Options } from './options.ts'
import { foldStyles, presetNames, type CompactionSettings, type Policy, type PolicySettings } from './policy.ts'
import {
  above,
  anything,
  described,
  either,
  flag,
  functionValue,
  instance,
  jsonObject,
  listOf,
  mapOf,
  name,
  never,
  nullable,
  object,
  oneOf,
  text,
  whole,
  within,
  type Fields,
  type Rule,
} from './rule.ts'
import type { Budget, Fallback, Guards, Route, RunSettings, Spend } from './run.ts'

/** What a provider or the connection to it can fail with; no other provider can help with the rest. */
const failureKinds = [
  'auth',
  'permission',
  'quota',
  'rate-limit',
  'overloaded',
  'context-overflow',
  'too-large',
  'invalid-request',
  'not-found',
  'refused',
  'timeout',
  'network',
  'malformed-reply',
] as const satisfies readonly ErrorKind[]

/** `provider/model`, or a provider alone for its default model. */
export const modelRef: Rule<string> = {
  type: 'string',
  pattern: String.raw`^\s*[^/\s]+(/\S+)?\s*$`,
  otherwise: 'is not a model; write provider/model, such as anthropic/claude-opus-5',
}

export const optionFields: Fields<Options> = {
  maxOutput: described(whole(1), 'The most tokens of a reply.'),
  temperature: described(within(0, 2), 'Randomness of sampling.'),
  topP: described(within(0, 1), 'Nucleus sampling: the share of probability to draw from.'),
  stop: described(listOf(name), 'Texts that end a reply.'),
  effort: described(oneOf(efforts), 'How much the model thinks before it answers.'),
  toolChoice: described(
    either(oneOf(['auto', 'none', 'required']), object<{ tool: string }>({ tool: name }, ['tool'])),
    'Whether tools are called: `auto`, `none`, `required`, or `{ tool }` for one of them.',
  ),
  parallelTools: described(flag, 'Whether one reply may call several tools.'),
  answerSchema: described(jsonObject, 'A JSON Schema that the answer must match.'),
  cacheKey: described(
    name,
    'Groups requests for providers that route by a key; by default the id of the conversation.',
  ),
  cacheTtl: described(oneOf(['5m', '1h']), "How long the provider's prompt cache is kept."),
  store: described(flag, 'Ask the provider to store the reply under an id.'),
  stream: described(flag, 'Whether the reply is streamed; by default it is.'),
  extra: described(
    jsonObject,
    'Merged into the request body last, unchanged: for what has no option here. Its `tools` are sent beside the tools of the run.',
  ),
}

export const optionsRule: Rule<Options> = object<Options>(optionFields)

export const compactionFields: Fields<CompactionSettings> = {
  prompt: described(text, 'Instructions for the model that writes the summary.'),
  budget: described(whole(1), 'The most tokens of a summary.'),
  keep: described(whole(0), 'How many of the last messages stay as they are, at most.'),
  every: described(whole(1), 'Summarise after this many user messages.'),
  native: described(flag, "`false`: never the provider's own compaction."),
  at: described(whole(1), 'A provider that can summarises by itself once a prompt has this many tokens.'),
}

export const policyFields: Fields<PolicySettings> = {
  preset: described(oneOf(presetNames), 'Start from this preset.'),
  maxMessages: described(nullable(whole(1)), 'The most messages that are sent; `null`: all.'),
  maxTokens: described(
    nullable(whole(1)),
    'The most tokens of messages that are sent, by estimate; `null`: as many as the model takes.',
  ),
  maxToolTurns: described(nullable(whole(0)), 'How many tool turns stay whole; `null`: all, 0: none.'),
  fold: described(
    oneOf(foldStyles),
    'What happens to older tool turns: one line for each call (`stub`), shorter results (`results`), nothing is left of them (`remove`), or the provider leaves them out itself (`provider`).',
  ),
  step: described(
    whole(1),
    'How many messages or tool turns a cut goes beyond the limit, so that the next one is far away.',
  ),
  rhythm: described(
    oneOf(['steps', 'economy']),
    'When messages and tool turns over the limits are left out: by counting (`steps`), or when that is cheaper (`economy`).',
  ),
  usable: described(
    above(0, 1),
    "The share of the model's window that is filled before anything is left out for its size.",
  ),
  floor: described(above(0, 1), 'The share of that which a cut for size goes down to.'),
  atLimit: described(oneOf(['summary', 'cut']), 'What happens once folding is not enough; by default `summary`.'),
  assumedWindow: described(whole(256), 'The window of a model of which none is known.'),
  pinned: described(text, 'A text that opens every request, before the system prompt, and is never cut.'),
  state: described(
    oneOf(['auto', 'off']),
    '`auto`: a provider that stores conversations gets only what is new to it; by default `off`.',
  ),
  recall: described(
    flag,
    '`false`: the model is not offered the tool `recall`, with which it reads what was folded, cut or summarised.',
  ),
  compaction: described(object<CompactionSettings>(compactionFields), 'How summaries are made.'),
}

export const policyRule: Rule<Policy> = either(oneOf(presetNames), object<PolicySettings>(policyFields))

export const guardFields: Fields<Guards> = {
  repeats: described(
    either(whole(1), never),
    'How many identical calls are tolerated before the model is warned, 3 by default; `false`: any number.',
  ),
  timeoutMs: described(whole(1), 'The most milliseconds that a run may take.'),
  outputSize: described(whole(1), 'The most characters that a run may write.'),
  callsPerReply: described(whole(1, 1000), 'The most calls of one reply that are run, 128 by default.'),
  concurrentTools: described(whole(1, 64), 'The most tools that run at the same time, 16 by default.'),
  resultSize: described(
    whole(1, 64 * 1024 * 1024),
    'The most bytes that are kept of a tool result, 16 MiB by default.',
  ),
  replySize: described(whole(1, 64 * 1024 * 1024), 'The most characters that are kept of a reply, 16 MiB by default.'),
}

const spend: Rule<Spend> = object<Spend>({
  usd: described(above(0), 'US dollars.'),
  tokens: described(whole(1), 'Input and output tokens together.'),
})

/** A route as data; in code it can be a function. */
export type RouteTable = Exclude<Route, (...step: never[]) => unknown>

const routeTable: Rule<RouteTable> = object<RouteTable>({
  tools: described(modelRef, 'Asked as long as there are tools to call.'),
  answer: described(modelRef, 'Writes the final answer from the tool results.'),
})

type FallbackEntry = Exclude<Fallback, string>

const fallback: Rule<Fallback> = either(
  modelRef,
  object<FallbackEntry>(
    { model: modelRef, on: described(listOf(oneOf(failureKinds), { minItems: 1 }), 'Only after these failures.') },
    ['model'],
  ),
)

/** The settings of a run that are the same wherever they are written. */
export const sharedFields: Fields<
  Omit<RunSettings, 'model' | 'tools' | 'signal' | 'route' | 'answer' | 'context'> & { route?: RouteTable }
> = {
  protocol: described(name, "One of the provider's protocols; by default its usual one."),
  system: described(text, 'The system prompt.'),
  policy: described(policyRule, 'What is sent of a long history: a preset, or settings.'),
  options: described(optionsRule, 'How replies are requested.'),
  maxSteps: described(whole(1, 10_000), 'The most requests in one run; 50 by default.'),
  guards: described(object<Guards>(guardFields), 'When a run that goes wrong is stopped.'),
  budget: described(
    object<Budget>({
      run: described(spend, 'For one run.'),
      conversation: described(spend, 'For the whole conversation.'),
    }),
    'The most that a run or a conversation may cost.',
  ),
  route: described(routeTable, 'Another model for some steps.'),
  fallback: described(listOf(fallback), 'Models to ask in this order when one fails before it has answered.'),
}

/** A tool in code. Its object may have more than the loop reads. */
const toolRule: Rule<Tool> = object<Tool>(
  {
    name,
    description: text,
    input: jsonObject,
    kind: oneOf(['free-form', 'search']),
    grammar: object<Grammar>({ syntax: name, definition: text }, ['syntax', 'definition']),
    namespace: object<{ name: string; description?: string }>({ name, description: text }, ['name']),
    run: functionValue,
    repeatable: flag,
    timeoutMs: whole(1),
    ask: either(flag, functionValue),
    askTimeoutMs: whole(1),
    read: functionValue,
  },
  ['name', 'run'],
  true,
)

/** `start` and `open`: what a caller in code gives; `send` and the others take any part of it. */
export const runFields: Fields<RunSettings> = {
  ...sharedFields,
  model: modelRef,
  tools: listOf(toolRule),
  route: either(functionValue, routeTable),
  answer: either(instance, functionValue),
  context: anything,
  signal: instance,
}

const { extra: _, cacheKey: __, ...httpOptions } = optionFields

/**
 * The settings of a conversation or of one run over HTTP. `extra` and `cacheKey` are not for clients: the first could name
 * another model than the key may use, the second could read from the cache of another conversation.
 */
export const httpFields = {
  ...sharedFields,
  model: described(modelRef, '`provider/model`; by default the model of the server.'),
  tools: described(listOf(name, { maxItems: 200 }), 'Names of the tools of the server to offer; by default all.'),
  options: described(object<Omit<Options, 'extra' | 'cacheKey'>>(httpOptions), 'How replies are requested.'),
}

/** Where providers are and how they are reached: what `openSynapse` takes. */
export const connectionFields = {
  store: either(text, instance),
  owner: name,
  env: instance,
  keys: mapOf(text),
  baseUrls: mapOf(text),
  offline: either(flag, instance),
  rows: listOf(instance),
  config: text,
  adapters: listOf(instance),
  transport: object<Record<'fetch' | 'limits' | 'retry' | 'budget' | 'sleep', never>>({
    fetch: functionValue,
    limits: instance,
    retry: instance,
    budget: instance,
    sleep: functionValue,
  }),
  tools: listOf(toolRule),
  telemetry: either(flag, instance),
  now: functionValue,
}
