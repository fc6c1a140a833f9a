// `synapse carry`: a session of one coding agent, continued in another with all messages and tool calls.

import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { badInput } from '../../core/error.ts'
import { agentIds, agentNamed, type Agent } from '../../sessions/agents.ts'
import { targetFormat } from '../../sessions/carry.ts'
import { findSession, type FoundSession } from '../../sessions/list.ts'
import { putSession, type Put } from '../../sessions/put.ts'
import { installedVersion, isNewer, resumeCommand, resumeEstimate, type ResumeEstimate } from '../../sessions/resume.ts'
import { conversationSource, sessionArchive } from '../../sessions/store.ts'
import { agentEnvironment } from '../../sessions/environment.ts'
import { isPostgres } from '../../store/open.ts'
import { attachMedia } from '../../store/media.ts'
import { type Command, exitCode, parse } from '../command.ts'
import { noteLine, print, printError, printJson, progressOn } from '../print.ts'
import { count, dollars, inShort } from '../format-number.ts'
import { withLocalStore, storeAddress, storeOptions } from '../local-store.ts'
import { neutral, neutralLine } from '../terminal.ts'

export const carry: Command = {
  usage: `synapse carry SESSION --to AGENT [--cwd DIR] [--whole] [--dry-run] [--json] [--db FILE]

Writes a session of one coding agent as a new session of another, in the folder where that agent looks for sessions,
reads it back and compares it. The last line is the command that continues it. The session it comes from is not
changed.
SESSION is an id from "synapse sessions" or the beginning of one, a path, a conversation of the store ("synapse log"),
or "latest": the newest session of this folder.
  --to AGENT   ${agentIds.join(', ')},
               or synapse: the session becomes a conversation of the store
  --cwd DIR    continue in this folder (by default in the folder of the session)
  --whole      after a compaction, carry what comes before it as well, not only the summary and what follows
  --dry-run    write nothing
Thinking, system prompts and the messages of sub-agents are left out: they are of no use to another model. Each note says
what was left out and why.`,

  async run(argv) {
    const { values, positionals } = parse(argv, 1, {
      ...storeOptions,
      to: { type: 'string' },
      cwd: { type: 'string' },
      whole: { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    })
    const [named] = positionals
    if (named === undefined)
      throw badInput('Name the session: synapse carry SESSION --to AGENT. "synapse sessions" lists them.')
    if (values.to === undefined) throw badInput(`Name the target agent: --to ${agentIds.join(', ')} or synapse.`)
    const progress = progressOn()
    const tell = (what: string) => (share: number) => progress.tell(`${what}: ${Math.floor(share * 100)} %`)
    try {
      const options = { whole: values.whole, progress: tell('Reading') }
      const session = await findSession(named, agentEnvironment(), process.cwd(), options)
      if (values.to === 'synapse') return await intoStore(session, named, values)
      const agent = agentNamed(values.to)
      const source = session ?? (await fromStore(named, values, agent))
      const cwd = folderFor(values.cwd ?? source.source.head.cwd ?? process.cwd())
      const put = await putSession(source.source, agent, targetFormat(agent.id), agentEnvironment(), {
        cwd,
        now: new Date().toISOString(),
        dryRun: values['dry-run'],
        progress: tell('Carrying'),
      })
      progress.done()
      report(agent, source, put, values)
      return exitCode.ok
    } finally {
      progress.done()
    }
  },
}

/** Agents look for a session in the folder that it belongs to. */
function folderFor(cwd: string): string {
  const folder = resolve(cwd)
  if (existsSync(folder) && statSync(folder).isDirectory()) return folder
  throw badInput(`Folder ${neutralLine(cwd)} does not exist. Name the folder to continue in with --cwd DIR.`)
}

interface Values {
  db?: string | undefined
  'dry-run': boolean
  json: boolean
}

async function fromStore(named: string, values: Values, agent: Agent): Promise<FoundSession> {
  const nothing = badInput(`There is no session ${named}. "synapse sessions --all" and "synapse log" list them.`)
  const place = storeAddress(values)
  if (!isPostgres(place) && !existsSync(place)) throw nothing
  return withLocalStore(values, async (local) => {
    const { store, owner } = local
    const about = await local.find(named).catch(() => {
      throw nothing
    })
    const entries = about.head ? await store.history(owner, about.head) : []
    const messages = await attachMedia(
      entries.map(({ message }) => message),
      (sha256) => store.blob(owner, sha256),
    )
    const source = conversationSource(about, entries, messages, targetFormat(agent.id))
    return { agent: 'synapse', id: about.id, source }
  })
}

async function intoStore(session: FoundSession | undefined, named: string, values: Values): Promise<number> {
  if (!session) throw badInput(`There is no session ${named}. "synapse sessions --all" lists those of all agents.`)
  const { archive, notes } = sessionArchive(session.source, new Date().toISOString())
  for (const note of notes) printError(`${neutral(noteLine(note))}\n`)
  const { id } = archive.conversation
  if (!values['dry-run']) {
    await withLocalStore(values, ({ store, owner }) => store.importConversation(owner, archive))
  }
  const command = `synapse --conversation ${id}`
  const facts = {
    from: { tool: session.agent, id: session.id },
    to: 'synapse',
    id,
    messages: archive.entries.length,
    notes,
    command,
  }
  if (values.json) printJson(facts, 2)
  else print(`${count(archive.entries.length)} messages are in the store.\n${command}\n`)
  return exitCode.ok
}

function report(agent: Agent, source: FoundSession, put: Put, values: Values): void {
  const { counts, notes, tokens, session, path } = put
  const estimate = resumeEstimate(agent, session, tokens)
  const command = resumeCommand(agent, session.id, session.cwd)
  const warnings = versionWarnings(agent)
  if (values.json) {
    const from = { tool: source.agent, id: source.id ?? source.source.head.id }
    const facts = { from, to: agent.id, id: session.id, path, cwd: session.cwd }
    const more = { dryRun: values['dry-run'], counts, notes, estimate, warnings, command }
    printJson({ ...facts, ...more }, 2)
    return
  }
  for (const note of notes) printError(`${neutral(noteLine(note))}\n`)
  for (const warning of warnings) printError(`${warning}\n`)
  const { userTexts, assistantTexts, calls, results, pictures } = counts
  const units = [
    countOf(userTexts, 'user text'),
    countOf(assistantTexts, 'assistant text'),
    countOf(calls, 'call'),
    countOf(results, 'result'),
    countOf(pictures, 'picture'),
  ].join(', ')
  const isDry = values['dry-run']
  const lines = [
    `${isDry ? 'Would carry' : 'Carried'} to ${agent.name}: ${units}.`,
    estimateLine(estimate),
    isDry ? 'Nothing was written (--dry-run).' : `Written to ${neutralLine(path)}, read back and compared.`,
    neutralLine(command),
  ]
  print(`${lines.join('\n')}\n`)
}

function countOf(number: number, word: string): string {
  return `${count(number)} ${word}${number === 1 ? '' : 's'}`
}

function estimateLine({ tokens, provider, model, contextWindow, fits, cost }: ResumeEstimate): string {
  const size = `About ${inShort(tokens)} tokens`
  if (model === undefined) return `${size}.`
  const modelName = neutralLine(`${provider}/${model}`)
  const room =
    contextWindow === undefined
      ? `the context window of ${modelName} is unknown`
      : `${fits ? 'it fits' : 'it does NOT fit'} the context of ${modelName} (${inShort(contextWindow)})`
  const money =
    cost === undefined ? 'the price is unknown' : `the first request costs about ${dollars(cost)} (estimate)`
  return `${size}; ${room}; ${money}.`
}

function versionWarnings(agent: Agent): string[] {
  const { installed, version } = installedVersion(agent, agentEnvironment())
  if (!installed) return [`${agent.name} is not installed: "${agent.program}" was not found in PATH.`]
  if (version === undefined || !isNewer(version, agent.writtenFor)) return []
  return [
    `${agent.name} ${version} is installed; sessions are written for ${agent.writtenFor}. Check that it shows the whole session.`,
  ]
}
