// Every setting, declared once: what code, YAML, HTTP, command line and AI SDK accept, and what the JSON Schemas, the
// OpenAPI document and the tables in the documentation are made from. The compiler checks each rule against the type of
// its setting, and that no key is missing.

import { toolKinds, type Grammar } from '../core/context.ts'
import type { ErrorKind } from '../core/error.ts'
import type { Tool } from '../core/tool.ts'
import { efforts, type Options, type ServerTool } from './options.ts'
import { foldStyles, presetNames, type CompactionSettings, type Policy, type PolicySettings } from './policy.ts'
import {
  above,
  anything,
  withDescription,
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
  integer,
  within,
  type Fields,
  type Rule,
} from './rule.ts'
import type { Budget, Composing, Fallback, Guards, Handoff, Hooks, Route, RunSettings, Spend } from './run.ts'

/** Failures of a provider or the connection to it; no other provider can help with the rest. */
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

type ServerToolOf<K> = Extract<ServerTool, { kind: K }>

/** `provider/model`, or a provider alone for its default model. */
export const modelRef: Rule<string> = {
  type: 'string',
  pattern: String.raw`^\s*[^/\s]+(/\S+)?\s*$`,
  otherwise: 'is not a model; write provider/model, such as anthropic/claude-opus-5',
}

const serverTool: Rule<ServerTool> = either(
  either(
    object<ServerToolOf<'web-search'>>({ kind: oneOf(['web-search']), domains: listOf(name) }, ['kind']),
    object<ServerToolOf<'code-execution'>>({ kind: oneOf(['code-execution']) }, ['kind']),
  ),
  either(
    object<ServerToolOf<'file-search'>>({ kind: oneOf(['file-search']), stores: listOf(name) }, ['kind', 'stores']),
    object<ServerToolOf<'mcp'>>({ kind: oneOf(['mcp']), name, url: name, authorization: name, only: listOf(name) }, [
      'kind',
      'name',
      'url',
    ]),
  ),
)

export const optionFields: Fields<Options> = {
  maxOutput: withDescription(integer(1), 'The most tokens of a reply.'),
  temperature: withDescription(within(0, 2), 'Randomness of sampling.'),
  topP: withDescription(within(0, 1), 'Nucleus sampling: the share of probability to draw from.'),
  topK: withDescription(integer(1), 'Only this many of the most likely tokens are drawn from.'),
  seed: withDescription(integer(Number.MIN_SAFE_INTEGER), 'Makes sampling repeatable, as far as the provider can.'),
  presencePenalty: withDescription(within(-2, 2), 'Makes tokens that were used before less likely.'),
  frequencyPenalty: withDescription(within(-2, 2), 'The same, the more often they were used.'),
  stop: withDescription(listOf(name), 'Texts that end a reply.'),
  effort: withDescription(oneOf(efforts), 'How much the model thinks before it answers.'),
  toolChoice: withDescription(
    either(oneOf(['auto', 'none', 'required']), object<{ tool: string }>({ tool: name }, ['tool'])),
    'Whether tools are called: `auto`, `none`, `required`, or `{ tool }` for one of them.',
  ),
  parallelTools: withDescription(flag, 'Whether one reply may call several tools.'),
  answerSchema: withDescription(jsonObject, 'A JSON Schema that the answer must match.'),
  cacheKey: withDescription(
    name,
    'Groups requests for providers that route by a key; by default the id of the conversation.',
  ),
  cacheTtl: withDescription(oneOf(['5m', '1h']), "How long the provider's prompt cache lives."),
  store: withDescription(flag, 'Ask the provider to store the reply under an id.'),
  stream: withDescription(flag, 'Whether the reply is streamed; by default it is.'),
  serverTools: withDescription(
    listOf(serverTool),
    'Tools that the provider runs itself: web search, code, files, MCP.',
  ),
  extra: withDescription(
    jsonObject,
    'Merged into the request body last, unchanged: for what has no option here. Its `tools` are sent with the tools of the run.',
  ),
}

export const optionsRule: Rule<Options> = object<Options>(optionFields)

export const compactionFields: Fields<CompactionSettings> = {
  prompt: withDescription(text, 'Instructions for the model that writes the summary.'),
  budget: withDescription(integer(1), 'The most tokens of a summary.'),
  keep: withDescription(integer(0), 'How many of the last messages stay as they are, at most.'),
  every: withDescription(integer(1), 'Summarise after this many user messages.'),
  native: withDescription(flag, "`false`: never the provider's own compaction."),
  at: withDescription(integer(1), 'A provider that can summarises by itself once a prompt has this many tokens.'),
}

