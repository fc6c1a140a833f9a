// Sessions of coding agents on this machine: listed for the page, and imported. Only for the user of this machine, on a
// server that listens on loopback and requires no key.

import { agents } from '../../sessions/agents.ts'
import { listSessions } from '../../sessions/list.ts'
import { json, Refusal } from '../answer.ts'
import type { LocalSessions, ServerContext } from '../context.ts'
import { missing, route, type Route } from '../route.ts'
import { importSession } from '../schema.ts'
import { importedView } from '../views.ts'
import { sessionsView, type SessionsView } from '../server-views.ts'
import { answerImport } from './import.ts'

/** More than a person reads; the command line lists all. */
const mostSessions = 300

export const sessionRoutes: readonly Route[] = [
  route({
    operationId: 'listSessions',
    method: 'get',
    path: '/api/sessions',
    access: 'read',
    summary:
      'Sessions of coding agents on this machine, most recently changed first; empty unless on loopback without keys',
    answer: { status: 200, description: 'The newest sessions.', schema: sessionsView },
    async handle({ server }) {
      const local = server.keysRequired ? undefined : server.sessions
      const sessions: SessionsView = {
        items: (local ? listSessions(local.environment) : [])
          .slice(0, mostSessions)
          .map(({ agent, id, title, cwd, changedAt, messages, model }) => ({
            agent,
            id,
            title,
            changedAt,
            messages,
            ...(cwd !== undefined && { cwd }),
            ...(model !== undefined && { model }),
          })),
        agents: agents.map(({ id, name }) => ({ id, name })),
        carry: [...(local?.carry ?? [])],
      }
      return json(sessions)
    },
  }),
  route({
    operationId: 'importSession',
    method: 'post',
    path: '/api/sessions/import',
    access: 'write',
    summary: 'Imports a session of a coding agent on this machine as a conversation (only on loopback)',
    body: importSession,
    answer: { status: 201, description: 'The conversation.', schema: importedView },
    async handle(call) {
      const { agent, id } = call.body
      const session = listSessions(localOf(call.server).environment, { agent }).find((candidate) => candidate.id === id)
      if (!session) throw missing('session', id)
      return answerImport(call, { session }, true)
    },
  }),
]

function localOf({ sessions, keysRequired }: ServerContext): LocalSessions {
  if (sessions && !keysRequired) return sessions
  const message =
    'Sessions of coding agents can only be imported on the machine of this server, with "synapse sessions".'
  throw new Refusal(403, { kind: 'permission', message })
}
