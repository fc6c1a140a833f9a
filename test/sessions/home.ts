// A home folder with one session of each agent, as the agents leave them.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isObject, type JsonObject } from '../../src/core/json.ts'
import { agents } from '../../src/sessions/agents.ts'
import { registerGeminiProject } from '../../src/sessions/gemini-projects.ts'
import type { AgentEnvironment } from '../../src/sessions/environment.ts'
import { makers, type Generated } from './generated.ts'

export const startedAt = '2026-11-01T10:00:00.000Z'

/** The files by agent. */
export function fillHome(
  at: AgentEnvironment,
  cwd: string,
  { events }: Generated,
  ids: Record<string, string>,
): Record<string, string> {
  const paths: Record<string, string> = {}
  for (const agent of agents) {
    const id = ids[agent.id] ?? ''
    const { lines } = (makers[agent.id] as (typeof makers)[string])(events, cwd, id)
    if (agent.id === 'gemini-cli') registerGeminiProject(cwd, at)
    const below = agent.pathFor?.({ id, cwd, startedAt, updatedAt: startedAt }, at) ?? 'opencode.db'
    const path = join(agent.folder(at), below)
    mkdirSync(dirname(path), { recursive: true })
    if (agent.pathFor) writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    else opencodeDatabase(path, lines)
    paths[agent.id] = path
  }
  return paths
}

/** The tables of opencode 1.18 that are read, with their columns. */
function opencodeDatabase(path: string, [info = {}, ...messages]: JsonObject[]): void {
  const db = new DatabaseSync(path)
  db.exec(`CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, slug TEXT, directory TEXT, title TEXT,
      version TEXT, cost REAL DEFAULT 0, revert TEXT, time_created INTEGER, time_updated INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, data TEXT)`)
  const time = isObject(info['time']) ? info['time'] : {}
  const session = db.prepare('INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?)')
  const row = (id: string, parent: string | null) =>
    session.run(
      id,
      'global',
      parent,
      'made',
      String(info['directory']),
      'Made',
      '1.18.33',
      0.5,
      Number(time['created']),
      Number(time['updated']),
    )
  row(String(info['id']), null)
  row('ses_of_a_subagent', String(info['id']))
  for (const { info: about, parts } of messages) {
    const { id, sessionID, ...data } = isObject(about) ? about : {}
    const created = isObject(data['time']) ? Number(data['time']['created']) : 0
    db.prepare('INSERT INTO message VALUES (?, ?, ?, ?)').run(
      String(id),
      String(sessionID),
      created,
      JSON.stringify(data),
    )
    for (const part of Array.isArray(parts) ? parts.filter(isObject) : []) {
      const { id: partId, messageID, sessionID: _, ...more } = part
      db.prepare('INSERT INTO part VALUES (?, ?, ?)').run(String(partId), String(messageID), JSON.stringify(more))
    }
  }
  db.close()
}
