// Archives: damaged, reordered and oversized ones.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { SynapseError } from '../../src/core/error.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { readArchives, type ReadArchive } from '../../src/transfer/archive-read.ts'
import { archiveLines, createSeal } from '../../src/transfer/archive-write.ts'
import { linesOfFile } from '../../src/transfer/lines.ts'
import { withNewIds } from '../../src/transfer/new-ids.ts'
import { redactor } from '../../src/transfer/redact.ts'
import { newPlace, openPlace, reasonToSkip } from '../crash/stores.ts'
import { tempFolder } from '../store/temp.ts'
import { thorough } from '../thorough.ts'
import { archiveOf, owner, richConversation } from './given.ts'

type Opener = (t: TestContext) => Promise<Store>

const stores: [string, Opener, string | false][] = [
  ['memory', async () => openMemoryStore(), false],
  ['sqlite', async (t) => openSqliteStore(join(tempFolder(t), 'log.db')), false],
  ['postgres', async (t) => openPlace(await newPlace(t, 'postgres')), reasonToSkip('postgres')],
]

for (const [name, open, skip] of stores) {
  test(`${name}: export, import and export again give the same bytes`, { skip }, async (t) => {
    const [store, elsewhere] = [await open(t), await openSqliteStore(join(tempFolder(t), 'other.db'))]
    const id = await richConversation(store)
    const lines = await archiveOf(store, id)
    const { archive, notes } = await onlyOne(t, lines.join('\n'))
    assert.deepEqual(notes, [])
    const there = await elsewhere.importConversation(owner, archive)
    assert.deepEqual(there, { ...(await store.conversation(owner, id)), owner })
    assert.ok((await archiveOf(elsewhere, id)).join('\n') === lines.join('\n'), 'the same bytes elsewhere')

    // And back into a store of the same kind that does not have it any more.
    await store.deleteConversation(owner, id)
    await store.importConversation(owner, archive)
    assert.ok((await archiveOf(store, id)).join('\n') === lines.join('\n'), 'the same bytes again')
    assert.equal((await store.search(owner, { text: 'another answer' })).items.length, 1)
    assert.deepEqual(
      (await store.usage(owner)).map(({ exchanges, input }) => ({ exchanges, input })),
      [{ exchanges: 2, input: 10 }],
    )
    await Promise.all([store.close(), elsewhere.close()])
  })

  test(`${name}: an existing conversation is refused as a whole; a copy has new ids`, { skip }, async (t) => {
    const store = await open(t)
    const id = await richConversation(store)
    const before = await archiveOf(store, id)
    const { archive } = await onlyOne(t, before.join('\n'))
    await assert.rejects(store.importConversation(owner, archive), {
      failure: { kind: 'conflict', code: 'id-taken', message: `There is already a conversation with the id ${id}.` },
    })
    const half = { ...archive, conversation: { ...archive.conversation, id: 'fresh' } }
    await assert.rejects(store.importConversation(owner, half), SynapseError)
    assert.equal(await store.conversation(owner, 'fresh'), undefined, 'nothing of it is there')
    assert.deepEqual(await archiveOf(store, id), before)
    const copy = await store.importConversation(owner, withNewIds(archive))
    assert.notEqual(copy.id, id)
    const [a, b] = [await store.outline(owner, id), await store.outline(owner, copy.id)]
    assert.deepEqual(
      b.map(({ depth, role, at }) => ({ depth, role, at })),
      a.map(({ depth, role, at }) => ({ depth, role, at })),
    )
    assert.equal(
      (await store.history(owner, copy.head ?? '')).length,
      (await store.history(owner, archive.conversation.head ?? '')).length,
    )
    await store.close()
  })
}

