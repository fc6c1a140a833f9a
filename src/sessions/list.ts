// All sessions of all agents on this machine. Of large files only the beginning and the end are read, so that thousands
// of sessions are listed quickly; small ones, newest first, are read completely, and then the counts are exact.

import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { badInput } from '../core/error.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { textOf } from '../core/message.ts'
import type { Usage } from '../core/usage.ts'
import { catalogue } from '../providers/catalogue.ts'
import { costOf, factsOf } from '../providers/price.ts'
import { sessionFormat } from '../transcripts/session-formats.ts'
import { type SessionFormat, type SessionHead, stringAt } from '../transcripts/session.ts'
import { type Agent, agents } from './agents.ts'
import { isWrapped } from './carry.ts'
import type { AgentEnvironment } from './environment.ts'
import { ends, filesIn, firstLines, type FoundFile } from './files.ts'
import { geminiRoot } from './gemini-projects.ts'
import { opencodeSessions } from './opencode-db.ts'
import {
  fileSource,
  formatOfFile,
  opencodeSource,
  parsedLine,
  parsedLines,
  type SessionSource,
  type SourceOptions,
} from './source.ts'
import { objectIn } from '../wires/shared/json-fields.ts'

export interface ListedSession {
  agent: string
  id: string
  /** The file, or the database. */
  path: string
  cwd?: string | undefined
  /** Its title, or the beginning of the first user message. */
  title: string
  startedAt?: string | undefined
  changedAt: string
  messages: number
  /** Only a part of the file was counted. */
  isEstimate: boolean
  bytes?: number
  model?: string | undefined
  /** In US dollars at list prices, if all usage was read. */
  cost?: number | undefined
}

interface ListOptions {
  agent?: string
  /** Only sessions of this folder. */
  project?: string
}

/** The total size of small files that are read completely: as much as can be parsed in a fraction of a second. */
const wholeBudget = 4 * 1024 * 1024
const wholeFile = 2 * 1024 * 1024
const headSize = 8 * 1024
const tailSize = 4 * 1024
/** Where the first user message comes later: Codex begins with its instructions, which are tens of kilobytes. */
const longHeadSize = 96 * 1024

export function listSessions(at: AgentEnvironment, { agent: only, project }: ListOptions = {}): ListedSession[] {
  const files: { agent: Agent; file: FoundFile }[] = []
  const listed: ListedSession[] = []
  for (const agent of agents) {
    if (only !== undefined && agent.id !== only) continue
    const folder = agent.folder(at)
    if (agent.id === 'opencode') {
      listed.push(...opencodeListed(join(folder, 'opencode.db'), project))
      continue
    }
    const first = project === undefined ? undefined : agent.projectFolder?.(project)
    for (const file of filesIn(folder, agent.files, first)) if (isOwn(file.path)) files.push({ agent, file })
  }
  let budget = wholeBudget
  for (const { agent, file } of files.toSorted((a, b) => b.file.changedMs - a.file.changedMs)) {
    const isSmall = file.size <= wholeFile && file.size <= budget
    const session = listedFile(agent, file, isSmall)
    if (!session || (project !== undefined && session.cwd !== project)) continue
    if (isSmall) budget -= file.size
    listed.push(session)
  }
  return listed.toSorted((a, b) => (a.changedAt < b.changedAt ? 1 : -1))
}

/** Sub-agents of Claude Code have separate files. */
function isOwn(path: string): boolean {
  return !/[/\\]agent-[^/\\]*\.jsonl$/.test(path)
}

function opencodeListed(file: string, project: string | undefined): ListedSession[] {
  if (!existsSync(file)) return []
  try {
    return opencodeSessions(file).flatMap((row) => {
      if (project !== undefined && row.directory !== project) return []
      const { id, directory: cwd, title, messages } = row
      const [startedAt, changedAt] = [new Date(row.created).toISOString(), new Date(row.updated).toISOString()]
      const cost = row.cost > 0 ? { cost: row.cost } : {}
      return [
        { agent: 'opencode', id, path: file, cwd, title, startedAt, changedAt, messages, isEstimate: false, ...cost },
      ]
    })
  } catch {
    // Another version of opencode may have other tables; the other agents are listed anyway.
    return []
  }
}