export const policyFields: Fields<PolicySettings> = {
  preset: withDescription(oneOf(presetNames), 'Start from this preset.'),
  maxMessages: withDescription(nullable(integer(1)), 'The most messages that are sent; `null`: all.'),
  maxTokens: withDescription(
    nullable(integer(1)),
    'The most tokens of messages that are sent, by estimate; `null`: as many as fit the model.',
  ),
  maxToolTurns: withDescription(nullable(integer(0)), 'How many tool turns stay whole; `null`: all, 0: none.'),
  fold: withDescription(
    oneOf(foldStyles),
    'What happens to older tool turns: one line for each call (`stub`), shorter results (`results`), nothing is left of them (`remove`), or the provider leaves them out itself (`provider`).',
  ),
  step: withDescription(
    integer(1),
    'How many messages or tool turns a cut goes beyond the limit, so that the next one is far away.',
  ),
  rhythm: withDescription(
    oneOf(['steps', 'economy']),
    'When messages and tool turns over the limits are left out: by counting (`steps`), or when that is cheaper (`economy`).',
  ),
  usable: withDescription(
    above(0, 1),
    "The share of the model's window that is filled before anything is left out for its size.",
  ),
  floor: withDescription(above(0, 1), 'The share of that which a cut for size goes down to.'),
  atLimit: withDescription(oneOf(['summary', 'cut']), 'What happens once folding is not enough; by default `summary`.'),
  assumedWindow: withDescription(integer(256), 'The window of a model of which none is known.'),
  pinned: withDescription(text, 'A text that opens every request, before the system prompt, and is never cut.'),
  state: withDescription(
    oneOf(['auto', 'off']),
    '`auto`: a provider that stores conversations gets only what is new to it; by default `off`.',
  ),
  recall: withDescription(
    flag,
    '`false`: the model is not offered the tool `recall`, with which it reads what was folded, cut or summarised.',
  ),
  compaction: withDescription(object<CompactionSettings>(compactionFields), 'How summaries are made.'),
}

export const policyRule: Rule<Policy> = either(oneOf(presetNames), object<PolicySettings>(policyFields))

export const guardFields: Fields<Guards> = {
  repeats: withDescription(
    either(integer(1), never),
    'How many identical calls are tolerated before the model is warned, 3 by default; `false`: any number.',
  ),
  timeoutMs: withDescription(integer(1), 'The most milliseconds that a run may take.'),
  outputSize: withDescription(integer(1), 'The most characters that a run may write.'),
  callsPerReply: withDescription(integer(1, 1000), 'The most calls of one reply that are run, 128 by default.'),
  concurrentTools: withDescription(integer(1, 64), 'The most tools that run at the same time, 16 by default.'),
  resultSize: withDescription(
    integer(1, 64 * 1024 * 1024),
    'The most bytes stored of a tool result, 16 MiB by default.',
  ),
  replySize: withDescription(integer(1, 64 * 1024 * 1024), 'The most characters stored of a reply, 16 MiB by default.'),
}

const spend: Rule<Spend> = object<Spend>({
  usd: withDescription(above(0), 'US dollars.'),
  tokens: withDescription(integer(1), 'Input and output tokens together.'),
})

/** A route as data; in code it can be a function. */
export type RouteTable = Exclude<Route, (...step: never[]) => unknown>

const routeTable: Rule<RouteTable> = object<RouteTable>({
  tools: withDescription(modelRef, 'Asked as long as there are tools to call.'),
  answer: withDescription(
    either(
      modelRef,
      object<Composing>(
        {
          model: modelRef,
          guidance: withDescription(text, 'Added to the system prompt of that request.'),
          options: object<NonNullable<Composing['options']>>({
            temperature: within(0, 2),
            topP: within(0, 1),
            maxOutput: integer(1),
            effort: oneOf(efforts),
          }),
        },
        ['model'],
      ),
    ),
    'Writes the final answer from the tool results: a model, or `{ model, guidance, options }`.',
  ),
})

type FallbackEntry = Exclude<Fallback, string>

const fallback: Rule<Fallback> = either(
  modelRef,
  object<FallbackEntry>(
    {
      model: modelRef,
      on: withDescription(listOf(oneOf(failureKinds), { minItems: 1 }), 'Only after these failures.'),
    },
    ['model'],
  ),
)

/** The settings of a run that are the same wherever they are written. */
export const sharedFields: Fields<
  Omit<RunSettings, 'model' | 'tools' | 'signal' | 'route' | 'answer' | 'context' | 'hooks' | 'handoffs'> & {
    route?: RouteTable
  }
