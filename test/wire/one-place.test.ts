// A wire is one folder and one entry in the list: nothing else names it, and a made-up one is picked up from there.

import assert from 'node:assert/strict'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { wireIds } from '../../src/wires/list.ts'
import { whatTimeIsIt } from '../histories.ts'
import type { everyTarget } from '../targets.ts'

const root = join(import.meta.dirname, '..', '..')

/** The files that no wire is without. */
const required = 'index types encode decode emulate rules refused transcript service'.split(' ')

test('the emulator, the server, the run loop, the command line and the providers name no wire, except in rows of data', () => {
  const files = globSync('src/{emulator,server,run,cli,providers}/**/*.ts', { cwd: root })
  const isData = (file: string) => /providers[/\\](rows[/\\]|models\.ts|catalogue)/.test(file)
  const naming = files
    .filter((file) => !isData(file))
    .filter((file) => wireIds.some((id) => readFileSync(join(root, file), 'utf8').match(new RegExp(`['/]${id}['/]`))))
  assert.ok(files.length > 50)
  assert.deepEqual(naming, [])
})

test('every wire folder has the same files, as docs/architecture.md lists them', () => {
  const text = readFileSync(join(root, 'docs', 'architecture.md'), 'utf8')
  const section = text.slice(text.indexOf('## One wire, one folder'), text.indexOf('Wires whose body is a list'))
  const rows = section.split('\n').flatMap((line) => (line.startsWith('| `') ? [line.split('|')[1] ?? ''] : []))
  const listed = rows.flatMap((cell) => [...cell.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name ?? ''))
  const used = new Set<string>()
  for (const id of wireIds) {
    const names = globSync('*', { cwd: join(root, 'src', 'wires', id) }).map((file) => file.replace(/\.ts$/, ''))
    assert.deepEqual(
      names.filter((name) => !listed.includes(name)),
      [],
      id,
    )
    assert.deepEqual(
      required.filter((name) => !names.includes(name)),
      [],
      id,
    )
    for (const name of names) used.add(name)
  }
  assert.deepEqual(listed.toSorted(), [...used].toSorted())
})

test('every wire can be imported alone, as the package says', () => {
  const text = readFileSync(join(root, 'package.json'), 'utf8')
  const { exports } = JSON.parse(text) as { exports: Record<string, unknown> }
  const exported = Object.keys(exports).flatMap((path) => path.match(/^\.\/wires\/(.+)$/)?.[1] ?? [])
  const files = globSync('*.ts', { cwd: join(root, 'src', 'one-wire') }).map((file) => file.slice(0, -'.ts'.length))
  const sorted = wireIds.toSorted()
  assert.deepEqual(exported.toSorted(), sorted)
  assert.deepEqual(files.toSorted(), sorted)
})

test('a made-up wire is its folder, its entry in the list and a row', async (t) => {
  const copy = copyOfSource()
  t.after(() => rmSync(copy, { recursive: true, force: true }))
  addFolder(copy)
  addEntries(copy)
  addRow(copy)
  const load = <T>(path: string): Promise<T> => import(pathToFileURL(join(copy, path)).href) as Promise<T>

  const { loadWire, wireIds: ids } = await load<typeof import('../../src/wires/list.ts')>('src/wires/list.ts')
  assert.deepEqual(
    ids.filter((id) => !wireIds.includes(id)),
    ['made-up-chat'],
  )
  assert.equal((await loadWire('made-up-chat')).id, 'made-up-chat')

  const synapse = await load<typeof import('../../src/index.ts')>('src/index.ts')
  const written = synapse.writeTranscript(whatTimeIsIt, 'made-up-chat')
  assert.equal(synapse.readTranscript(written, { format: 'made-up-chat' }).messages.length, whatTimeIsIt.length)

  const { url, body } = synapse.prepare({ provider: 'made-up', messages: whatTimeIsIt.slice(0, 3) })
  assert.equal(url, 'https://made-up.invalid/v1/made-up/chat')
  assert.deepEqual(synapse.refuse('made-up-chat', body, { provider: 'made-up' }), [])

  const { createEmulator } = await load<typeof import('../../src/emulator/handle.ts')>('src/emulator/handle.ts')
  const emulator = createEmulator()
  const headers = { authorization: 'Bearer any' }
  const response = await emulator.fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  assert.equal(response.status, 200)
  const { reply } = synapse.replay('made-up-chat', await response.text())
  assert.equal(reply.stop.reason, 'done')
  assert.equal(emulator.requests[0]?.protocol, 'made-up-chat')

  // What the properties, the recorded conversations and the table of wires run over.
  const targets = await load<{ everyTarget: typeof everyTarget }>('test/targets.ts')
  assert.deepEqual(
    targets.everyTarget.filter(({ protocol }) => protocol === 'made-up-chat'),
    [{ provider: 'made-up', protocol: 'made-up-chat', model: 'made-up-1' }],
  )
})

function copyOfSource(): string {
  const copy = mkdtempSync(join(tmpdir(), 'synapse-wire-'))
  cpSync(join(root, 'src'), join(copy, 'src'), { recursive: true })
  for (const name of ['targets.ts', 'thorough.ts']) cpSync(join(root, 'test', name), join(copy, 'test', name))
  cpSync(join(root, 'package.json'), join(copy, 'package.json'))
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction')
  return copy
}

/** The made-up wire is Mistral's under another name and path. */
function addFolder(copy: string): void {
  const wires = join(copy, 'src', 'wires')
  cpSync(join(wires, 'mistral-chat'), join(wires, 'made-up-chat'), { recursive: true })
  for (const name of globSync('*.ts', { cwd: join(wires, 'made-up-chat') })) {
    const file = join(wires, 'made-up-chat', name)
    writeFileSync(file, renamed(readFileSync(file, 'utf8')).replaceAll('/chat/completions', '/made-up/chat'))
  }
}

function renamed(text: string): string {
  return text.replaceAll('mistralChat', 'madeUpChat').replaceAll('mistral-chat', 'made-up-chat')
}

/** The same lines as the wire that it was made from, under its name. */
function addEntries(copy: string): void {
  edit(join(copy, 'src', 'wires', 'list.ts'), (text) =>
    text.replace(/ {2}'mistral-chat': \{\n.*?\n {2}\},\n/s, (entry) => entry + renamed(entry)),
  )
  edit(join(copy, 'src', 'wires', 'all.ts'), (text) =>
    text.replaceAll(/^.*mistral-chat.*\n/gm, (line) => line + renamed(line)),
  )
}

function addRow(copy: string): void {
  const row = {
    id: 'made-up',
    name: 'Made up',
    wires: [{ protocol: 'made-up-chat', baseUrl: 'https://made-up.invalid/v1', caching: 'none' }],
    keyVariables: ['MADE_UP_API_KEY'],
    auth: { header: 'authorization', prefix: 'Bearer ' },
    defaultModel: 'made-up-1',
  }
  edit(join(copy, 'src', 'providers', 'rows', 'hosts.ts'), (text) =>
    text.replace(/\n\]\n$/, `\n  ${JSON.stringify(row)},\n]\n`),
  )
}

function edit(file: string, change: (text: string) => string): void {
  const text = readFileSync(file, 'utf8')
  const changed = change(text)
  assert.ok(changed !== text, `${file} has nothing to change`)
  writeFileSync(file, changed)
}
