import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { neutralLine } from '../../src/cli/terminal.ts'
import { isObject, type Json } from '../../src/core/json.ts'
import { agentIds, agentNamed } from '../../src/sessions/agents.ts'
import { type ListedSession, listSessions, shortIds } from '../../src/sessions/list.ts'
import { resumeCommand } from '../../src/sessions/resume.ts'
import { newHome, type Home } from '../cli/command-line.ts'
import { generate } from './generated.ts'
import { fillHome, startedAt } from './home.ts'

interface Filled extends Home {
  cwd: string
  ids: Record<string, string>
  paths: Record<string, string>
}

function filledHome(t: TestContext): Filled {
  const home = newHome(t)
  const cwd = join(home.folder, 'app')
  mkdirSync(cwd)
  const ids = Object.fromEntries(
    agentIds.map((id) => [id, id === 'opencode' ? 'ses_0123456789abcdef0123456789' : randomUUID()]),
  )
  const paths = fillHome({ home: home.folder, env: home.env }, cwd, generate(), ids)
  return { ...home, cwd, ids, paths }
}

const json = (text: string): Json => JSON.parse(text) as Json

test('sessions lists those of every agent, with their beginning, size and age', async (t) => {
  const { synapse, cwd, ids } = filledHome(t)
  const { out, code } = await synapse(['sessions', '--project', cwd, '--json'])
  assert.equal(code, 0)
  const listed = json(out) as unknown as (Omit<ListedSession, 'agent' | 'cwd'> & {
    shortId: string
    tool: string
    project: string
  })[]
  assert.deepEqual(listed.map(({ tool }) => tool).toSorted(), [...agentIds].toSorted())
  for (const one of listed) {
    assert.equal(one.id, ids[one.tool])
    assert.equal(one.project, cwd)
    assert.ok(one.messages >= 10, `${one.tool} has ${one.messages} messages`)
    if (one.tool === 'opencode') assert.deepEqual([one.title, one.cost], ['Made', 0.5])
    else assert.match(one.title, one.tool === 'gemini-cli' ? /^summary|^before/ : /^before the summary/)
    assert.ok(one.id.startsWith(one.shortId))
  }
  const { out: shown } = await synapse(['sessions', '--all', '--tool', 'codex'])
  assert.match(shown, /^ID +TOOL +PROJECT +AGE +MESSAGES +SIZE +COST +BEGINS\n\S+ +codex /)
  assert.equal(shown.trim().split('\n').length, 2)
})

test('a folder without sessions is reported, and an unknown agent is refused', async (t) => {
  const { synapse } = newHome(t)
  assert.match((await synapse(['sessions'])).out, /^No sessions of .*--all/)
  const { code, err } = await synapse(['sessions', '--tool', 'emacs'])
  assert.equal(code, 2)
  assert.match(err, /There is no agent "emacs"/)
})

test('links that lead out of a session folder are not followed, and broken files are passed over', (t) => {
  const { folder, env, cwd, paths } = filledHome(t)
  const outside = join(folder, 'outside')
  mkdirSync(outside)
  const claude = paths['claude-code'] ?? ''
  writeFileSync(join(outside, `${randomUUID()}.jsonl`), readFileSync(claude))
  symlinkSync(join(outside, readdirSync(outside)[0] ?? ''), join(dirname(claude), `${randomUUID()}.jsonl`))
  symlinkSync(outside, join(folder, '.claude', 'projects', 'linked'))
  writeFileSync(join(dirname(claude), `${randomUUID()}.jsonl`), `${'['.repeat(100_000)}\n{"half":`)
  writeFileSync(join(dirname(claude), 'agent-1.jsonl'), readFileSync(claude))
  const found = listSessions({ home: folder, env }, { agent: 'claude-code' })
  assert.deepEqual(
    found.map(({ path, cwd: project }) => [path, project]),
    [[claude, cwd]],
  )
})

test('session folders on other systems have the names that the agents give them', () => {
  const session = { id: 'x', cwd: 'C:\\Users\\me\\my app', startedAt, updatedAt: startedAt }
  const at = { home: '/nowhere', env: {} }
  assert.equal(agentNamed('claude-code').pathFor?.(session, at), join('C--Users-me-my-app', 'x.jsonl'))
  assert.equal(dirname(agentNamed('pi').pathFor?.(session, at) ?? ''), '--C--Users-me-my app--')
})

test('short ids distinguish sessions', () => {
  const session = (id: string) => ({ id }) as ListedSession
  const ids = shortIds([session('aaaaaaaa-1111'), session('aaaaaaaa-1222'), session('bbbbbbbb-0')])
  assert.deepEqual(ids, ['aaaaaaaa-11', 'aaaaaaaa-12', 'bbbbbbbb'])
})

