// Every snippet of the README and of the guides is right for the compiler, is run in the order of its page, and says what
// the page says that it says.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '..', '..')
const run = promisify(execFile)

const own = { synapse: 'index', 'synapse/ai-sdk': 'ai-sdk', 'synapse/testing': 'testing' }
const files = ['README.md', ...globSync('docs/guides/*.md', { cwd: root })]
const pages = files.map((file) => ({ file, blocks: blocksOf(readFileSync(join(root, file), 'utf8')) }))

/** The package by its own name, and others as seen from here. */
const hooks = `
import { registerHooks } from 'node:module'
const root = ${JSON.stringify(pathToFileURL(`${root}/`).href)}
const own = ${JSON.stringify(own)}
registerHooks({
  resolve(specifier, context, next) {
    if (Object.hasOwn(own, specifier)) return next(new URL('src/' + own[specifier] + '.ts', root).href, context)
    const bare = /^[a-z@]/.test(specifier) && !specifier.includes(':')
    const outside = !context.parentURL?.startsWith(root)
    return next(specifier, bare && outside ? { ...context, parentURL: root + 'package.json' } : context)
  },
})`

for (const { file, blocks } of pages) {
  const code = blocks.flatMap(({ kind, text }) => (kind === 'ts' ? [text] : [])).join('\n')
  if (code === '') continue
  test(`the snippets of ${basename(file)} run and say what the page says`, async (t) => {
    const folder = await newFolder(t)
    await writeFile(join(folder, 'hooks.mjs'), hooks)
    await writeFile(join(folder, 'page.ts'), code)
    const { stdout } = await run(
      process.execPath,
      ['--import', pathToFileURL(join(folder, 'hooks.mjs')).href, 'page.ts'],
      { cwd: folder, timeout: 60_000, env: { PATH: process.env['PATH'] } },
    )
    assert.notEqual(stdout, '')
    let from = 0
    for (const line of blocks.flatMap(({ kind, text }) => (kind === 'text' ? text.trim().split('\n') : []))) {
      const at = stdout.indexOf(line, from)
      assert.ok(at >= 0, `"${line}" is not in the rest of what was said:\n${stdout.slice(from)}`)
      from = at + line.length
    }
  })
}

test('the snippets of all pages are right for the compiler', async (t) => {
  const folder = await newFolder(t)
  const paths = Object.fromEntries(Object.entries(own).map(([name, file]) => [name, [join(root, 'src', `${file}.ts`)]]))
  const written: string[] = []
  for (const { file, blocks } of pages) {
    // What is fenced as \`ts tools\` is a file of its own.
    for (const kind of new Set(blocks.map((block) => block.kind).filter((one) => one.startsWith('ts')))) {
      const name = `${basename(file, '.md')} ${kind}.ts`
      written.push(name)
      await writeFile(join(folder, name), blocks.flatMap((one) => (one.kind === kind ? [one.text] : [])).join('\n'))
    }
  }
  const compilerOptions = { paths, moduleDetection: 'force' }
  const config = { extends: join(root, 'tsconfig.json'), compilerOptions, include: [], files: written }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const { stdout } = await run(process.execPath, [tsc, '-p', '.'], { cwd: folder }).catch(
    (error: { stdout: string }) => error,
  )
  assert.equal(stdout, '')
})

function blocksOf(page: string): { kind: string; text: string }[] {
  return [...page.matchAll(/^```(\w.*)\n([^]*?)^```$/gm)].map(([, kind = '', text = '']) => ({ kind, text }))
}

async function newFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'synapse-guide-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}