test('a file cut at any byte of its last lines keeps the earlier lines, with a note', async (t) => {
  const store = openMemoryStore()
  const id = await richConversation(store)
  const lines = await archiveOf(store, id)
  const text = `${lines.join('\n')}\n`
  const tail = lines.slice(-2).join('\n').length
  for (let cut = text.length - 2; cut > text.length - tail - 3; cut -= thorough ? 1 : 7) {
    const { archive, notes } = await onlyOne(t, text.slice(0, cut))
    assert.equal(archive.entries.length, 7)
    assert.match(notes[0]?.why ?? '', /cut off/)
  }
  for (let keep = 1; keep < lines.length; keep++) {
    const { archive, notes } = await onlyOne(t, lines.slice(0, keep).join('\n'))
    assert.equal(notes.length, 1)
    const fresh = openMemoryStore()
    const there = await fresh.importConversation(owner, archive)
    assert.equal(there.entries, Math.min(keep - 1, 7))
    if (there.head) assert.ok((await fresh.history(owner, there.head)).length > 0)
  }
  await assert.rejects(onlyOne(t, lines[0]?.slice(0, 40) ?? ''), /nothing can be read/)
})

test('a line that was changed, moved, doubled or left out is named by its number', async (t) => {
  const store = openMemoryStore()
  const lines = await archiveOf(store, await richConversation(store))
  const [second = '', third = ''] = lines.slice(1)
  const tampered: [string, string[], RegExp][] = [
    ['changed', lines.with(2, third.replace('Let me look', 'Let me lie')), /Line 3 is not what was exported/],
    ['moved', lines.with(1, third).with(2, second), /Line 2 is not what was exported/],
    ['doubled', lines.toSpliced(2, 0, second), /Line 3 is not what was exported/],
    ['left out', lines.toSpliced(2, 1), /Line 3 is not what was exported/],
    ['no JSON', lines.with(2, 'oops'), /Line 3 is not a line of an archive/],
  ]
  for (const [what, changed, expected] of tampered) await assert.rejects(onlyOne(t, changed.join('\n')), expected, what)
})

const manifest = {
  'synapse-archive': 1,
  conversation: { id: 'c', labels: [], settings: {}, createdAt: '2026-11-15T00:00:00Z', head: null },
  branches: [],
}
const said = { role: 'user', parts: [{ type: 'text', text: 'x' }] }
const entry = (id: string, parentId: string | null, message: unknown = said) => ({
  entry: { id, parentId, at: '2026-11-15T00:00:00Z', message },
})

const hostile: [string, unknown[], RegExp][] = [
  [
    'a circle of parents',
    [entry('a', 'b'), entry('b', 'a')],
    /Line 2: the parent b of entry a does not come before it/,
  ],
  ['its own parent', [entry('a', 'a')], /does not come before it/],
  ['an id twice', [entry('a', null), entry('a', null)], /already an entry a/],
  ['a message of no role', [entry('a', null, { role: 'root', parts: [] })], /Line 2: .*role/],
  [
    'a reply without its origin',
    [entry('a', null, { role: 'assistant', parts: [], native: [], stop: { reason: 'done' } })],
    /origin/,
  ],
  ['an exchange about nothing', [{ exchange: { id: 'x', basedOn: 'nowhere' } }], /Line 2/],
  ['something unknown', [{ mcp: { command: 'rm' } }], /is of an unknown kind/],
  ['another count', [entry('a', null), { end: 'c' }], /names 0 entries/],
]

for (const [what, values, expected] of hostile) {
  test(`${what} is refused with the line's number`, async (t) => {
    const seal = createSeal()
    const counts = { entries: 0, exchanges: 0, toolRuns: 0, overlays: 0 }
    const lines = [{ ...manifest, counts }, ...values].map((value) => seal(JSON.parse(JSON.stringify(value))))
    await assert.rejects(onlyOne(t, lines.join('\n')), expected)
  })
}