test('carry writes for its owner only, changes nothing existing, and prints the command last', async (t) => {
  const { synapse, cwd, ids, paths } = filledHome(t)
  const before = readFileSync(paths['claude-code'] ?? '')
  const { code, out, err } = await synapse(['carry', (ids['claude-code'] ?? '').slice(0, 13), '--to', 'codex'])
  assert.equal(code, 0, err)
  const lines = out.trimEnd().split('\n')
  const [, id] = /^cd \S+ && codex resume ([0-9a-f-]{36})$/.exec(lines.at(-1) ?? '') ?? []
  assert.ok(id !== undefined && lines.at(-1)?.startsWith(`cd ${cwd} `), out)
  assert.match(out, /4 user texts, 5 assistant texts, 7 calls, 7 results, 2 pictures/)
  assert.match(out, /it fits the context of openai\/.*the first request costs about \$/)
  assert.match(err, /dropped +6 blocks of thinking, because/)
  const file = /Written to (\S+),/.exec(out)?.[1] ?? ''
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const first = readFileSync(file)

  const again = await synapse(['carry', ids['claude-code'] ?? '', '--to', 'codex', '--json'])
  const other = json(again.out)
  assert.ok(isObject(other) && other['id'] !== id, 'a second copy has an id of its own')
  assert.deepEqual(readFileSync(file), first)
  assert.deepEqual(readFileSync(paths['claude-code'] ?? ''), before)
  assert.deepEqual(
    readdirSync(dirname(file)).filter((name) => name.endsWith('.part')),
    [],
  )
})

test('a session that ends within a character is carried up to its last whole line', async (t) => {
  const { synapse, ids, paths } = filledHome(t)
  appendFileSync(paths['codex'] ?? '', Buffer.from('{"timestamp":"日').subarray(0, -1))
  const { code, err } = await synapse(['carry', ids['codex'] ?? '', '--to', 'pi'])
  assert.equal(code, 0, err)
})

