// Settings that come from code, checked as those of a file are: a caller in JavaScript who mistypes a key is told so in
// the same sentence.

import * as z from 'zod/mini'
import { badInput } from '../core/error.ts'
import type { Options } from './options.ts'
import type { Policy } from './policy.ts'
import { problemsWith, type Path, type SettingProblem } from './problems.ts'
import {
  connectionFields,
  once,
  optionsSchema,
  policyFields,
  policySchema,
  runFields,
  sharedFields,
} from './schema.ts'

/** Throws everything that is wrong, one line each: `policy.maxToolTurns: must be …`. */
export function checkSettings(schema: z.ZodMiniType, value: unknown, at: Path = []): void {
  const problems = problemsWith(schema, value)
  if (problems.length > 0) throw badInput(problems.map((problem) => lineOf(problem, at)).join('\n'))
}

export function lineOf({ path, says }: SettingProblem, at: Path = []): string {
  const place = [...at, ...path].join('.')
  return place === '' ? says : `${place}: ${says}`
}

export function checkPolicy(policy: Policy): void {
  checkSettings(policySchema(), policy, ['policy'])
}

export function checkOptions(options: Options): void {
  checkSettings(optionsSchema(), options, ['options'])
}

const wholeRun = once(() => z.strictObject(runFields()))
const partOfRun = once(() => z.partial(wholeRun()))
const connection = once(() => z.strictObject(connectionFields()))

/** What `start` and `open` take. */
export function checkRunSettings(settings: unknown): void {
  checkSettings(wholeRun(), settings)
}

/** What `send` and the other methods of a conversation take: any part of it. */
export function checkRunChanges(changes: unknown): void {
  checkSettings(partOfRun(), changes)
}

/** What `openSynapse` takes. */
export function checkConnection(options: unknown): void {
  checkSettings(connection(), options)
}

const providerOptions = once(() => {
  const { env, offline, rows, config, adapters, transport, now } = connectionFields()
  const { tools: _, signal: __, ...run } = runFields()
  return z.strictObject({
    ...{ env, offline, rows, config, adapters, transport, now },
    ...run,
    provider: z.string().check(z.minLength(1)),
    model: z.optional(z.string()),
    apiKey: z.optional(z.string()),
    baseUrl: z.optional(z.string()),
  })
})

/** What `createProvider` takes. */
export function checkProviderOptions(options: unknown): void {
  checkSettings(providerOptions(), options)
}

const providerConfig = once(() => {
  const { tools: _, signal: __, policy: ___, ...run } = runFields()
  return z.strictObject({ ...run, ...policyFields(), provider: z.string().check(z.minLength(1)), model: z.string() })
})

/** What `updateConfig` of a provider leaves: the settings of a run and, beside them, those of its policy. */
export function checkProviderConfig(config: unknown): void {
  checkSettings(providerConfig(), config)
}

const modelOptions = once(() => {
  const { env, keys, baseUrls, offline, rows, adapters, transport } = connectionFields()
  const { protocol, policy } = sharedFields()
  return z.strictObject({ env, keys, baseUrls, offline, rows, adapters, transport, protocol, policy })
})

/** What `synapseModel` of the AI SDK bridge takes. */
export function checkModelOptions(options: unknown): void {
  checkSettings(modelOptions(), options)
}
