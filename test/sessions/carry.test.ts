import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after } from 'node:test'
import type { JsonObject } from '../../src/core/json.ts'
import { agentNamed } from '../../src/sessions/agents.ts'
import { type Carried, carriedText, digestsOf, newSession, targetFormat } from '../../src/sessions/carry.ts'
import { putSession } from '../../src/sessions/put.ts'
import { isNewer } from '../../src/sessions/resume.ts'
import { fileSource, formatOfFile, lineSource, type SessionSource } from '../../src/sessions/source.ts'
import { readTranscript, writeTranscript } from '../../src/transcripts/index.ts'
import type { SessionFormat, Step } from '../../src/transcripts/session.ts'
import { stepper } from '../../src/transcripts/steps.ts'
import { generate, makers } from './generated.ts'

const folder = mkdtempSync(join(tmpdir(), 'synapse-carry-test-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const names = Object.keys(makers)
const made = generate()
const options = { cwd: '/home/me/other', now: '2026-11-16T00:00:00.000Z' }

function native(agent: string): JsonObject[] {
  const id = agent === 'opencode' ? 'ses_0123456789abcdef0123456789' : randomUUID()
  return (makers[agent] as (typeof makers)[string])(made.events, '/home/me/app', id).lines
}

async function saved(agent: string, text: string): Promise<SessionSource> {
  const file = join(folder, `${randomUUID()}.${agent === 'opencode' ? 'json' : 'jsonl'}`)
  writeFileSync(file, text)
  const format = formatOfFile(file)
  assert.ok(format?.id === agent, `${format?.id} instead of ${agent}`)
  return fileSource(file, format)
}

function carried(source: SessionSource, to: string): { text: string; carried: Carried } {
  const target = targetFormat(to)
  const pieces = carriedText(source, target, newSession(source, target, options))
  let text = ''
  for (;;) {
    const next = pieces.next()
    if (next.done) return { text, carried: next.value }
    text += next.value
  }
}

function nativeSource(agent: string): SessionSource {
  const lines = native(agent)
  return lineSource(targetFormat(agent), () => lines, {})
}

function stepsOf(source: SessionSource): Step[] {
  const steps = stepper()
  const all = [...source.messages()].flatMap(({ message, at }) => steps.push(message, at ?? ''))
  return [...all, ...steps.end()]
}

const plain = { userTexts: 4, assistantTexts: 5, calls: 7, results: 7, pictures: 2 }
/** opencode's summary is an answer to a separate question; Gemini CLI's commands have words before them. */
const special: Record<string, Partial<typeof plain>> = {
  opencode: { assistantTexts: 6 },
  'gemini-cli': { userTexts: 5 },
}

for (const from of names) {
  for (const to of names) {
    test(`${from} to ${to} and back: the same texts, calls, arguments, results and pictures`, async () => {
      const source = nativeSource(from)
      const there = await saved(to, carried(source, to).text)
      const back = await saved(from, carried(there, from).text)
      const { digests, counts } = digestsOf(source)
      assert.deepEqual(counts, { ...plain, ...special[from] })
      for (const copy of [there, back]) {
        const read = digestsOf(copy)
        assert.deepEqual([read.digests, read.counts], [digests, counts])
      }
    })
  }

  test(`a session of ${from} is read to what it would send next`, () => {
    const source = nativeSource(from)
    const text = JSON.stringify(stepsOf(source))
    for (const { kind, value } of made.units) {
      const wanted = kind === 'call' ? value.slice(value.indexOf(' ') + 1) : JSON.stringify(value).slice(1, -1)
      assert.ok(text.includes(wanted), `${kind} is missing: ${value.slice(0, 80)}`)
    }
    for (const foreign of made.foreign) assert.ok(!text.includes(JSON.stringify(foreign).slice(1, -1)), foreign)
  })

  test(`with --whole a session of ${from} includes what comes before the compaction`, () => {
    const lines = native(from)
    const whole = digestsOf(lineSource(targetFormat(from), () => lines, { whole: true }))
    const short = digestsOf(lineSource(targetFormat(from), () => lines, {}))
    // Gemini CLI itself keeps nothing of what it has compressed.
    if (from === 'gemini-cli') assert.deepEqual(whole.counts, short.counts)
    else assert.ok(whole.counts.assistantTexts > short.counts.assistantTexts)
  })

  test(`a session of ${from} is written line by line, unchanged`, () => {
    const lines = native(from)
    const json = from === 'opencode' ? { info: lines[0] as JsonObject, messages: lines.slice(1) } : lines
    const { messages, format } = readTranscript(json)
    assert.equal(format, from)
    assert.deepEqual(writeTranscript(messages, from), json)
  })

  test(`a session carried to ${from} has the times, the folder and the model of its source, and a new id`, () => {
    const source = nativeSource(from === 'pi' ? 'claude-code' : 'pi')
    const { carried: result, text } = carried(source, from)
    assert.equal(result.session.cwd, options.cwd)
    assert.equal(result.session.startedAt, source.head.startedAt)
    assert.notEqual(result.session.id, source.head.id)
    assert.equal(result.session.model, 'claude-opus-5-5')
    assert.ok(!text.includes(source.head.id ?? '?'))
    assert.equal(carried(source, from).text, text, 'the same session gives the same text')
  })
}

test('what was left out or added is reported with its reason', () => {
  const { notes } = carried(nativeSource('claude-code'), 'codex').carried
  const said = notes.map(({ kind, what }) => `${kind} ${what}`)
  assert.ok(said.includes('dropped 6 blocks of thinking'), said.join('; '))
  assert.ok(said.includes('added 1 result'), said.join('; '))
  assert.ok(said.includes('dropped 1 line of sub-agents'), said.join('; '))
  assert.ok(said.includes('changed long results'), said.join('; '))
})

test('ids and names that no wire accepts are replaced, the same for a call and its result', () => {
  const steps = stepper()
  const origin = { protocol: '', provider: '', model: '' }
  const call = (callId: string) => ({ type: 'tool-call' as const, callId, name: 'a.b/c', input: [1] })
  steps.push(
    { role: 'assistant', parts: [call('x|1'), call('x|2')], native: [], origin, stop: { reason: 'tool-calls' } },
    'now',
  )
  steps.push(
    {
      role: 'tool',
      parts: [{ type: 'tool-result', callId: 'x|2', name: 'a.b/c', output: [{ type: 'text', text: 'two' }] }],
    },
    'now',
  )
  const [step] = steps.end()
  assert.ok(step?.kind === 'reply')
  const [first, second] = step.parts
  assert.ok(first?.type === 'call' && second?.type === 'call')
  for (const { id, name } of [first, second]) for (const text of [id, name]) assert.match(text, /^[\w-]{1,64}$/)
  assert.notEqual(first.id, second.id)
  assert.deepEqual(first.input, { input: [1] })
  assert.deepEqual(
    step.results.map(({ id, output }) => [id, output[0]?.type === 'text' && output[0].text]),
    [
      [first.id, '[no result was recorded]'],
      [second.id, 'two'],
    ],
  )
})

test('a session that differs when read back is removed, and is an error', async () => {
  const at = { home: join(folder, 'home'), env: {} }
  const codex = targetFormat('codex')
  const lossy: SessionFormat = {
    ...codex,
    writer(session) {
      const writer = codex.writer(session)
      return { ...writer, add: (step) => writer.add(step.kind === 'reply' ? { ...step, results: [] } : step) }
    },
  }
  const put = putSession(nativeSource('pi'), agentNamed('codex'), lossy, at, { ...options, cwd: folder })
  await assert.rejects(put, /read back with a difference \(turn 1 of \d+ differs\), so it was removed/)
  assert.deepEqual(globSync('**/*.{jsonl,part}', { cwd: at.home }), [])
})

test('a newer version is distinguished from an older one', () => {
  assert.equal(isNewer('2.10.0', '2.9.9'), true)
  assert.equal(isNewer('2.9.9', '2.10.0'), false)
  assert.equal(isNewer('2.9.9', '2.9.9'), false)
})

test('of two branches of Claude Code the later one is carried, and results of parallel calls with it', () => {
  const at = (second: number) => `2026-11-01T10:00:0${second}.000Z`
  const line = (
    uuid: string,
    parentUuid: string | null,
    second: number,
    type: string,
    content: JsonObject[],
    id?: string,
  ) => ({
    uuid,
    parentUuid,
    sessionId: 's',
    cwd: '/x',
    type,
    timestamp: at(second),
    message: { role: type, content, ...(id !== undefined && { id, model: 'claude-opus-5-5' }) },
  })
  const text = (words: string) => [{ type: 'text', text: words }]
  const use = (id: string) => [{ type: 'tool_use', id, name: 'ls', input: {} }]
  const result = (id: string) => [{ type: 'tool_result', tool_use_id: id, content: `result ${id}` }]
  const lines: JsonObject[] = [
    line('u1', null, 1, 'user', text('begin')),
    line('a1', 'u1', 2, 'assistant', text('left behind'), 'm0'),
    line('a2', 'u1', 3, 'assistant', use('c1'), 'm1'),
    line('r1', 'a2', 4, 'user', result('c1')),
    line('r2', 'a3', 5, 'user', result('c2')),
    line('a3', 'a2', 6, 'assistant', use('c2'), 'm1'),
    line('u2', 'r2', 7, 'user', text('end')),
  ]
  const source = lineSource(targetFormat('claude-code'), () => lines, {})
  const said = JSON.stringify(stepsOf(source))
  for (const words of ['begin', 'result c1', 'result c2', 'end']) assert.ok(said.includes(words), words)
  assert.ok(!said.includes('left behind'))
  assert.ok(!said.includes('no result was recorded'))
})

test('a session of Codex that was rolled back is carried without what was undone', () => {
  const line = (type: string, payload: JsonObject): JsonObject => ({
    timestamp: '2026-11-01T10:00:00.000Z',
    type,
    payload,
  })
  const user = (text: string) =>
    line('response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text }] })
  const lines = [
    line('session_meta', { id: 'x', cwd: '/x' }),
    user('<environment_context>here</environment_context>'),
    user('one'),
    user('two'),
    line('event_msg', { type: 'thread_rolled_back', num_turns: 1 }),
    user('three'),
  ]
  const said = JSON.stringify(stepsOf(lineSource(targetFormat('codex'), () => lines, {})))
  assert.ok(said.includes('one') && said.includes('three') && said.includes('here'))
  assert.ok(!said.includes('two'))
})