test('the command names any folder exactly, and shows no control characters', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'synapse-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const name of ['a b', `it's`, '$(exit 1)', 'line\nbreak', '\u001B[2J', "\u202E'\\", '日本']) {
    const cwd = join(root, name)
    mkdirSync(cwd)
    const [change = ''] = resumeCommand(agentNamed('codex'), 'id', cwd).split(' && codex')
    assert.equal(change, neutralLine(change))
    assert.equal(execFileSync('bash', ['-c', `${change} && printf %s "$PWD"`], { encoding: 'utf8' }), cwd)
  }
})

test('convert prints the bytes that carry writes, and a session in its own format unchanged', async (t) => {
  const { synapse, paths } = filledHome(t)
  for (const to of ['claude-code', 'gemini-cli']) {
    const converted = await synapse(['convert', paths['pi'] ?? '', '--to', to])
    const carried = await synapse(['carry', paths['pi'] ?? '', '--to', to, '--json'])
    const facts = json(carried.out)
    assert.ok(isObject(facts), carried.err)
    assert.equal(converted.out, readFileSync(String(facts['path']), 'utf8'))
  }
  const piped = await synapse(['convert', '-', '--to', 'pi'], {
    input: readFileSync(paths['claude-code'] ?? '', 'utf8'),
    process: true,
  })
  assert.equal(piped.out.trimEnd().split('\n').length, 1 + 4 + 6 + 7, piped.err)
  const { out } = await synapse(['convert', paths['codex'] ?? '', '--to', 'codex'])
  assert.equal(out, readFileSync(paths['codex'] ?? '', 'utf8'))
})

test('a newer agent causes a warning, and an import that fails is an error', async (t) => {
  const { synapse, folder, paths, env } = filledHome(t)
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'codex'), '#!/bin/sh\necho codex-cli 99.1.0\n', { mode: 0o755 })
  writeFileSync(join(bin, 'opencode'), '#!/bin/sh\necho Missing key >&2\nexit 1\n', { mode: 0o755 })
  const path = { PATH: `${bin}:${env['PATH']}` }
  const { err } = await synapse(['carry', paths['pi'] ?? '', '--to', 'codex'], { env: path })
  assert.match(err, /Codex 99\.1\.0 is installed; sessions are written for 0\.169\.0/)
  const failed = await synapse(['carry', paths['pi'] ?? '', '--to', 'opencode'], { env: path })
  assert.equal(failed.code, 2)
  assert.match(failed.err, /"opencode import" ended with 1: Missing key/)
})

test('a dry run writes nothing', async (t) => {
  const { synapse, paths, folder } = filledHome(t)
  const { code, out } = await synapse(['carry', paths['codex'] ?? '', '--to', 'qwen-code', '--dry-run', '--json'])
  assert.equal(code, 0)
  const facts = json(out)
  assert.ok(isObject(facts) && facts['dryRun'] === true)
  assert.equal(existsSync(String(facts['path'])), false)
  assert.equal(existsSync(join(folder, '.gemini', 'tmp', 'app-1')), false)
})

test('a missing folder is reported, and latest is the newest session of this folder', async (t) => {
  const { synapse, folder, paths, cwd } = filledHome(t)
  const gone = readFileSync(paths['claude-code'] ?? '', 'utf8').replaceAll(JSON.stringify(cwd), '"/no/such/folder"')
  writeFileSync(join(folder, 'gone.jsonl'), gone)
  const refused = await synapse(['carry', 'gone.jsonl', '--to', 'pi'])
  assert.equal(refused.code, 2)
  assert.match(refused.err, /Folder \/no\/such\/folder does not exist.*--cwd DIR/)
  assert.equal((await synapse(['carry', 'gone.jsonl', '--to', 'pi', '--cwd', cwd])).code, 0)
  const none = await synapse(['carry', 'latest', '--to', 'pi'])
  assert.match(none.err, /No agent has a session of/)
})

test('a session that is still being written is carried up to its last whole line', async (t) => {
  const { synapse, paths, cwd } = filledHome(t)
  appendFileSync(paths['claude-code'] ?? '', '{"type":"user","message":{"role":"us')
  const { code, err } = await synapse(['carry', paths['claude-code'] ?? '', '--to', 'pi', '--cwd', cwd])
  assert.equal(code, 0, err)
  assert.match(err, /line \d+, because it ends in the middle/)
})

test('untrusted content of a session reaches no terminal as a control sequence, and no path', async (t) => {
  const { synapse, folder, cwd } = newHomeWith(t, {
    sessionId: '../../../../escape',
    cwd: '/x\u001B]0;owned\u0007',
    text: 'Hello \u001B[2J\u001B]52;c;aGk=\u0007 there',
  })
  const listed = await synapse(['sessions', '--all'])
  const carried = await synapse(['carry', 'evil.jsonl', '--to', 'claude-code', '--cwd', cwd])
  assert.equal(carried.code, 0, carried.err)
  const refused = await synapse(['carry', 'evil.jsonl', '--to', 'claude-code'])
  assert.equal(refused.code, 2)
  for (const { out, err } of [listed, carried, refused]) assert.doesNotMatch(out + err, /[[\p{Cc}]--[\n\t]]/v)
  assert.match(listed.out, /Hello ␛\[2J/)
  assert.equal(existsSync(join(folder, 'escape')), false)
  assert.match(carried.out, /claude --resume [0-9a-f-]{36}\n$/)
})

function newHomeWith(t: TestContext, { sessionId, cwd, text }: { sessionId: string; cwd: string; text: string }) {
  const home = newHome(t)
  const folder = join(home.folder, '.claude', 'projects', '-x')
  const app = join(home.folder, 'app')
  mkdirSync(folder, { recursive: true })
  mkdirSync(app)
  const at = { uuid: 'u1', parentUuid: null, sessionId, cwd, timestamp: '2026-11-01T10:00:00.000Z' }
  const line = `${JSON.stringify({ ...at, type: 'user', message: { role: 'user', content: text } })}\n`
  writeFileSync(join(folder, 'evil.jsonl'), line)
  writeFileSync(join(home.folder, 'evil.jsonl'), line)
  return { ...home, cwd: app }
}

test('lines that are no JSON, and nesting without end, are refused in one sentence', async (t) => {
  const { synapse, folder, paths } = filledHome(t)
  const good = readFileSync(paths['claude-code'] ?? '', 'utf8')
  writeFileSync(join(folder, 'broken.jsonl'), `${good}not json\n${good}`)
  const deep = `{"uuid":"u","type":"user","message":{"role":"user","content":${'['.repeat(200_000)}${']'.repeat(200_000)}}}\n`
  writeFileSync(join(folder, 'deep.jsonl'), good + deep)
  for (const name of ['broken.jsonl', 'deep.jsonl']) {
    const { code, err } = await synapse(['carry', name, '--to', 'pi', '--cwd', '.'])
    assert.equal(code, 2, `${name}: ${err}`)
    assert.equal(err.trim().split('\n').length, 1, err)
  }
  const left = join(folder, '.pi', 'agent', 'sessions', `--${folder.slice(1).replaceAll('/', '-')}--`)
  assert.deepEqual(existsSync(left) ? readdirSync(left) : [], [])
})

test('a session has its thinking again after a way through the store back to its agent', async (t) => {
  const { synapse, paths, cwd } = filledHome(t)
  const stored = await synapse(['carry', paths['claude-code'] ?? '', '--to', 'synapse'])
  assert.equal(stored.code, 0, stored.err)
  const id = /--conversation (\S+)\n$/.exec(stored.out)?.[1] ?? ''
  const back = json((await synapse(['carry', id, '--to', 'claude-code', '--cwd', cwd, '--json'])).out)
  assert.ok(isObject(back))
  const meant = readFileSync(paths['claude-code'] ?? '', 'utf8')
    .trimEnd()
    .split('\n')
    .map(json)
  const written = readFileSync(String(back['path']), 'utf8').trimEnd().split('\n').map(json)
  const said = (lines: Json[]) =>
    lines
      .filter((line) => isObject(line) && line['isSidechain'] !== true)
      .map((line) => isObject(line) && line['message'])
  assert.deepEqual(said(written), said(meant))
  const other = await synapse(['carry', id, '--to', 'codex', '--cwd', cwd])
  assert.match(other.out, /7 calls, 7 results, 2 pictures/, other.err)
})
