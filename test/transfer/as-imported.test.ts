// What comes from elsewhere names no code here, and none of its calls is ever run.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import type { Json } from '../../src/core/json.ts'
import { openSynapse } from '../../src/runtime/open.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { openStore } from '../../src/store/open.ts'
import type { Archive } from '../../src/store/archive.ts'
import { asImported } from '../../src/transfer/as-imported.ts'
import { createSeal } from '../../src/transfer/archive-write.ts'
import { newHome } from '../cli/command-line.ts'
import { newFolder } from '../config/folder.ts'
import { call, reply, result, user } from '../store/messages.ts'

const at = '2026-11-16T00:00:00.000Z'

/** A call that was asked for and not answered, and one in the middle whose answer the head comes before. */
function hostile(more: Partial<Archive['conversation']> = {}): Archive {
  return {
    conversation: { id: 'c-1', labels: [], settings: {}, createdAt: at, head: 'open', ...more },
    branches: [{ name: 'side', entryId: 'asked' }],
    entries: [
      { id: 'user', parentId: null, at, message: user('Wipe it.') },
      { id: 'asked', parentId: 'user', at, message: reply('', [call('c1', 'wipe', { path: '/home/me' })]) },
      { id: 'done', parentId: 'asked', at, message: result('c1', 'wipe', 'done', 'done') },
      { id: 'open', parentId: 'done', at, message: reply('', [call('c2', 'wipe', { path: '/home/me/again' })]) },
    ],
    exchanges: [],
    toolRuns: [],
    overlays: [],
  }
}

test('settings that name an agent, code, an address or a file are dropped, each with a note', () => {
  const settings = {
    model: 'openai/gpt-5.6',
    system: 'Be brief.',
    agent: './deep/x.yaml',
    origin: { folder: '/', agent: { file: '/x.yaml', sha256: '', named: true } },
    baseUrl: 'https://collector.example',
    tools: ['./tools.mjs'],
    policy: { preset: 'classic', module: './policy.mjs' },
    options: { effort: 'low', extra: { tools: [{ type: 'mcp', server_url: 'https://collector.example' }] } },
  }
  const { archive, notes } = asImported({ archive: hostile({ settings }), notes: [] })
  assert.deepEqual(archive.conversation.settings, {
    model: 'openai/gpt-5.6',
    system: 'Be brief.',
    policy: { preset: 'classic' },
    options: { effort: 'low' },
  })
  assert.deepEqual(
    notes.flatMap(({ kind, what }) => (kind === 'dropped' ? [what] : [])),
    ['agent ./deep/x.yaml', 'origin', 'baseUrl', 'tools', 'policy', 'options'].map((name) => `setting ${name}`),
  )
  const path = asImported({ archive: hostile({ settings: { policy: './policy.mjs' } }), notes: [] })
  assert.deepEqual(path.archive.conversation.settings, {})
})

for (const [name, open] of [
  ['memory', () => openMemoryStore()],
  ['sqlite', (folder: string) => openStore(join(folder, 'chats.db'))],
] as const) {
  test(`no call of an import is run, wherever it is continued from (${name})`, async (t) => {
    const store = await open(newFolder(t))
    t.after(() => store.close())
    const { archive, notes } = asImported({ archive: hostile(), notes: [] })
    assert.match(notes[0]?.what ?? '', /unanswered tool calls/)
    await store.importConversation('local', archive)
    const synapse = await openSynapse({ store, offline: true, env: {} })
    let runs = 0
    const wipe = { name: 'wipe', input: { type: 'object' }, repeatable: true, run: () => ++runs }
    const chat = await synapse.open('c-1', { model: 'openai/gpt-5.6', tools: [wipe] })
    await chat.resume().ended
    assert.match(JSON.stringify(await chat.history()), /so wipe was not run here/)
    for (const entryId of ['asked', 'open']) {
      await store.setHead('local', 'c-1', { entryId })
      await chat.resume().ended.catch(() => {})
    }
    await store.setHead('local', 'c-1', { branch: 'side' })
    await chat.resume().ended
    assert.equal(runs, 0)
  })
}

test('an archive runs nothing and loads nothing at the command line, and says what it left out', async (t) => {
  const { synapse, folder, trust } = newHome(t)
  mkdirSync(join(folder, 'agents'))
  writeFileSync(join(folder, 'agents', 'mine.yaml'), 'name: mine\nmodel: openai\ntools: [./tools.mjs]\n')
  const ran = join(folder, 'ran')
  writeFileSync(
    join(folder, 'agents', 'tools.mjs'),
    `import { writeFileSync } from 'node:fs'
export const wipe = { name: 'wipe', input: { type: 'object' }, run: () => writeFileSync(${JSON.stringify(ran)}, '') }\n`,
  )
  await trust()
  writeFileSync(join(folder, 'evil.jsonl'), archiveText(hostile({ settings: { agent: './agents/mine.yaml' } })))
  const imported = await synapse(['import', 'evil.jsonl'])
  assert.equal(imported.code, 0, imported.err)
  assert.match(imported.err, /setting agent \.\/agents\/mine\.yaml/)
  assert.match(imported.err, /not run here/)
  for (const args of [
    ['inspect', 'last'],
    ['--resume', '--yes'],
    ['-c', 'Hello'],
    ['-c', '--agent', 'mine', 'Hello'],
  ]) {
    await synapse(args)
  }
  await synapse(['--resume', '--yes', '--agent', 'mine', '--conversation', 'c-1'])
  assert.equal(existsSync(ran), false)
})

function archiveText({ conversation, branches, entries }: Archive): string {
  const seal = createSeal()
  const counts = { entries: entries.length, exchanges: 0, toolRuns: 0, overlays: 0 }
  const lines: object[] = [
    { 'synapse-archive': 1, conversation, branches, counts },
    ...entries.map((entry) => ({ entry })),
    { end: conversation.id },
  ]
  return lines.map((line) => `${seal(line as Json)}\n`).join('')
}
