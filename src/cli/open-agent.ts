// The agent that a conversation is with, and its tools, at the terminal.

import { dirname } from 'node:path'
import { findAgentFile } from '../agents/find.ts'
import { openAgent, type Agent } from '../agents/load.ts'
import { loadConfig, type Config } from '../config/load.ts'
import { rowsFor } from '../config/stored-providers.ts'
import { asFailure } from '../core/error.ts'
import type { LocalStore } from './local-store.ts'
import { noteLine } from './note-line.ts'
import { printError } from './print.ts'
import { storeDigests, storedDigests } from './mcp-digests.ts'
import { neutral, styleFor } from './terminal.ts'

export interface OpenAgent {
  agent: Agent
  /** The one that counts where the agent is. */
  config: Config
  close(): Promise<void>
}

type Values = { config?: string | undefined }

/** By its name or its file; throws one sentence where there is none. */
export function openAgentNamed(name: string, values: Values, local: LocalStore): Promise<OpenAgent> {
  return open(findAgentFile(name, loadConfig({ file: values.config })), values, local)
}

/** The agent that a conversation was started with; without it, the conversation can still be continued. */
export async function openAgentOf(name: string, values: Values, local: LocalStore): Promise<OpenAgent | undefined> {
  let file: string
  try {
    file = findAgentFile(name, loadConfig({ file: values.config }))
  } catch (error) {
    tell(
      `This conversation is with the agent ${name}, whose tools are missing now: ${asFailure(error).message} --agent FILE names it.`,
    )
    return undefined
  }
  return open(file, values, local)
}

async function open(file: string, values: Values, { store }: LocalStore): Promise<OpenAgent> {
  const config = loadConfig(values.config === undefined ? { cwd: dirname(file) } : { file: values.config })
  const home = config.file ?? file
  const agent = await openAgent(file, {
    config: { ...config, rows: await rowsFor(store, config) },
    known: storedDigests(home),
    onNote: (note) => tell(noteLine(note)),
  })
  return {
    agent,
    config,
    async close() {
      const digests = agent.digests()
      await agent.close()
      try {
        storeDigests(home, digests)
      } catch (error) {
        tell(`What the MCP servers offer is not kept, so that a change will go unnoticed: ${asFailure(error).message}`)
      }
    },
  }
}

function tell(line: string): void {
  printError(`${styleFor(process.stderr, process.env).dim(neutral(line))}\n`)
}
