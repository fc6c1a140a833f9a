// The settings as zod schemas: what code, YAML, HTTP, command line and AI SDK accept, and what the JSON Schemas, the
// OpenAPI document and the tables in the documentation are made from. The types beside this file are written by hand,
// because the package ships no zod that its type declarations could name; the compiler holds the two together below.
//
// Schemas are built when they are first needed, and by zod/mini: importing the package does not pay for them.

import * as z from 'zod/mini'
import type { ErrorKind } from '../core/error.ts'
import { isObject, type JsonObject } from '../core/json.ts'
import type { Tool } from '../core/tool.ts'
import type { Effort, Options } from './options.ts'
import { presets, type CompactionSettings, type FoldStyle, type Policy, type PolicySettings } from './policy.ts'
import type { Budget, Fallback, Guards, Route, RunSettings, Spend } from './run.ts'

/** Fields of an object, one schema for each key of its type. */
type Fields<T> = { [K in keyof T]-?: z.ZodMiniType }

export const efforts = [
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
] as const satisfies readonly Effort[]
const foldStyles = ['stub', 'results', 'remove', 'provider'] as const satisfies readonly FoldStyle[]
const toolChoices = ['auto', 'none', 'required'] as const
export const presetNames = Object.keys(presets) as [keyof typeof presets, ...(keyof typeof presets)[]]

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

export const modelRef = once(() =>
  z
    .string()
    .check(
      z.regex(/^\s*[^/\s]+(\/\S+)?\s*$/, 'is not a model; write provider/model, such as anthropic/claude-opus-5'),
      z.describe('`provider/model`, or a provider alone for its default model.'),
    ),
)

const whole = (least: number) => z.int().check(z.minimum(least))
const share = () => z.number().check(z.gt(0), z.maximum(1))
const limit = (least: number) => z.nullable(whole(least))
const name = () => z.string().check(z.minLength(1))
const jsonObject = () => z.record(z.string(), z.unknown()) as unknown as z.ZodMiniType<JsonObject>

export const optionFields = once(
  () =>
    ({
      maxOutput: field(whole(1), 'The most tokens of a reply.'),
      temperature: field(z.number().check(z.minimum(0), z.maximum(2)), 'Randomness of sampling.'),
      topP: field(z.number().check(z.minimum(0), z.maximum(1)), 'Nucleus sampling: the share of probability to draw from.'),
      stop: field(z.array(name()), 'Texts that end a reply.'),
      effort: field(z.enum(efforts), 'How much the model thinks before it answers.'),
      toolChoice: field(
        z.union([z.enum(toolChoices), z.strictObject({ tool: name() })]),
        'Whether tools are called: `auto`, `none`, `required`, or `{ tool }` for one of them.',
      ),
      parallelTools: field(z.boolean(), 'Whether one reply may call several tools.'),
      answerSchema: field(jsonObject(), 'A JSON Schema that the answer must match.'),
      cacheKey: field(name(), 'Groups requests for providers that route by a key; by default the id of the conversation.'),
      cacheTtl: field(z.enum(['5m', '1h']), "How long the provider's prompt cache is kept."),
      store: field(z.boolean(), 'Ask the provider to store the reply under an id.'),
      stream: field(z.boolean(), 'Whether the reply is streamed; by default it is.'),
      extra: field(jsonObject(), 'Merged into the request body last, unchanged: for what has no option here.'),
    }) satisfies Fields<Options>,
)

export const optionsSchema = once((): z.ZodMiniType<Options> => z.strictObject(optionFields()))

const compactionFields = once(
  () =>
    ({
      prompt: field(z.string(), 'Instructions for the model that writes the summary.'),
      budget: field(whole(1), 'The most tokens of a summary.'),
      keep: field(whole(0), 'How many of the last messages stay as they are, at most.'),
      every: field(whole(1), 'Summarise after this many user messages.'),
      native: field(z.boolean(), "`false`: never the provider's own compaction."),
      at: field(whole(1), 'A provider that can summarises by itself once a prompt has this many tokens.'),
    }) satisfies Fields<CompactionSettings>,
)

