// What is needed to continue a session in an agent: the command, the context window and the price, and whether sessions
// are written for the installed version.

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
  /** US dollars for the first request, at list price, without a cache. */
  cost?: number | undefined
}

/** Instructions and tools of the agent itself, which it adds. */
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
  return `cd ${quote(cwd)} && ${agent.resume(id).map(quote).join(' ')}`
}

/** A terminal would show these characters as symbols, and the command would name another folder. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

function hex(character: string): string {
  return [...Buffer.from(character)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')
}

function quote(word: string): string {
  if (unprintable.test(word)) return `$'${word.replace(/['\\]/g, '\\$&').replace(new RegExp(unprintable, 'gu'), hex)}'`
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** Undefined: the program is not in PATH, or does not report it. */
export function installedVersion(agent: Agent, at: AgentEnvironment): { installed: boolean; version?: string } {
  // Not in the current folder, whose files it might read.
  const options = { cwd: at.home, env: at.env, encoding: 'utf8', timeout: 20_000 } as const
  const { error, stdout } = spawnSync(agent.program, ['--version'], options)
  if (error && 'code' in error && error.code === 'ENOENT') return { installed: false }
  const version = /\d+\.\d+\.\d+/.exec(stdout ?? '')?.[0]
  return { installed: true, ...(version !== undefined && { version }) }
}

export function isNewer(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => text.split('.').map(Number))
  for (const [i, part] of (a ?? []).entries()) if (part !== (b?.[i] ?? 0)) return part > (b?.[i] ?? 0)
  return false
}
