// Finds a session: by an id prefix, by the path of a file, or the latest one of this folder.

import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { badInput } from '../core/error.ts'
import { sessionFormat } from '../transcripts/session-formats.ts'
import type { SessionFormat } from '../transcripts/session.ts'
import { listSessions, type ListedSession } from './list.ts'
import { fileSource, formatOfFile, opencodeSource, type SessionSource, type SourceOptions } from './source.ts'
import type { AgentEnvironment } from './environment.ts'

export interface FoundSession {
  agent: string
  id?: string
  source: SessionSource
}

/** Undefined: no agent here has such a session. */
export async function findSession(
  named: string,
  at: AgentEnvironment,
  cwd: string,
  options: SourceOptions,
): Promise<FoundSession | undefined> {
  if (named === '') throw badInput('The id of the session is empty. "synapse sessions" lists them.')
  if (named === 'latest') {
    const [latest] = listSessions(at, { project: cwd })
    if (!latest)
      throw badInput(`No agent has a session of ${cwd}. "synapse sessions --all" lists those of other folders.`)
    return openListed(latest, options)
  }
  const path = resolve(cwd, named)
  if (existsSync(path)) {
    if (!statSync(path).isFile()) throw badInput(`${named} is not a file.`)
    const format = formatOfFile(path)
    if (!format) throw badInput(`${named} is not a session of an agent that Synapse knows.`)
    return { agent: format.id, source: await fileSource(path, format, options) }
  }
  const found = listSessions(at).filter(({ id }) => id.startsWith(named))
  const [only, ...others] = found
  if (others.length > 0) throw badInput(`${found.length} sessions begin with ${named}. Give more of the id.`)
  return only && openListed(only, options)
}

export async function openListed({ agent, id, path }: ListedSession, options: SourceOptions): Promise<FoundSession> {
  if (agent === 'opencode') return { agent, id, source: opencodeSource(path, id, options) }
  return { agent, id, source: await fileSource(path, sessionFormat(agent) as SessionFormat, options) }
}
