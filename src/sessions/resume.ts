// What it takes to continue a session in an agent: the command, the room and the money, and whether the agent here is
// one that sessions are written for.

import { spawnSync } from 'node:child_process'
import { catalogue } from '../providers/catalogue.ts'
import { factsOf, ratesFor } from '../providers/price.ts'
import type { SessionHead } from '../transcripts/session.ts'
import type { Agent } from './agents.ts'
import type { AgentEnvironment } from './environment.ts'

export interface ResumeEstimate {
  provider?: string | undefined
  model?: string | undefined
  tokens: number
  contextWindow?: number | undefined
  fits?: boolean | undefined
  /** US dollars for the first request, at list price, nothing cached. */
  cost?: number | undefined
}

/** Instructions and tools of the agent itself, which it sends along. */
const ownTokens = 25_000

export function resumeEstimate(agent: Agent, head: SessionHead, tokens: number): ResumeEstimate {
  const { provider, model } = agent.usual ?? head
  if (!provider || !model) return { tokens }
  const { contextWindow, price } = factsOf(catalogue, provider, model)
  const sent = tokens + ownTokens
  return {
    provider,
    model,
    tokens,
    contextWindow,
    fits: contextWindow === undefined ? undefined : sent <= contextWindow,
    cost: price && (sent * ratesFor(price, sent).input) / 1_000_000,
  }
}

export function resumeCommand(agent: Agent, id: string, cwd: string): string {
  return `cd ${quoted(cwd)} && ${agent.resume(id).map(quoted).join(' ')}`
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** Undefined: the program is not on the path, or does not say. */
export function installedVersion(agent: Agent, at: AgentEnvironment): { installed: boolean; version?: string } {
  const { error, stdout } = spawnSync(agent.program, ['--version'], { env: at.env, encoding: 'utf8', timeout: 20_000 })
  if (error && 'code' in error && error.code === 'ENOENT') return { installed: false }
  const version = /\d+\.\d+\.\d+/.exec(stdout ?? '')?.[0]
  return { installed: true, ...(version !== undefined && { version }) }
}

export function isNewer(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => text.split('.').map(Number))
  for (const [i, part] of (a ?? []).entries()) if (part !== (b?.[i] ?? 0)) return part > (b?.[i] ?? 0)
  return false
}
