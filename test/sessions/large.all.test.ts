// Sizes that people really have: one session of 150 MB, and thousands of sessions in one list.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { closeSync, mkdirSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { listSessions } from '../../src/sessions/list.ts'
import { newHome } from '../cli/command-line.ts'

/** A session of Claude Code, one turn at a time: a question, a call with a long result, an answer. */
function* turns(cwd: string, sessionId: string, result: string): Generator<string> {
  let parentUuid: string | null = null
  const line = (type: string, message: object): string => {
    const uuid = randomUUID()
    const at = {
      parentUuid,
      isSidechain: false,
      cwd,
      sessionId,
      type,
      message,
      uuid,
      timestamp: '2026-11-01T10:00:00.000Z',
    }
    parentUuid = uuid
    return `${JSON.stringify(at)}\n`
  }
  for (let n = 0; ; n++) {
    const id = `msg_${n}`
    const use = [{ type: 'tool_use', id: `toolu_${n}`, name: 'Bash', input: { command: `make ${n}` } }]
    yield line('user', { role: 'user', content: `Question ${n}` })
    yield line('assistant', { id, role: 'assistant', model: 'claude-opus-5-5', content: use })
    yield line('user', { role: 'user', content: [{ type: 'tool_result', tool_use_id: `toolu_${n}`, content: result }] })
    yield line('assistant', {
      id: `${id}b`,
      role: 'assistant',
      model: 'claude-opus-5-5',
      content: [{ type: 'text', text: 'Done.' }],
    })
  }
}

for (const target of ['codex', 'claude-code']) {
  test(`a session of 150 MB is carried to ${target} with a heap of 96 MB`, async (t) => {
    const { synapse, folder } = newHome(t)
    const file = join(folder, 'large.jsonl')
    const fd = openSync(file, 'w')
    let size = 0
    for (const line of turns(folder, randomUUID(), 'a line of output\n'.repeat(1500))) {
      size += writeSync(fd, line)
      if (size > 150 * 1024 * 1024) break
    }
    closeSync(fd)
    const env = { NODE_OPTIONS: '--max-old-space-size=96' }
    const { code, out, err } = await synapse(['carry', file, '--to', target, '--json'], { env })
    assert.equal(code, 0, err)
    const { path, counts } = JSON.parse(out) as { path: string; counts: { results: number } }
    assert.ok(counts.results > 5000)
    assert.ok(statSync(path).size > 140 * 1024 * 1024)
  })
}

/** As Codex leaves it: tens of kilobytes of instructions before the first words of the user. */
function codexSession(cwd: string, id: string): string {
  const line = (type: string, payload: object): string =>
    `${JSON.stringify({ timestamp: '2026-11-01T10:00:00.000Z', type, payload })}\n`
  const message = (role: string, text: string): string =>
    line('response_item', { type: 'message', role, content: [{ type: 'input_text', text }] })
  const meta = { id, timestamp: '2026-11-01T10:00:00.000Z', cwd, originator: 'codex-tui', cli_version: '0.169.0' }
  return [
    line('session_meta', { ...meta, source: 'cli', base_instructions: { text: 'Be – careful. '.repeat(2000) } }),
    message('developer', 'Ask before you delete. '.repeat(800)),
    line('event_msg', { type: 'user_message', message: 'Question 0' }),
    message('user', 'Question 0'),
    message('assistant', 'Done. '.repeat(1000)),
  ].join('')
}

test('four thousand sessions are listed in less than a second of work', (t) => {
  const { folder, env } = newHome(t)
  for (let project = 0; project < 40; project++) {
    const cwd = `/home/me/project-${project}`
    const place = join(folder, '.claude', 'projects', cwd.replaceAll(/[^A-Za-z0-9]/g, '-'))
    const codex = join(folder, '.codex', 'sessions', '2026', '11', String(project))
    mkdirSync(place, { recursive: true })
    mkdirSync(codex, { recursive: true })
    for (let n = 0; n < 80; n++) {
      const id = randomUUID()
      let text = ''
      for (const line of turns(cwd, id, 'output '.repeat(200))) {
        text += line
        if (text.length > 50_000) break
      }
      writeFileSync(join(place, `${id}.jsonl`), text)
    }
    for (let n = 0; n < 20; n++) {
      const id = randomUUID()
      writeFileSync(join(codex, `rollout-2026-11-01T10-00-00-${id}.jsonl`), codexSession(cwd, id))
    }
  }
  // The least of three: other work on the machine makes each of them longer.
  const times = [1, 2, 3].map(() => {
    const before = process.cpuUsage()
    const found = listSessions({ home: folder, env })
    const { user, system } = process.cpuUsage(before)
    assert.equal(found.length, 4000)
    assert.ok(found.every(({ title, messages }) => title === 'Question 0' && messages > 0))
    return (user + system) / 1000
  })
  t.diagnostic(`4,000 sessions in ${times.map((ms) => Math.round(ms)).join(', ')} ms`)
  assert.ok(Math.min(...times) < 1000, `${times.join(', ')} ms`)
})