test('an unknown version, more entries than a conversation can have, and an endless line are refused', async (t) => {
  const counts = { entries: 100_001, exchanges: 0, toolRuns: 0, overlays: 0 }
  await assert.rejects(onlyOne(t, createSeal()({ ...manifest, counts })), /limited to 100000 entries/)
  await assert.rejects(onlyOne(t, createSeal()({ ...manifest, 'synapse-archive': 2, counts })), /version 2/)
  const file = join(tempFolder(t), 'long.jsonl')
  writeFileSync(file, `{"a":"${'x'.repeat(3_000_000)}`)
  await assert.rejects(async () => {
    for await (const _ of linesOfFile(file, 1_000_000)) assert.fail('a line came')
  }, /Line 1 is longer than 1 MB/)
  writeFileSync(file, Buffer.from([0x7b, 0xff, 0xfe, 0x0a]))
  await assert.rejects(async () => {
    for await (const _ of linesOfFile(file)) assert.fail('a line came')
  }, /Line 1 is not UTF-8/)
})

test('ten thousand entries are exported and imported, whatever their shape', async (t) => {
  const seal = createSeal()
  const counts = { entries: 10_000, exchanges: 0, toolRuns: 0, overlays: 0 }
  const lines = [seal({ ...manifest, conversation: { ...manifest.conversation, head: 'e9999' }, counts })]
  // A chain of five thousand, then five thousand answers to the same question.
  for (let i = 0; i < 10_000; i++) {
    const parent = i === 0 ? null : i < 5000 ? `e${i - 1}` : 'e4999'
    lines.push(seal(JSON.parse(JSON.stringify(entry(`e${i}`, parent)))))
  }
  lines.push(seal({ end: 'c' }))
  const { archive } = await onlyOne(t, lines.join('\n'))
  const store = await openSqliteStore(join(tempFolder(t), 'log.db'))
  const there = await store.importConversation(owner, archive)
  assert.equal(there.entries, 10_000)
  assert.equal((await store.history(owner, 'e9999')).length, 5001)
  const again: string[] = []
  for await (const line of archiveLines(store, owner, 'c')) again.push(line)
  assert.equal(again.length, lines.length)
  await store.close()
})

test('secrets go out of everything, and what is left can still be read back', async (t) => {
  const store = openMemoryStore()
  const { id } = await store.createConversation(owner, { title: 'for ada@example.org', settings: { apiKey: 'abcdef' } })
  const secrets = [
    'sk-proj-abcdefghijklmnopqrstuvwx',
    'AKIAABCDEFGHIJKLMNOP',
    'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc',
    'someone.else@mail.example.com',
    'hunter2hunter2',
    'a-key-of-my-own-that-has-no-shape',
    'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC',
  ]
  const text = `${secrets.slice(0, 5).join(' ')} password: ${secrets[5]} ${secrets[6]} https://me:${secrets[5]}@host/x
-----BEGIN PRIVATE KEY-----\n${secrets[7]}\n-----END PRIVATE KEY-----`
  await store.append(owner, id, { message: { role: 'user', parts: [{ type: 'text', text }] } })
  await store.append(owner, id, {
    message: {
      role: 'assistant',
      parts: [
        {
          type: 'tool-call',
          callId: 'c',
          name: 'login',
          input: { token: 'abcdefgh', nested: [{ mail: secrets[4] ?? '' }] },
        },
      ],
      native: [{ text: secrets[0] ?? '' }],
      origin: { protocol: 'openai-chat', provider: 'openai', model: 'm' },
      stop: { reason: 'tool-calls' },
    },
  })
  const lines: string[] = []
  for await (const line of archiveLines(store, owner, id, { redact: redactor([secrets[6] ?? '']) })) lines.push(line)
  for (const secret of [...secrets, 'ada@example.org', 'abcdefgh', '"abcdef"'])
    assert.ok(!lines.join('\n').includes(secret), secret)
  assert.match(lines.join('\n'), /password: \[hidden\]/)
  const { archive } = await onlyOne(t, lines.join('\n'))
  assert.equal((await openMemoryStore().importConversation(owner, archive)).entries, 2)
})

async function onlyOne(t: TestContext, text: string): Promise<ReadArchive> {
  const file = join(tempFolder(t), 'archive.jsonl')
  writeFileSync(file, text)
  const all: ReadArchive[] = []
  for await (const read of readArchives(linesOfFile(file))) all.push(read)
  assert.equal(all.length, 1)
  return all[0] ?? assert.fail()
}
