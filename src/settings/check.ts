// Validation of settings from code, as for files: a JavaScript caller with a mistyped key gets the same error message.

import { badInput } from '../core/error.ts'
import { problemsWith, atKey, type SettingProblem } from './problems.ts'
import { instance, listOf, name, object, text, type Rule } from './rule.ts'
import {
  connectionFields,
  optionsRule,
  policyFields,
  policyRule,
  runFields,
  sharedFields,
  toolDefinitionRule,
  toolSpecRule,
} from './schema.ts'

/** `policy.maxToolTurns: must be …` */
export function lineOf({ path, says }: SettingProblem): string {
  return path.length === 0 ? says : `${path.join('.')}: ${says}`
}

/** Throws all problems, one line each. */
function check(rule: Rule, value: unknown, at?: string): void {
  const problems = problemsWith(rule, value)
  if (problems.length === 0) return
  throw badInput(problems.map((problem) => lineOf(at === undefined ? problem : atKey(at, problem))).join('\n'))
}

export function checkPolicy(policy: unknown): void {
  check(policyRule, policy, 'policy')
}

export function checkOptions(options: unknown): void {
  check(optionsRule, options, 'options')
}

const runSettingsRule: Rule = object(runFields, ['model'])
const runChangesRule: Rule = object(runFields)

/** Throws unless the argument of a function is an object, with an example of what it takes. */
export function checkArgument(value: unknown, example: string): void {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return
  const text = value === undefined ? 'nothing' : Array.isArray(value) ? 'a list' : JSON.stringify(value)
  throw badInput(`Give an object, such as ${example}, not ${text}.`)
}

const toolSpecs: Rule = listOf(toolSpecRule)

/** The tools that `prepare` takes. */
export function checkToolSpecs(tools: unknown): void {
  check(toolSpecs, tools, 'tools')
}

/** What `defineTool` takes. */
export function checkToolDefinition(definition: unknown): void {
  check(toolDefinitionRule, definition)
}

interface Named {
  name: string
}

interface NamedSettings {
  tools?: readonly Named[]
  handoffs?: readonly Named[]
}

/** What `start` and `open` take. */
export function checkRunSettings(settings: NamedSettings): void {
  check(runSettingsRule, settings)
  checkNames(settings)
}

/** What `send` and the other methods of a conversation take: any part of it. */
export function checkRunChanges(changes: NamedSettings): void {
  checkArgument(changes, "{ model: 'anthropic' }")
  check(runChangesRule, changes)
  checkNames(changes)
}

function checkNames({ tools = [], handoffs = [] }: NamedSettings): void {
  const [tool, agent] = [duplicateName(tools), duplicateName(handoffs)]
  if (tool !== undefined) throw badInput(`tools: there are two tools named ${tool}`)
  if (agent !== undefined) throw badInput(`handoffs: there are two agents named ${agent}`)
}

function duplicateName(all: readonly Named[]): string | undefined {
  const names = all.map(({ name }) => name)
  return names.find((name, index) => names.indexOf(name) < index)
}

const connection: Rule = object(connectionFields)

/** What `openSynapse` takes. */
export function checkConnection(options: unknown): void {
  checkArgument(options, "openSynapse({ store: 'chats.db' })")
  check(connection, options)
}

const { env, keys, baseUrls, offline, rows, wires, config, adapters, transport, now, owner } = connectionFields
const { tools: _, signal: __, context: ____, hooks: _____, handoffs: ______, ...settings } = runFields
const provider = { ...settings, provider: name, model: text }

const providerOptions: Rule = object(
  { ...provider, apiKey: text, baseUrl: text, env, offline, rows, wires, config, adapters, transport, now },
  ['provider'],
)

/** What `createProvider` takes. */
export function checkProviderOptions(options: unknown): void {
  checkArgument(options, "createProvider({ provider: 'anthropic' })")
  check(providerOptions, options)
}

const { policy: ___, ...withoutPolicy } = provider
const providerConfig: Rule = object({ ...withoutPolicy, ...policyFields }, ['provider', 'model'])

/** The result of `updateConfig` of a provider: the settings of a run and those of its policy. */
export function checkProviderConfig(changed: unknown): void {
  check(providerConfig, changed)
}

const { protocol, policy } = sharedFields
const connected = { env, keys, baseUrls, offline, rows, wires, adapters, transport }
const modelOptions: Rule = object({ ...connected, protocol, policy, store: instance, owner, conversationId: name })

/** What `synapseModel` of the AI SDK bridge takes. */
export function checkModelOptions(options: unknown): void {
  check(modelOptions, options)
}
