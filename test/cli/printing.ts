// Every command that prints, on a store and a transcript in which every string is one that a terminal would obey.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exportFormats } from '../../src/cli/export-lines.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { writeTranscript } from '../../src/transcripts/index.ts'
import type { Home } from './command-line.ts'
import { hostileLog, obeyed } from './hostile-log.ts'
import { plain } from './pseudo-terminal.ts'

const log = hostileLog()
export const { messages, fields } = log
export const { id } = log.archive.conversation

export async function hostileHome(home: Home): Promise<void> {
  const store = await openSqliteStore(join(home.folder, 'log.db'))
  await store.importConversation('local', log.archive)
  await store.close()
  writeFileSync(join(home.folder, 'transcript.json'), JSON.stringify(writeTranscript(messages, 'synapse')))
  hostileSession(home)
  hostileProject(home)
}

/** A session of a coding agent in which every string is a sequence too, but for the names of its format. */
function hostileSession({ folder }: Home): void {
  const place = join(folder, '.claude', 'projects', folder.replaceAll(/[^a-zA-Z0-9]/g, '-'))
  const sessionId = '01234567-89ab-4cde-8f01-23456789abcd'
  const said = (text: string) => `${text}${obeyed}`
  const common = { sessionId, cwd: folder, version: said('2.1.325'), gitBranch: said('branch'), isSidechain: false }
  const call = { type: 'tool_use', id: 'toolu_1', name: said('tool'), input: { [said('key')]: said('value') } }
  const reply = { id: 'msg_1', role: 'assistant', model: said('model'), stop_reason: 'tool_use' }
  const lines = [
    { type: 'summary', summary: said('summary'), leafUuid: 'c' },
    { ...common, type: 'user', uuid: 'a', parentUuid: null, message: { role: 'user', content: said('question') } },
    {
      ...common,
      type: 'assistant',
      uuid: 'b',
      parentUuid: 'a',
      message: { ...reply, type: 'message', content: [{ type: 'text', text: said('answer') }, call] },
    },
    {
      ...common,
      type: 'user',
      uuid: 'c',
      parentUuid: 'b',
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: said('result') }] },
    },
  ].map((line) => ({ ...line, timestamp: '2026-11-01T10:00:00.000Z' }))
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, `${sessionId}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
}

/** Files of a folder that name what they bring in sequences. */
function hostileProject({ folder }: Home): void {
  const text = JSON.stringify(`text${obeyed}`)
  mkdirSync(join(folder, 'agents'))
  mkdirSync(join(folder, 'prompts'))
  const agent = `name: evil\ndescription: ${text}\nmodel: openai\nsystem: ${text}\n`
  writeFileSync(join(folder, 'agents', 'evil.yaml'), agent)
  writeFileSync(join(folder, 'agents', 'wrong.yaml'), `name: ${text}\n${text}: 1\n`)
  writeFileSync(join(folder, 'prompts', 'evil.md'), `# ${obeyed}\n${obeyed} {{input}}`)
  const row = `{ id: evil, name: ${text}, baseUrl: "http://127.0.0.1:9/v1", keysAt: ${text}, models: { ${text}: {} } }`
  writeFileSync(join(folder, 'own.yaml'), `providers: [${row}]\naliases: { fast: evil/m }\n`)
  writeFileSync(join(folder, 'wrong.yaml'), `model: ${text}\n${text}: 1\n`)
}

/** What a terminal would obey, but for a line end, a tab, and the one sequence that clears the line of a progress. */
function obeyedIn(screen: string): string[] {
  const own = screen.replaceAll('\u001B[K', '')
  const found = own.match(/[[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]--[\t\n\r]]/gv) ?? []
  return [...new Set([...found, ...(screen.includes('\rover') ? ['\r'] : [])])].map((one) => JSON.stringify(one))
}

