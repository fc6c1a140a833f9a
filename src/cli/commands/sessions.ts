// `synapse sessions`: the sessions that can be continued, of every agent.

import { resolve } from 'node:path'
import { agentIds, agentNamed } from '../../sessions/agents.ts'
import { type ListedSession, listSessions, shortIds } from '../../sessions/list.ts'
import { agentEnvironment } from '../../sessions/environment.ts'
import { type Command, exitCode, parse } from '../command.ts'
import { print, printJson } from '../print.ts'
import { count, dollars, inShort } from '../format-number.ts'
import { table, type Column } from '../table.ts'
import { neutralLine, styleFor, widthOf } from '../terminal.ts'

export const sessions: Command = {
  usage: `synapse sessions [--tool NAME] [--project DIR] [--all] [--json]

Lists the sessions of every coding agent on this machine, most recently changed first: those of the current folder, of
another one with --project, or of all folders with --all. --tool lists those of one agent. Of large sessions only the
beginning and the end are read, and the number of messages is an estimate (~). Costs are estimates at list prices,
shown only if a session records its token usage.
"synapse carry ID --to AGENT" continues a session in another agent. Nothing is sent anywhere.
Agents: ${agentIds.join(', ')}.`,

  async run(argv) {
    const { values } = parse(argv, 0, {
      tool: { type: 'string' },
      project: { type: 'string' },
      all: { type: 'boolean' },
      json: { type: 'boolean' },
    })
    const project = values.all ? undefined : resolve(values.project ?? '.')
    const listed = listSessions(agentEnvironment(), {
      ...(values.tool !== undefined && { agent: agentNamed(values.tool).id }),
      ...(project !== undefined && { project }),
    })
    const ids = shortIds(listed)
    if (values.json) {
      const rows = listed.map(({ agent: tool, cwd, ...session }, i) => ({
        shortId: ids[i],
        tool,
        project: cwd,
        ...session,
      }))
      printJson(rows, 2)
      return exitCode.ok
    }
    if (listed.length === 0) {
      const scope = project === undefined ? 'on this machine' : `of ${neutralLine(project)}`
      const hint = project === undefined ? '' : ' --all includes other folders.'
      print(`No sessions ${scope}.${hint}\n`)
      return exitCode.ok
    }
    const lines = table(
      columns(project === undefined),
      listed.map((session, i) => row(session, ids[i] ?? session.id, project === undefined)),
      widthOf(process.stdout),
      styleFor(process.stdout, process.env),
    )
    print(`${lines.join('\n')}\n`)
    return exitCode.ok
  },
}

function columns(withProject: boolean): Column[] {
  return [
    { head: 'ID' },
    { head: 'TOOL' },
    ...(withProject ? [{ head: 'PROJECT' }] : []),
    { head: 'AGE', right: true },
    { head: 'MESSAGES', right: true },
    { head: 'SIZE', right: true },
    { head: 'COST', right: true },
    { head: 'BEGINS', grows: true },
  ]
}

function row(session: ListedSession, id: string, withProject: boolean): string[] {
  return [
    neutralLine(id),
    session.agent,
    ...(withProject ? [neutralLine(session.cwd ?? '')] : []),
    age(Date.now() - Date.parse(session.changedAt)),
    `${session.isEstimate ? '~' : ''}${count(session.messages)}`,
    session.bytes === undefined ? '' : `${inShort(session.bytes)}B`,
    session.cost === undefined ? '' : `~${dollars(session.cost)}`,
    neutralLine(session.title),
  ]
}

function age(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / 60_000))
  if (minutes < 60) return `${minutes} min`
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 60 / 24)} d`
}
