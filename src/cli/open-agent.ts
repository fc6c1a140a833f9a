// The agent of a conversation, and its tools, at the terminal. A conversation is bound to the file of its agent and to
// its content: an agent of the same name in another folder is another agent.

import { existsSync } from 'node:fs'
import { dirname, isAbsolute } from 'node:path'
import { findAgentFile, folderOfAgent, isAgentPath } from '../agents/find.ts'
import { type Agent, openAgent } from '../agents/load.ts'
import { builtInConfig, type Config, shownPath } from '../config/load.ts'
import { rowsFor } from '../config/stored-providers.ts'
import { hashOfFiles } from '../config/trust.ts'
import { asFailure, SynapseError } from '../core/error.ts'
import { isObject, type JsonObject } from '../core/json.ts'
import type { ChangedTool } from '../mcp/definition.ts'
import {
  type AgentPlace,
  agentTrustRequest,
  type ConfigValues,
  isInteractive,
  requireAgentTrust,
  printNotice,
  textDiff,
  trustedConfig,
} from './trusted.ts'
import type { LocalStore } from './local-store.ts'
import { noteLine } from './print.ts'
import { storedDigests, storeDigests } from './toolbox.ts'
import { neutral } from './terminal.ts'

export interface OpenAgent {
  agent: Agent
  /** The configuration that applies to the agent's folder. */
  config: Config
  /** The file and its content, to which the conversation is bound. */
  bound: BoundAgent
  close(): Promise<void>
}

/** The agent of a conversation, as stored. */
export interface BoundAgent extends JsonObject {
  file: string
  /** Over all files of the agent. */
  sha256: string
  /** Its file was named by the user, so its folder need not be trusted. */
  named: boolean
}

/** By its name or its file; throws one sentence if there is none. */
export async function openAgentNamed(name: string, values: ConfigValues, local: LocalStore): Promise<OpenAgent> {
  const place = await placeNamed(name, values, local)
  return load(place, await requireAgentTrust(place))
}

/** The agent with this name, or in this file, with its configuration. */
export async function placeNamed(name: string, values: ConfigValues, local: LocalStore): Promise<AgentPlace> {
  const named = isAgentPath(name)
  // A path needs no configuration to be found.
  const file = findAgentFile(name, named ? builtInConfig() : await trustedConfig(values))
  return placeOf(file, values, named, local)
}

/** The agent that a conversation is bound to; without it, the conversation can still be continued. */
export async function openAgentOf(
  settings: JsonObject,
  values: ConfigValues,
  local: LocalStore,
): Promise<OpenAgent | undefined> {
  const found = await placeOfBound(settings, values, local)
  if (typeof found === 'string') {
    printNotice([found])
    return undefined
  }
  try {
    return await load(found, await requireAgentTrust(found))
  } catch (error) {
    if (!(error instanceof SynapseError) || error.kind !== 'bad-input') throw error
    printNotice([without(settings, error.message)])
    return undefined
  }
}

/** The agent of a conversation, if it may be used; otherwise a sentence that says why not. `loads`: with its code. */
export async function placeOfBound(
  settings: JsonObject,
  values: ConfigValues,
  local: LocalStore,
  loads = true,
): Promise<AgentPlace | string> {
  const bound = boundAgent(settings)
  if (!bound) return without(settings, 'its file was not recorded.')
  if (!existsSync(bound.file)) return without(settings, `${bound.file} no longer exists.`)
  try {
    const place = await placeOf(bound.file, values, bound.named, local)
    if (hashOfFiles(agentTrustRequest(place).files) === bound.sha256) return place
    const change = `${shownPath(bound.file)}, or a file that it uses, has changed since this conversation used it.`
    // For an agent that was found by its name, requireAgentTrust asks about the change itself.
    if (!bound.named || !loads) {
      printNotice([change])
      return place
    }
    if (!isInteractive()) return without(settings, change)
    const { yesOrNo } = await import('./yes-or-no.ts')
    return (await yesOrNo(neutral(`${change} Use the changed version? [y/N] `))) ? place : without(settings, change)
  } catch (error) {
    const failure = asFailure(error)
    if (failure.kind !== 'bad-input') throw error
    return without(settings, failure.message)
  }
}

/** The agent's file that a conversation is bound to; undefined if it has none, or only a name. */
function boundAgent(settings: JsonObject): BoundAgent | undefined {
  const origin = settings['origin']
  const agent = isObject(origin) ? origin['agent'] : undefined
  if (!isObject(agent)) return undefined
  const { file, sha256, named } = agent
  if (typeof file !== 'string' || !isAbsolute(file) || typeof sha256 !== 'string') return undefined
  return { file, sha256, named: named === true }
}

/** What a conversation stores about the agent that it was handed to. */
export async function bindingOf(handoff: object, from: OpenAgent, settings: JsonObject): Promise<JsonObject> {
  if (!('file' in handoff) || typeof handoff.file !== 'string') return {}
  const { config, bound } = from
  const { files } = agentTrustRequest({ file: handoff.file, config, named: bound.named, folder: dirname(handoff.file) })
  const agent: BoundAgent = { file: handoff.file, sha256: hashOfFiles(files), named: bound.named }
  const origin = isObject(settings['origin']) ? settings['origin'] : {}
  return { origin: { ...origin, agent } }
}

function without(settings: JsonObject, why: string): string {
  const name = typeof settings['agent'] === 'string' ? settings['agent'] : 'an agent'
  return `This conversation is with the agent ${name}, whose tools and settings are left out: ${why} Choose one with --agent NAME or FILE.`
}

/** The configuration is that of the agent's folder. */
async function placeOf(file: string, values: ConfigValues, named: boolean, { store }: LocalStore): Promise<AgentPlace> {
  const read = await trustedConfig(values, dirname(file))
  const config = { ...read, rows: await rowsFor(store, read) }
  return { file, config, named, folder: read.file === undefined ? folderOfAgent(file) : dirname(read.file) }
}

/** Shows what has changed in the definition of a tool; if not interactive, it is not offered. */
async function allowChanged({ server, name, before, now, added }: ChangedTool): Promise<boolean> {
  printNotice([
    added ? `${server} has a new tool, ${name}:` : `The definition of ${name} has changed since it was allowed:`,
    ...(before === undefined ? now.split('\n').map((line) => `  + ${line}`) : textDiff(before, now)),
  ])
  if (!isInteractive()) return false
  const { yesOrNo } = await import('./yes-or-no.ts')
  return (await yesOrNo(neutral(`Allow ${name}${added ? '' : ' in its new form'}? [y/N] `))) === true
}

async function load({ file, config, named }: AgentPlace, sha256: string): Promise<OpenAgent> {
  const home = config.file ?? file
  const agent = await openAgent(file, {
    config,
    known: storedDigests(home),
    onNote: (note) => printNotice([noteLine(note)]),
    onChanged: allowChanged,
  })
  return {
    agent,
    config,
    bound: { file, sha256, named },
    async close() {
      const digests = agent.digests()
      await agent.close()
      try {
        storeDigests(home, digests)
      } catch (error) {
        printNotice([
          `The tool definitions of MCP servers could not be saved, so later changes will go unnoticed: ${asFailure(error).message}`,
        ])
      }
    },
  }
}
