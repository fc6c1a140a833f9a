// Every snippet of the README and of the guides is right for the compiler, is run in the order of its page, and says what
// the page says that it says.

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { before, test, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { compileCache } from '../compile-cache.ts'
import { bin, declarations } from '../installed.ts'

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

/** Where `synapse serve` listens by default, as the pages about its clients say. */
const served = 'http://127.0.0.1:4747'

// Every page reads the same modules: what was compiled for one is used by the next.
const env = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: compileCache }

const runnable = pages
  .map(({ file, blocks }) => ({
    name: basename(file, '.md'),
    code: blocks.flatMap(({ kind, text }) => (kind === 'ts' ? [text] : [])).join('\n'),
    says: blocks.flatMap(({ kind, text }) => (kind === 'text' ? text.trim().split('\n') : [])),
  }))
  .filter(({ code }) => code !== '')
const outputs = new Map<string, string>()

/** Imports the pages one after the other, because loading the modules is most of what a page costs. */
const runner = `
import { format } from 'node:util'
const pages = JSON.parse(process.env.PAGES)
const said = {}
for (const page of pages) {
  said[page] = ''
  console.log = (...words) => { said[page] += format(...words) + '\\n' }
  const write = process.stdout.write
  process.stdout.write = (words) => { said[page] += String(words); return true }
  try { await import('./' + page + '.ts') } catch (error) { said[page] += '\\nFAILED ' + (error?.stack ?? error) }
  process.stdout.write = write
}
process.stdout.write(JSON.stringify(said), () => process.exit(0))`

before(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'synapse-guide-'))
  const server = await stockServer(folder)
  // A server that is left running would keep the process from ending.
  try {
    await writeFile(join(folder, 'hooks.mjs'), hooks)
    await writeFile(join(folder, 'runner.mjs'), runner)
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    for (const { name, code } of runnable) {
      await writeFile(join(folder, `${name}.ts`), code.replaceAll(served, server.url))
    }
    const args = ['--import', pathToFileURL(join(folder, 'hooks.mjs')).href, 'runner.mjs']
    const { stdout } = await run(process.execPath, args, {
      cwd: folder,
      timeout: 600_000,
      env: { ...env, PAGES: JSON.stringify(runnable.map(({ name }) => name)) },
    })
    for (const [name, said] of Object.entries(JSON.parse(stdout) as Record<string, string>)) outputs.set(name, said)
  } finally {
    server.close()
    await rm(folder, { recursive: true, force: true })
  }
})

for (const { name, says } of runnable) {
  test(`the snippets of ${name}.md run and say what the page says`, () => {
    const stdout = outputs.get(name) ?? ''
    assert.notEqual(stdout, '')
    assert.doesNotMatch(stdout, /^FAILED /m)
    let from = 0
    for (const line of says) {
      const at = stdout.indexOf(line, from)
      assert.ok(at >= 0, `"${line}" is not in the rest of what was said:\n${stdout.slice(from)}`)
      from = at + line.length
    }
  })
}

test('the snippets of all pages are valid for the compiler, and every event has a valid example', async (t) => {
  const folder = await newFolder(t)
  // The declarations of the package: its source would be checked too, which `npm run types` does.
  if (declarations === undefined) await compile(join(root, 'tsconfig.build.json'), '--outDir', join(folder, 'types'))
  else await cp(declarations, join(folder, 'types'), { recursive: true })
  const paths = Object.fromEntries(Object.entries(own).map(([name, file]) => [name, [`./types/${file}.d.ts`]]))
  const written: string[] = []
  for (const { file, blocks } of pages) {
    // A block fenced as \`ts tools\` is a separate file.
    for (const kind of new Set(blocks.map((block) => block.kind).filter((one) => one.startsWith('ts')))) {
      const name = `${basename(file, '.md')} ${kind}.ts`
      written.push(name)
      await writeFile(join(folder, name), blocks.flatMap((one) => (one.kind === kind ? [one.text] : [])).join('\n'))
    }
  }
  written.push('event examples.ts')
  await writeFile(join(folder, 'event examples.ts'), eventExamples())
  const compilerOptions = { paths, moduleDetection: 'force' }
  const config = { extends: join(root, 'tsconfig.json'), compilerOptions, include: [], files: written }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  assert.equal(await compile('.'), '')

  async function compile(project: string, ...flags: string[]): Promise<string> {
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    const args = [tsc, '-p', project, '--singleThreaded', ...flags]
    const { stdout } = await run(process.execPath, args, { cwd: folder }).catch((error: { stdout: string }) => error)
    return stdout
  }
})

/** The stock server, for the pages about its clients. */
async function stockServer(folder: string): Promise<{ url: string; close: () => void }> {
  const child = spawn(process.execPath, [bin, 'serve', '--offline', '--no-open', '--port', '0'], {
    cwd: folder,
    env: { ...env, HOME: folder, XDG_DATA_HOME: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return { url: line.toString().trim(), close: () => child.kill('SIGKILL') }
}

/** A program that compiles if the page about events has one example of each event, in the form that the types give it. */
function eventExamples(): string {
  const blocks = blocksOf(readFileSync(join(root, 'docs', 'guides', 'events.md'), 'utf8'))
  const examples = blocks.flatMap(({ kind, text }) => (kind === 'json' ? [text] : []))
  const byType = examples.map((text) => `${JSON.stringify((JSON.parse(text) as { type: string }).type)}: ${text}`)
  return `import type { RunEvent } from 'synapse'
export const examples: { [T in RunEvent['type']]: Extract<RunEvent, { type: T }> } = {${byType.join(',')}}`
}

function blocksOf(page: string): { kind: string; text: string }[] {
  return [...page.matchAll(/^```(\w.*)\n([^]*?)^```$/gm)].map(([, kind = '', text = '']) => ({ kind, text }))
}

async function newFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'synapse-guide-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}
