// What conversations can use here: the tools, MCP servers and agents of the trusted configuration, and the built-in
// tools for one folder.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { folderOfAgent } from '../agents/find.ts'
import { openToolbox, type Toolbox } from '../agents/toolbox.ts'
import { builtInConfig, type Config } from '../config/load.ts'
import { asFailure } from '../core/error.ts'
import { isObject } from '../core/json.ts'
import type { Digests } from '../mcp/servers.ts'
import type { ProviderRow } from '../providers/provider.ts'
import { dataFolder } from './local-store.ts'
import { noteLine } from './print.ts'
import { folderOf } from './session-flags.ts'
import { builtInTools } from './tools.ts'
import { agentTrustProblem, isTrustedPrompt, requireServerTrust, printNotice } from './trusted.ts'

interface ToolboxValues {
  /** The first is the default; conversations of a server may choose another. */
  folder?: string | readonly string[] | undefined
  'no-config'?: boolean | undefined
}

/** Returns one toolbox per user; asks about untrusted MCP servers, if interactive. */
export async function toolboxes(
  values: ToolboxValues,
  setup: {
    config: Config | undefined
    rows: readonly ProviderRow[]
    offline: (model?: string) => boolean
    forOthers?: boolean
  },
): Promise<{ open: () => Toolbox; folders: readonly string[] }> {
  const { rows, offline, forOthers = false } = setup
  const config = await usable(values['no-config'] ? undefined : (setup.config ?? builtInConfig()))
  const folders = values.folder === undefined && forOthers ? [] : [values.folder ?? '.'].flat()
  const [folder, ...others] = folders.map(folderOf)
  const home = config?.file ?? 'none'
  const open = () =>
    openToolbox({
      ...(config && { config: { ...config, rows } }),
      ...(folder !== undefined && { folder, folders: others }),
      // Permission to run commands means control of this machine.
      commands: !forOthers,
      fetches: true,
      // For the emulator, to demonstrate a tool turn: a real model gets no tool by default.
      usual: (model) => (offline(model) ? builtInTools : []),
      known: storedDigests(home),
      onDigests(digests) {
        try {
          storeDigests(home, digests)
        } catch (error) {
          printNotice([
            `The tool definitions of MCP servers could not be saved, so later changes will go unnoticed: ${asFailure(error).message}`,
          ])
        }
      },
      agentProblem: (file) => config && agentTrustProblem(placeOf(file, config)),
      promptTrusted: (file) => config !== undefined && isTrustedPrompt(file, config),
      onNote: (note) => printNotice([noteLine(note)]),
    })
  return { open, folders: folder === undefined ? [] : [folder, ...others] }
}

/** Without its MCP servers if their programs are not trusted. */
async function usable(config: Config | undefined): Promise<Config | undefined> {
  if (!config) return undefined
  try {
    await requireServerTrust(config)
    return config
  } catch (error) {
    const failure = asFailure(error)
    if (failure.kind !== 'bad-input') throw error
    printNotice([`Its MCP servers are left out: ${failure.message}`])
    return { ...config, mcpServers: {} }
  }
}

function placeOf(file: string, config: Config) {
  return { file, config, named: false, folder: config.file === undefined ? folderOfAgent(file) : dirname(config.file) }
}

// The last known tool definitions of MCP servers, so that a changed definition is noticed: a server that was once
// reviewed and trusted can come back as something else.

/** By the configuration that names the servers. */
export function storedDigests(config: string): Digests {
  const all = read()
  const ofConfig = Object.hasOwn(all, config) ? all[config] : undefined
  return isObject(ofConfig) ? (ofConfig as Digests) : {}
}

/** Servers that are unavailable this time keep their known definitions. */
export function storeDigests(config: string, now: Digests): void {
  if (Object.keys(now).length === 0) return
  const before = storedDigests(config)
  const after = { ...before, ...now }
  if (JSON.stringify(before) === JSON.stringify(after)) return
  const path = file()
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, JSON.stringify({ ...read(), [config]: after }), { mode: 0o600 })
  renameSync(draft, path)
}

function read(): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(file(), 'utf8'))
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

function file(): string {
  return join(dataFolder(), 'mcp-tools.json')
}
