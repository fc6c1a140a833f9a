// Settings that come from code, checked as those of a file are: a caller in JavaScript who mistypes a key gets the same
// sentence.

import { badInput } from '../core/error.ts'
import { problemsWith, under, type SettingProblem } from './problems.ts'
import { name, object, text, type Rule } from './rule.ts'
import { connectionFields, optionsRule, policyFields, policyRule, runFields, sharedFields } from './schema.ts'

/** `policy.maxToolTurns: must be …` */
export function lineOf({ path, says }: SettingProblem): string {
  return path.length === 0 ? says : `${path.join('.')}: ${says}`
}

/** Throws everything that is wrong, one line each. */
function check(rule: Rule, value: unknown, at?: string): void {
  const problems = problemsWith(rule, value)
  if (problems.length === 0) return
  throw badInput(problems.map((problem) => lineOf(at === undefined ? problem : under(at, problem))).join('\n'))
}

export function checkPolicy(policy: unknown): void {
  check(policyRule, policy, 'policy')
}

export function checkOptions(options: unknown): void {
  check(optionsRule, options, 'options')
}

const wholeRun: Rule = object(runFields, ['model'])
const partOfRun: Rule = object(runFields)

/** What `start` and `open` take. */
export function checkRunSettings(settings: { tools?: readonly { name: string }[] }): void {
  check(wholeRun, settings)
  checkToolNames(settings.tools)
}

/** What `send` and the other methods of a conversation take: any part of it. */
export function checkRunChanges(changes: { tools?: readonly { name: string }[] }): void {
  check(partOfRun, changes)
  checkToolNames(changes.tools)
}

function checkToolNames(tools: readonly { name: string }[] = []): void {
  const names = tools.map((tool) => tool.name)
  const twice = names.find((one, index) => names.indexOf(one) < index)
  if (twice !== undefined) throw badInput(`tools: there are two tools named ${twice}`)
}

const connection: Rule = object(connectionFields)

/** What `openSynapse` takes. */
export function checkConnection(options: unknown): void {
  check(connection, options)
}

const { env, keys, baseUrls, offline, rows, config, adapters, transport, now } = connectionFields
const { tools: _, signal: __, context: ____, ...settings } = runFields
const provider = { ...settings, provider: name, model: text }

const providerOptions: Rule = object(
  { ...provider, apiKey: text, baseUrl: text, env, offline, rows, config, adapters, transport, now },
  ['provider'],
)

/** What `createProvider` takes. */
export function checkProviderOptions(options: unknown): void {
  check(providerOptions, options)
}

const { policy: ___, ...withoutPolicy } = provider
const providerConfig: Rule = object({ ...withoutPolicy, ...policyFields }, ['provider', 'model'])

/** What `updateConfig` of a provider leaves: the settings of a run and, beside them, those of its policy. */
export function checkProviderConfig(changed: unknown): void {
  check(providerConfig, changed)
}

const { protocol, policy } = sharedFields
const modelOptions: Rule = object({ env, keys, baseUrls, offline, rows, adapters, transport, protocol, policy })

/** What `synapseModel` of the AI SDK bridge takes. */
export function checkModelOptions(options: unknown): void {
  check(modelOptions, options)
}