function listedFile(agent: Agent, file: FoundFile, isSmall: boolean): ListedSession | undefined {
  try {
    const format = sessionFormat(agent.id) as SessionFormat
    const read = ends(file, isSmall ? file.size : headSize, isSmall ? 0 : tailSize)
    const isWhole = isSmall || read.whole
    const short = readBeginning(format, isWhole ? read.head.split('\n') : read.head.split('\n').slice(0, -1))
    const isShort = isWhole || short.words !== undefined
    const { lines: first, words, bytes: seen } = isShort ? short : readBeginning(format, laterLines(file.path), true)
    const last = parsedLines(read.tail.slice(read.tail.indexOf('\n') + 1), true)
    const { head, messages } = about(format, first, last)
    const id = head.id ?? looseField(read.head, agent.id === 'codex' ? 'id' : 'sessionId')
    // Gemini CLI leaves a file without a message each time it resumes a session.
    if (id === undefined || isSubagent(first[0]) || (isWhole && messages === 0)) return undefined
    const cwd = head.cwd ?? looseField(read.head, 'cwd') ?? geminiRoot(dirname(dirname(file.path)))
    // Only Codex records cumulative counts, so that the end of the file is enough.
    const counted = isWhole ? first : agent.id === 'codex' ? last : []
    const cost = costOfLines(agent.id, counted, head)
    return {
      agent: agent.id,
      id,
      path: file.path,
      cwd,
      title: head.title ?? words ?? '',
      startedAt: head.startedAt,
      changedAt: new Date(file.changedMs).toISOString(),
      messages: isWhole ? messages : Math.max(messages, Math.round((messages * file.size) / Math.max(1, seen))),
      isEstimate: !isWhole,
      bytes: file.size,
      model: head.model,
      ...(cost !== undefined && { cost }),
    }
  } catch {
    // An unreadable file is not listed.
    return undefined
  }
}

/** The metadata of the session, and the number of messages in its first lines. */
function about(
  format: SessionFormat,
  first: readonly JsonObject[],
  last: readonly JsonObject[],
): { head: SessionHead; messages: number } {
  const scan = format.scan()
  for (const [index, line] of [...first, ...last].entries()) scan.see(line, index)
  const { head, lines, messages } = scan.end(true)
  return { head, messages: messages ?? lines.filter((line) => line < first.length).length }
}

/** For a first line that is longer than what was read. */
function looseField(text: string, field: string): string | undefined {
  const quotedText = new RegExp(`"${field}"\\s*:\\s*("(?:[^"\\\\]|\\\\.)*")`).exec(text.slice(0, headSize))?.[1]
  return quotedText === undefined ? undefined : (JSON.parse(quotedText) as string)
}

function isSubagent(line: JsonObject | undefined): boolean {
  if (line?.kind === 'subagent') return true
  const payload = line?.payload
  return isObject(payload) && isObject(payload.source) && payload.source.subagent !== undefined
}

interface Beginning {
  lines: JsonObject[]
  /** The first user message. */
  words?: string | undefined
  /** The size of the lines. */
  bytes: number
}

/** The first lines of a session, all or up to the first user message. */
function readBeginning(format: SessionFormat, texts: Iterable<string>, untilWords = false): Beginning {
  const read = format.reader(true)
  const beginning: Beginning = { lines: [], bytes: 0 }
  for (const text of texts) {
    const line = parsedLine(text)
    if (!line) continue
    beginning.bytes += text.length + 1
    beginning.lines.push(line)
    beginning.words ??= userWords(readable(read, line, beginning.lines.length - 1))
    if (untilWords && beginning.words !== undefined) break
  }
  return beginning
}

/** The lines of a long header, without a long first one. */
function* laterLines(path: string): Generator<string> {
  let isFirst = true
  for (const line of firstLines(path, longHeadSize)) {
    if (!isFirst || line.length <= headSize) yield line.toString('utf8')
    isFirst = false
  }
}

function userWords(messages: ReturnType<ReturnType<SessionFormat['reader']>>): string | undefined {
  for (const { message } of messages) {
    const text = message.role === 'user' ? textOf(message.parts).trim() : ''
    if (text !== '' && !isWrapped(text)) return text.slice(0, 200)
  }
  return undefined
}

function readable(read: ReturnType<SessionFormat['reader']>, line: JsonObject, index: number): ReturnType<typeof read> {
  try {
    return read(line, index)
  } catch {
    return []
  }
}