> = {
  protocol: withDescription(name, "One of the provider's protocols; its default one if absent."),
  system: withDescription(text, 'The system prompt.'),
  policy: withDescription(policyRule, 'What is sent of a long history: a preset, or settings.'),
  options: withDescription(optionsRule, 'How replies are requested.'),
  maxSteps: withDescription(integer(1, 10_000), 'The most requests in one run; 50 by default.'),
  guards: withDescription(object<Guards>(guardFields), 'When a failing run is stopped.'),
  budget: withDescription(
    object<Budget>({
      run: withDescription(spend, 'For one run.'),
      conversation: withDescription(spend, 'For the whole conversation.'),
    }),
    'The most that a run or a conversation may cost.',
  ),
  route: withDescription(routeTable, 'Another model for some steps.'),
  fallback: withDescription(listOf(fallback), 'Fallback models, tried in order when one fails before it has answered.'),
}

/** A tool in code. Its object may have more fields than the loop reads. */
const toolRule: Rule<Tool> = object<Tool>(
  {
    name,
    description: text,
    input: jsonObject,
    kind: oneOf(toolKinds),
    grammar: object<Grammar>({ syntax: name, definition: text }, ['syntax', 'definition']),
    namespace: object<{ name: string; description?: string }>({ name, description: text }, ['name']),
    declared: jsonObject,
    run: functionValue,
    repeatable: flag,
    timeoutMs: integer(1),
    ask: either(flag, functionValue),
    askTimeoutMs: integer(1),
    read: functionValue,
  },
  ['name', 'run'],
  true,
)

/** A tool without its function: what `prepare` takes. The encoder checks the schema of the input. */
export const toolSpecRule: Rule = object({ name, description: text, input: anything }, ['name'], true)

/** What `defineTool` takes; it checks the schema of the input itself. */
export const toolDefinitionRule: Rule = object(
  {
    name,
    description: text,
    input: anything,
    run: functionValue,
    repeatable: flag,
    timeoutMs: integer(1),
    ask: either(flag, functionValue),
    askTimeoutMs: integer(1),
  },
  ['name', 'run'],
)

/** `start` and `open`: settings from code; `send` and the others take any part of them. */
export const runFields: Fields<RunSettings> = {
  ...sharedFields,
  model: modelRef,
  tools: listOf(toolRule),
  route: either(functionValue, routeTable),
  answer: either(instance, functionValue),
  context: anything,
  hooks: object<Hooks>({
    beforeRequest: functionValue,
    afterReply: functionValue,
    beforeTool: functionValue,
    afterTool: functionValue,
  }),
  handoffs: listOf(
    object<Handoff>({ name, description: text, settings: either(instance, functionValue) }, ['name', 'settings'], true),
  ),
  signal: instance,
}

const { extra: _, cacheKey: __, serverTools: ___, ...httpOptions } = optionFields

/**
 * The settings of a conversation or of one run over HTTP. `extra` and `cacheKey` are not for clients: the first could
 * name another model than the key may use, the second could read from the cache of another conversation. `serverTools`
 * send messages to servers that the owner of the key has not chosen.
 */
export const httpFields = {
  ...sharedFields,
  model: withDescription(modelRef, '`provider/model`; by default the model of the server.'),
  agent: withDescription(name, 'An agent of the server: its settings are the defaults.'),
  tools: withDescription(
    listOf(name, { maxItems: 200 }),
    'Names of tools of the server to offer, or of MCP servers for all of theirs; by default those of the agent, and without one the default tools of the server.',
  ),
  folder: withDescription(
    name,
    'The folder of the file and command tools: one that the server was started with, or one inside it; by default the first.',
  ),
  options: withDescription(
    object<Omit<Options, 'extra' | 'cacheKey' | 'serverTools'>>(httpOptions),
    'How replies are requested.',
  ),
}

/** What every provider row needs; those of files are checked in full (config/provider-schema). */
const rowRule: Rule = object(
  {
    id: name,
    name,
    wires: listOf(object({ protocol: name, baseUrl: text }, ['protocol', 'baseUrl'], true), { minItems: 1 }),
    keyVariables: listOf(name),
    auth: instance,
  },
  ['id', 'name', 'wires', 'keyVariables', 'auth'],
  true,
)

/** The providers and how they are reached: what `openSynapse` takes. */
export const connectionFields = {
  store: either(text, instance),
  owner: name,
  env: instance,
  keys: mapOf(text),
  baseUrls: mapOf(text),
  offline: either(flag, instance),
  rows: listOf(rowRule),
  wires: listOf(instance),
  config: text,
  aliases: mapOf(modelRef),
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
