// Builds the command line, dist/cli: what a question needs is one file, and every other command the rest. It has its own
// copy of the library, because a library that shares its files with the command line is in many more of them.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { asNodeLoadsIt, dataAsText, forNode, root, source, writeAll } from './bundling.ts'
import { compileOnLoad } from './compile-on-load.ts'

const target = join(root, 'dist', 'cli')
const main = source('cli', 'main.ts')
const question = file('cli/commands/ask')

/** What is loaded with the command for a question, although the source loads it later. */
const together = new Set([
  ...['cli/unfinished-run', 'store/open', 'store/sqlite', 'emulator/handle'].map(file),
  ...['providers/rows', 'providers/catalogue'].map(file),
  // The wire of the default model of the emulator.
  ...['index', 'service', 'state', 'transcript'].map((name) => file(`wires/openai-responses/${name}`)),
  '@cfworker/json-schema',
])

function file(name: string): string {
  return source(...`${name}.ts`.split('/'))
}

export async function buildCommandLine(): Promise<void> {
  const built = await build({
    ...forNode,
    entryPoints: { cli: './src/cli/main.ts' },
    outdir: target,
    plugins: [oneFileForAQuestion(), dataAsText()],
  })
  await writeAll(target, built, asNodeLoadsIt)
  const home = mkdtempSync(join(tmpdir(), 'synapse-build-'))
  try {
    // The second question finds its store, as most do.
    ask(home)
    await compileOnLoad(target, (coverage) => ask(home, { NODE_V8_COVERAGE: coverage }))
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

function ask(home: string, more: Record<string, string> = {}): void {
  const program = `const { main } = await import('${pathToFileURL(join(target, 'cli.js')).href}')
    await main(['--offline', 'What time is it?'])`
  execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: home,
    env: { PATH: process.env['PATH'], HOME: home, USERPROFILE: home, ...more },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
}

/** Everything that is loaded later begins with the command for a question, so that all of that is one file. */
function oneFileForAQuestion(): Plugin {
  return {
    name: 'one-file-for-a-question',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /^\./ }, ({ kind, importer, resolveDir, path }) => {
        const later = (kind === 'dynamic-import' && !importer.includes('node_modules')) || kind === 'entry-point'
        return later ? { path: join(resolveDir, path), namespace: 'later' } : undefined
      })
      onLoad({ filter: /./, namespace: 'later' }, ({ path }) => {
        const before = path === main ? [] : [main, question]
        const lines = [
          ...before.map((name) => `import ${JSON.stringify(name)}`),
          `export * from ${JSON.stringify(path)}`,
        ]
        return { contents: lines.join('\n'), resolveDir: dirname(path) }
      })
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const imports: string[] = []
        const text = (await readFile(path, 'utf8')).replaceAll(/\bimport\('([^']+)'\)/g, (call, name: string) => {
          if (!together.has(name.startsWith('.') ? join(dirname(path), name) : name)) return call
          imports.push(`import * as together${imports.length} from '${name}';`)
          return `Promise.resolve(together${imports.length - 1})`
        })
        return { contents: imports.join('') + text, loader: 'ts' }
      })
    },
  }
}