/** The shortest id prefixes, of eight characters or more, that distinguish the sessions. */
export function shortIds(sessions: readonly ListedSession[]): string[] {
  const ids = sessions.map(({ id }) => id).toSorted()
  const common = (a = '', b = ''): number => {
    let n = 0
    while (n < a.length && a[n] === b[n]) n++
    return n
  }
  const lengths = new Map<string, number>()
  for (const [i, id] of ids.entries()) {
    lengths.set(id, Math.max(8, common(id, ids[i - 1]) + 1, common(id, ids[i + 1]) + 1))
  }
  return sessions.map(({ id }) => id.slice(0, lengths.get(id) ?? 8))
}

// The cost of a session, if its lines record usage: an estimate at list prices.

type Tokens = Omit<Usage, 'offline' | 'raw'>

/** Undefined if nothing is recorded, or a price is unknown. */
function costOfLines(agent: string, lines: readonly JsonObject[], head: SessionHead): number | undefined {
  if (agent === 'codex') return codexCost(lines, head)
  if (agent === 'pi') return sumOf(lines.map((line) => numberAt(line, 'message', 'usage', 'cost', 'total')))
  if (agent !== 'claude-code') return undefined
  // The lines of one reply repeat its usage.
  const byReply = new Map<string, JsonObject>()
  for (const line of lines) {
    const id = stringAt(line, 'message', 'id')
    if (line.type === 'assistant' && id !== undefined && isObject(line.message)) byReply.set(id, line.message)
  }
  return sumOf(
    [...byReply.values()].map((message) => {
      const usage = objectIn(message.usage)
      const read = numberAt(usage, 'cache_read_input_tokens') ?? 0
      const written = numberAt(usage, 'cache_creation_input_tokens') ?? 0
      const input = (numberAt(usage, 'input_tokens') ?? 0) + read + written
      const output = numberAt(usage, 'output_tokens') ?? 0
      return priceOf(
        { input, output, cacheRead: read, cacheWrite: written, reasoning: 0 },
        'anthropic',
        stringAt(message, 'model'),
      )
    }),
  )
}

/** Codex records cumulative counts: the last line with a count has the total. */
function codexCost(lines: readonly JsonObject[], { provider, model }: SessionHead): number | undefined {
  const counts = lines.flatMap(({ payload }) => {
    const info = isObject(payload) && payload.type === 'token_count' ? payload.info : undefined
    return isObject(info) && isObject(info.total_token_usage) ? [info.total_token_usage] : []
  })
  const total = counts.at(-1)
  if (!total) return undefined
  const usage = {
    input: numberAt(total, 'input_tokens') ?? 0,
    output: numberAt(total, 'output_tokens') ?? 0,
    cacheRead: numberAt(total, 'cached_input_tokens') ?? 0,
    cacheWrite: 0,
    reasoning: 0,
  }
  return priceOf(usage, provider ?? 'openai', model)
}

function priceOf(usage: Tokens, provider: string, model: string | undefined): number | undefined {
  return model === undefined ? undefined : costOf(usage, factsOf(catalogue, provider, model).price)
}

function sumOf(costs: readonly (number | undefined)[]): number | undefined {
  const priced = costs.filter((cost) => cost !== undefined)
  const sum = priced.reduce((total, cost) => total + cost, 0)
  return sum > 0 ? sum : undefined
}

function numberAt(value: Json | undefined, ...path: string[]): number | undefined {
  let at: Json | undefined = value
  for (const key of path) at = isObject(at) ? at[key] : undefined
  return typeof at === 'number' && Number.isFinite(at) ? at : undefined
}

// Finds a session: by an id prefix, by the path of a file, or the latest one of this folder.

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
  const matches = listSessions(at).filter(({ id }) => id.startsWith(named))
  const [only, ...others] = matches
  if (others.length > 0) throw badInput(`${matches.length} sessions begin with ${named}. Give more of the id.`)
  return only && openListed(only, options)
}

export async function openListed({ agent, id, path }: ListedSession, options: SourceOptions): Promise<FoundSession> {
  if (agent === 'opencode') return { agent, id, source: opencodeSource(path, id, options) }
  return { agent, id, source: await fileSource(path, sessionFormat(agent) as SessionFormat, options) }
}