export const db = ['--db', 'log.db']
export const comparing = ['compare', '--offline', '-c', '-m', 'gpt-5.6', '-m', 'anthropic']
const printing: Record<string, { args: string[]; shows?: RegExp; code?: number }> = {
  log: { args: ['log'], shows: /title␛/ },
  'log ID': { args: ['log', id], shows: /mediaType␛\]52/ },
  'log --json': { args: ['log', '--json'] },
  'log ID --json': { args: ['log', id, '--json'], shows: /\\u009b31m\\u0085/ },
  inspect: { args: ['inspect', id], shows: /findable/ },
  'inspect --json': { args: ['inspect', id, '--json'], shows: /\\u202e/ },
  'inspect --body': { args: ['inspect', id, '--body'], shows: /\\u202e/ },
  'inspect --diff': { args: ['inspect', id, '--diff'], code: 2 },
  usage: { args: ['usage'], shows: /exchange\.provider␛/ },
  'usage --json': { args: ['usage', '--json'] },
  search: { args: ['search', 'findable'], shows: /findable/ },
  'search --json': { args: ['search', 'findable', '--json'], shows: /\\u009b/ },
  doctor: { args: ['doctor'] },
  'doctor --json': { args: ['doctor', '--json'] },
  'convert to a provider': { args: ['convert', 'transcript.json', '--to', 'openai/gpt-5.6'], shows: /\\u202e/ },
  'convert to a format': { args: ['convert', 'transcript.json', '--to', 'anthropic-messages'], shows: /\\u202e/ },
  check: { args: ['check', 'transcript.json', '--for', 'openai/gpt-5.6'] },
  'check --json': { args: ['check', 'transcript.json', '--for', 'openai/gpt-5.6', '--json'] },
  import: { args: ['import', 'transcript.json'] },
  'compare --json': { args: [...comparing, '--json', 'What did I say first?'], code: 0 },
  sessions: { args: ['sessions'], shows: /␛\]52/ },
  'sessions --all': { args: ['sessions', '--all'], shows: /␛\]52/ },
  'sessions --json': { args: ['sessions', '--json'], shows: /\\u009b/ },
  'carry --dry-run': { args: ['carry', 'latest', '--to', 'codex', '--dry-run'], code: 0 },
  'carry --json': { args: ['carry', 'latest', '--to', 'pi', '--json'], code: 0 },
  'agent list': { args: ['agent', 'list'], shows: /text␛\]52/ },
  'agent list --json': { args: ['agent', 'list', '--json'] },
  'agent check': { args: ['agent', 'check'], code: 2 },
  'trust --yes': { args: ['trust', '--yes'], code: 0 },
  'trust --list': { args: ['trust', '--list'] },
  'config check': { args: ['config', 'check', 'own.yaml'], code: 0 },
  'config check of a wrong file': { args: ['config', 'check', 'wrong.yaml'], shows: /text␛\]52/, code: 2 },
  providers: { args: ['providers', '--config', 'own.yaml'], code: 0 },
  models: { args: ['models', 'evil', '--config', 'own.yaml'], code: 0 },
  'a prompt that is not there': { args: ['--offline', '-p', `evil${obeyed}`, 'hi'], code: 2 },
  ask: { args: ['--offline', '--conversation', id, 'What did I say first?'] },
  'ask --json': { args: ['--offline', '--json', '--conversation', id, 'What did I say first?'] },
}

for (const format of exportFormats) {
  const shows = format === 'markdown' ? /mediaType␛\\\]52/ : undefined
  printing[`export --format ${format}`] = { args: ['export', id, '--format', format], ...(shows && { shows }) }
}

/** Commands that have no store. */
const withoutStore = new Set([
  'convert to a provider',
  'convert to a format',
  'check',
  'check --json',
  'sessions',
  'sessions --all',
  'sessions --json',
  'agent list',
  'agent list --json',
  'agent check',
  'trust --list',
  'config check',
  'config check of a wrong file',
  'models',
])

export const printingCommands: string[] = Object.keys(printing)

/** The words after `synapse` of one of them. */
export function wordsOf(name: string): string[] {
  return [...(printing[name]?.args ?? []), ...(withoutStore.has(name) ? [] : db)]
}

/** `raw`: everything that one of them has sent to the terminal. */
export function assertNothingObeyed(name: string, raw: string, ended: number | null): void {
  const { shows, code } = printing[name] ?? {}
  assert.deepEqual(obeyedIn(raw), [], raw.slice(0, 2000))
  assert.ok(ended === (code ?? 0) || code === undefined, `${ended}: ${plain(raw).slice(0, 500)}`)
  if (shows) assert.match(plain(raw), shows)
}
