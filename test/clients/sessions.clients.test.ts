// Sessions carried with `synapse carry` and resumed by the real agents: what each sends next is recorded and compared
// with what was in the source. Sources are recorded sessions and ones made again, in the own form of each agent.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import test, { after, type TestContext } from 'node:test'
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { textOf as words } from '../../src/core/message.ts'
import { agentNamed } from '../../src/sessions/agents.ts'
import { findSession, listSessions } from '../../src/sessions/list.ts'
import { registerGeminiProject } from '../../src/sessions/gemini-projects.ts'
import { readTranscript } from '../../src/transcripts/index.ts'
import { corpusFiles } from '../corpus.ts'
import { clients, placeFor, programOf, runAgent, startRecorder, type Place, type Recorder } from './agents.ts'
import { generate, makers, type Generated, type Unit } from '../sessions/generated.ts'

const synapse = join(import.meta.dirname, '..', '..', 'bin', 'synapse.js')
const names = Object.keys(clients)
const question = 'And what is next?'
const folder = mkdtempSync(join(tmpdir(), 'synapse-sources-'))
const only = process.env['SYNAPSE_TEST_AGENT']
const rows = new Map<string, string>()
after(() => {
  rmSync(folder, { recursive: true, force: true })
  const cell = (source: string, target: string): string => (rows.get(`${source} ${target}`) ?? '').padEnd(16)
  const lines = [...new Set([...rows.keys()].map((key) => key.split(' ')[0] ?? ''))].map(
    (source) => `${source.padEnd(34)}${names.map((target) => cell(source, target)).join('')}`,
  )
  process.stdout.write(
    `\n${'arrived / total'.padEnd(34)}${names.map((name) => name.padEnd(16)).join('')}\n${lines.join('\n')}\n`,
  )
})

interface Source {
  name: string
  agent: string
  file: string
  units: Unit[]
  foreign: string[]
}

const made = generate()
const sources: Source[] = [...names.map(generatedSource), ...recordedSources()]

function generatedSource(agent: string): Source {
  const { lines, foreign = [] } = (makers[agent] as (typeof makers)[string])(made.events, '/home/me/app', newId(agent))
  const file = join(folder, `${agent}.${agent === 'opencode' ? 'json' : 'jsonl'}`)
  writeFileSync(file, textOf(agent, lines))
  return { name: `generated:${agent}`, agent, file, units: made.units, foreign: [...made.foreign, ...foreign] }
}

function newId(agent: string): string {
  return agent === 'opencode' ? `ses_${randomBytes(13).toString('hex')}` : randomUUID()
}