export const policyFields = once(
  () =>
    ({
      preset: field(z.enum(presetNames), 'Start from this preset.'),
      maxMessages: field(limit(1), 'The most messages that are sent; `null`: all.'),
      maxTokens: field(limit(1), 'The most tokens of messages that are sent; `null`: as many as the model takes.'),
      maxToolTurns: field(limit(0), 'How many tool turns stay whole; `null`: all, 0: none.'),
      fold: field(
        z.enum(foldStyles),
        'What happens to older tool turns: a line for each call (`stub`), shorter `results`, `remove`, or `provider`: it leaves them out itself.',
      ),
      step: field(whole(1), 'How many messages or tool turns a cut goes beyond the limit, so that the next one is far away.'),
      rhythm: field(
        z.enum(['steps', 'economy']),
        'When messages and tool turns over the limits are left out: by counting (`steps`), or when that is cheaper (`economy`).',
      ),
      usable: field(share(), "The share of the model's window that is filled before anything is left out for its size."),
      floor: field(share(), 'The share of that which a cut for size goes down to.'),
      atLimit: field(z.enum(['summary', 'cut']), 'What happens once folding is not enough; by default a summary.'),
      assumedWindow: field(whole(256), 'The window of a model of which none is known.'),
      pinned: field(z.string(), 'A text that opens every request and is never cut.'),
      state: field(
        z.enum(['auto', 'off']),
        '`auto`: a provider that stores conversations gets only what is new to it; by default `off`.',
      ),
      compaction: field(z.strictObject(compactionFields()), 'How summaries are made.'),
    }) satisfies Fields<PolicySettings>,
)

export const policySchema = once(
  (): z.ZodMiniType<Policy> => z.union([z.enum(presetNames), z.strictObject(policyFields())]),
)

const spend = () =>
  z.strictObject({
    usd: field(z.number().check(z.gt(0)), 'US dollars.'),
    tokens: field(whole(1), 'Input and output tokens together.'),
  } satisfies Fields<Spend>)

export const guardFields = once(
  () =>
    ({
      repeats: field(
        z.union([whole(1), z.literal(false)]),
        'How many identical calls are tolerated before the model is warned, 3 by default; `false`: any number.',
      ),
      timeoutMs: field(whole(1), 'The most milliseconds that a run may take.'),
      outputSize: field(whole(1), 'The most characters that a run may write.'),
    }) satisfies Fields<Guards>,
)

/** The settings of a run that are the same wherever they are written. */
export const sharedFields = once(
  () =>
    ({
      protocol: field(name(), "One of the provider's protocols; by default its usual one."),
      system: field(z.string(), 'The system prompt.'),
      policy: field(policySchema(), 'What is sent of a long history: a preset or settings.'),
      options: field(optionsSchema(), 'How replies are requested.'),
      maxSteps: field(whole(1), 'The most requests in one run; 50 by default.'),
      guards: field(z.strictObject(guardFields()), 'When a run that goes wrong is stopped.'),
      budget: field(
        z.strictObject({
          run: field(spend(), 'For one run.'),
          conversation: field(spend(), 'For the whole conversation.'),
        } satisfies Fields<Budget>),
        'The most that a run or a conversation may cost.',
      ),
      route: field(
        z.strictObject({
          tools: field(modelRef(), 'Asked as long as there are tools to call.'),
          answer: field(modelRef(), 'Writes the final answer from the tool results.'),
        } satisfies Fields<Exclude<Route, (...step: never[]) => unknown>>),
        'Another model for some steps.',
      ),
      fallback: field(
        z.array(
          z.union([
            modelRef(),
            z.strictObject({
              model: modelRef(),
              on: field(z.array(z.enum(failureKinds)).check(z.minLength(1)), 'Only after these failures.'),
            } satisfies Fields<Exclude<Fallback, string>>),
          ]),
        ),
        'Models to ask in this order when one fails before it has answered.',
      ),
    }) satisfies Fields<Omit<RunSettings, 'model' | 'tools' | 'signal'>>,
)

const functionValue = () => z.custom((value) => typeof value === 'function', 'must be a function')
const objectValue = () => z.custom((value) => typeof value === 'object' && value !== null, 'must be an object')

/** A tool in code. Only what the loop reads of every tool is checked: the object may have more. */
const toolFields = once(
  () =>
    ({
      name: name(),
      description: optional(z.string()),
      input: z.custom(isObject, 'must be a JSON Schema of the arguments, such as { type: "object" }'),
      run: functionValue(),
      repeatable: optional(z.boolean()),
      timeoutMs: optional(whole(1)),
      ask: optional(z.union([z.boolean(), functionValue()])),
      askTimeoutMs: optional(whole(1)),
      read: optional(functionValue()),
    }) satisfies Fields<Tool>,
)

const tools = () => z.array(z.looseObject(toolFields())).check(z.refine(uniqueNames, 'has two tools of the same name'))

function uniqueNames(given: readonly { name?: unknown }[]): boolean {
  return new Set(given.map((tool) => tool.name)).size === given.length
}

/** `start`, `open`: what a caller in code may give; `send` and the others take any part of it. */
export const runFields = once(
  () =>
    ({
      model: modelRef(),
      tools: field(tools(), 'What the model may call.'),
      ...sharedFields(),
      route: field(z.union([functionValue(), sharedFields().route]), 'Another model for some steps.'),
      signal: field(
        z.custom((value) => isObject(value) && 'aborted' in value, 'must be an AbortSignal'),
        'Aborts the run.',
      ),
    }) satisfies Fields<RunSettings>,
)

/**
 * A conversation's settings or those of one run over HTTP. `extra` and `cacheKey` are the server's own: the first could
 * name another model than the key may use, the second reach into the cache of another conversation.
 */
export const httpFields = once(() => {
  const { extra: _, cacheKey: __, ...options } = optionFields()
  return {
    model: field(modelRef(), '`provider/model`; by default the model of the server.'),
    tools: field(z.array(name()).check(z.maxLength(200)), 'Names of the tools of the server to offer; by default all.'),
    ...sharedFields(),
    options: field(z.strictObject(options), 'How replies are requested.'),
  }
})

/** Where providers are and how they are reached: what `openSynapse` takes. */
export const connectionFields = once(() => ({
  store: optional(z.union([z.string(), objectValue()])),
  owner: optional(name()),
  env: optional(objectValue()),
  keys: optional(z.record(z.string(), z.string())),
  baseUrls: optional(z.record(z.string(), z.string())),
  offline: optional(z.union([z.boolean(), objectValue()])),
  rows: optional(z.array(objectValue())),
  config: optional(z.string()),
  adapters: optional(z.array(objectValue())),
  transport: optional(
    z.strictObject({
      fetch: optional(functionValue()),
      limits: optional(objectValue()),
      retry: optional(objectValue()),
      budget: optional(objectValue()),
      sleep: optional(functionValue()),
    }),
  ),
  telemetry: optional(z.union([z.boolean(), objectValue()])),
  now: optional(functionValue()),
}))

/** Left out, or undefined in code; JSON and YAML have no undefined, which is what the type says. */
function optional<T extends z.ZodMiniType>(schema: T): z.ZodMiniExactOptional<T> {
  return z.optional(schema) as unknown as z.ZodMiniExactOptional<T>
}

function field<T extends z.ZodMiniType>(schema: T, about: string): z.ZodMiniExactOptional<T> {
  return optional(schema).check(z.describe(about))
}

/** Made when it is first needed, and once. */
export function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}