function textOf(agent: string, lines: readonly JsonObject[]): string {
  if (agent === 'opencode') return JSON.stringify({ info: lines[0], messages: lines.slice(1) })
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** Sessions that agents really left; the units are what our reader finds in them. */
function recordedSources(): Source[] {
  const files = ['claude-code-raw/*', 'codex-raw/*', 'pi/*', 'gemini-cli/*'].flatMap((one) =>
    corpusFiles(`trajectories/${one}`),
  )
  return files.flatMap((file) => {
    const { messages, format } = readTranscript(readFileSync(file, 'utf8'))
    if (!names.includes(format)) return []
    const units = messages.flatMap((message): Unit[] => {
      if (message.role === 'system') return []
      if (message.role === 'assistant' && message.stop.reason !== 'done' && message.stop.reason !== 'tool-calls')
        return []
      return message.parts.flatMap((part): Unit[] => {
        if (part.type === 'text' && part.text.trim() !== '')
          return [{ kind: message.role === 'user' ? 'user' : 'assistant', value: part.text }]
        if (part.type === 'tool-call') return [{ kind: 'call', value: `${part.name} ${JSON.stringify(part.input)}` }]
        if (part.type !== 'tool-result') return []
        return part.output.flatMap((one): Unit[] =>
          one.type === 'text' && one.text !== '' ? [{ kind: 'result', value: one.text }] : [],
        )
      })
    })
    return [{ name: basename(file).slice(0, 32), agent: format, file, units, foreign: [] }]
  })
}

/** Everything that a request says: its texts, and its calls as name and arguments. */
function saidIn(body: Json): { text: string; calls: Set<string>; callIds: string[]; resultIds: string[] } {
  const texts: string[] = []
  const calls = new Set<string>()
  const callIds: string[] = []
  const resultIds: string[] = []
  const call = (name: Json | undefined, input: Json | undefined, id: Json | undefined): void => {
    calls.add(`${String(name)} ${JSON.stringify(typeof input === 'string' ? parsed(input) : (input ?? {}))}`)
    callIds.push(String(id))
  }
  const walk = (value: Json | undefined): void => {
    if (typeof value === 'string') texts.push(value)
    else if (Array.isArray(value)) value.forEach(walk)
    else if (isObject(value)) {
      if (value.type === 'function_call') call(value.name, value.arguments, value.call_id)
      if (value.type === 'custom_tool_call') call(value.name, { input: value.input ?? '' }, value.call_id)
      if (value.type === 'tool_use') call(value.name, value.input, value.id)
      if (value.type === 'function' && isObject(value.function) && value.id !== undefined)
        call(value.function.name, value.function.arguments, value.id)
      if (isObject(value.functionCall)) call(value.functionCall.name, value.functionCall.args, value.functionCall.id)
      if (value.type === 'function_call_output' || value.type === 'custom_tool_call_output')
        resultIds.push(String(value.call_id))
      if (value.type === 'tool_result') resultIds.push(String(value.tool_use_id))
      if (value.role === 'tool') resultIds.push(String(value.tool_call_id))
      if (isObject(value.functionResponse)) resultIds.push(String(value.functionResponse.id))
      Object.values(value).forEach(walk)
    }
  }
  walk(body)
  return { text: texts.join('\n'), calls, callIds, resultIds }
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

/** Of results that an agent shortens even in its own sessions, only the beginning is compared. */
const longResult = 8000

function arrives({ kind, value }: Unit, said: ReturnType<typeof saidIn>, shortens: boolean): boolean {
  if (kind === 'call') return said.calls.has(value)
  const isCut = shortens && kind === 'result' && value.length > longResult
  return said.text.includes(isCut ? value.slice(0, 100) : value)
}

/** What an agent sends of its own session. */
interface Own {
  units: Set<Unit>
  /** Long results are cut. */
  shortens: boolean
}

async function resumed(
  place: Place,
  program: string,
  args: string[],
  recorder: Recorder,
): Promise<{ body: Json; output: string }> {
  recorder.take()
  const { output } = await runAgent(program, args, place)
  const bodies = recorder.take().filter((body) => JSON.stringify(body).includes(question))
  const [largest] = bodies.toSorted((a, b) => JSON.stringify(b).length - JSON.stringify(a).length)
  assert.ok(largest !== undefined, `nothing was asked: ${output}`)
  return { body: largest, output }
}

/** What the agent sends of its own session with the same content. */
async function baseline(
  agent: string,
  program: string,
  recorder: Recorder,
  { events, units }: Generated,
): Promise<Own> {
  const place = placeFor(agent, recorder.url, program)
  try {
    const id = newId(agent)
    const text = textOf(agent, (makers[agent] as (typeof makers)[string])(events, place.cwd, id).lines)
    const { pathFor, folder: folderOf } = agentNamed(agent)
    const at = { home: place.home, env: place.env }
    if (pathFor) {
      if (agent === 'gemini-cli') registerGeminiProject(place.cwd, at)
      const started = '2026-11-01T10:00:00.000Z'
      const path = join(folderOf(at), pathFor({ id, cwd: place.cwd, startedAt: started, updatedAt: started }, at))
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
    } else {
      writeFileSync(join(place.home, 's.json'), text)
      const ran = await runAgent(program, ['import', join(place.home, 's.json')], place)
      assert.equal(ran.code, 0, ran.output)
    }
    const client = clients[agent]
    const { body } = await resumed(place, program, client?.resume(id, question) ?? [], recorder)
    const said = saidIn(body)
    const shortens = units.some((unit) => unit.value.length > longResult && !arrives(unit, said, false))
    return { units: new Set(units.filter((unit) => arrives(unit, said, shortens))), shortens }
  } finally {
    place.remove()
  }
}

async function carryAndResume(
  t: TestContext,
  source: Source,
  target: string,
  program: string,
  recorder: Recorder,
  own: Own,
): Promise<void> {
  const place = placeFor(target, recorder.url, program)
  try {
    const ran = spawnSync(
      process.execPath,
      [synapse, 'carry', source.file, '--to', target, '--cwd', place.cwd, '--json'],
      {
        env: place.env,
        cwd: place.cwd,
        encoding: 'utf8',
      },
    )
    assert.equal(ran.status, 0, ran.stderr)
    const { id, cwd } = JSON.parse(ran.stdout) as { id: string; cwd: string }
    assert.equal(cwd, place.cwd)
    const client = clients[target] as (typeof clients)[string]
    // Made ones are resumed as what the agent itself takes for its newest session.
    const isMade = source.units === made.units
    const { body, output } = await resumed(
      place,
      program,
      isMade ? client.latest(question) : client.resume(id, question),
      recorder,
    )
    const said = saidIn(body)
    const wanted = isMade
      ? source.units.filter((unit) => own.units.has(unit) || unit.value.startsWith('/'))
      : source.units
    const lost = wanted.filter((unit) => !arrives(unit, said, own.shortens))
    rows.set(`${source.name} ${target}`, `${wanted.length - lost.length}/${wanted.length}`)
    t.diagnostic(`${wanted.length - lost.length} of ${wanted.length} arrived`)
    const shown = lost.slice(0, 3).map(({ kind, value }) => `${kind}: ${value.slice(0, 120)}`)
    assert.deepEqual(shown, [], output)
    const foreign = target === source.agent ? [] : source.foreign.filter((text) => said.text.includes(text))
    assert.deepEqual(foreign, [], 'what belongs to the other agent was sent')
    assert.deepEqual(said.callIds.toSorted(), said.resultIds.toSorted(), 'every call has one result')
    await readOn(place)
  } finally {
    place.remove()
  }
}

/** The session as the agent has continued it can be carried further. */
async function readOn({ home, env, cwd }: Place): Promise<void> {
  const at = { home, env }
  const [listed, ...more] = listSessions(at, { project: cwd })
  assert.ok(listed && more.length === 0, 'there is one session')
  const found = await findSession(listed.id, at, cwd, {})
  const messages = [...(found?.source.messages() ?? [])].map(({ message }) => message)
  const user = messages.findLast(({ role }) => role === 'user')
  const reply = messages.findLast(({ role }) => role === 'assistant')
  assert.ok(user && words(user.parts).includes(question), 'the question is in it')
  assert.ok(reply && words(reply.parts).includes('Fine.'), 'the answer is in it')
}

for (const target of names) {
  test(
    `sessions of every agent are resumed by ${target}`,
    { skip: only !== undefined && only !== target },
    async (t) => {
      const found = programOf(target)
      if ('missing' in found) {
        for (const { name } of sources) rows.set(`${name} ${target}`, 'not installed')
        t.skip(found.missing)
        return
      }
      const recorder = await startRecorder()
      try {
        const own = await baseline(target, found.path, recorder, made)
        const how = own.shortens ? ', and long results cut' : ''
        t.diagnostic(`${own.units.size} of ${made.units.length} units of its own session are sent by ${target}${how}`)
        for (const source of sources) {
          await t.test(`from ${source.name}`, (inner) =>
            carryAndResume(inner, source, target, found.path, recorder, own),
          )
        }
      } finally {
        recorder.close()
      }
    },
  )
}
