// Builds the package from src/: dist/js, the library in a few files, dist/cli, the command line, dist/portable, the wires
// for use outside Node, and dist/types. The packages that src/ imports are bundled too, without unused code, with their
// licences.
//
// Every file is as deep as a file in a folder of src/: paths from `import.meta.url` work for both.

import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { buildCommandLine } from './build-cli.ts'
import { asNodeLoadsIt, compact, dataAsText, forNode, root, source, writeAll } from './bundling.ts'

const target = join(root, 'dist', 'js')

/** What an import of the package loads. */
const library = source('index.ts')

/** What is loaded before anything else of a folder, or is small. */
const firstOf: Record<string, string[]> = {
  emulator: [source('emulator', 'handle.ts')],
  'one-wire': [source('wires', 'all.ts')],
  // A process usually needs one wire: it is one file, and what the wires share another.
  wires: globSync('{shared,message-list,google,tool-schema}/*.ts', { cwd: source('wires') }).map((file) =>
    source('wires', file),
  ),
  store: [source('store', 'open.ts'), source('store', 'memory.ts')],
}

/** How the two ways load the wires, see `wiresAtFirstCall`. */
const loadWires = `const { createRequire } = process.getBuiltinModule('node:module')
let loaded
export const wires = () => (loaded ??= createRequire(import.meta.url)('./wires.js'))
`
const importWires = `import * as loaded from './wires.js'
export const wires = () => loaded
`

const built = await build({
  ...forNode,
  entryPoints: {
    index: library,
    // With a dot, `fewFiles` recognises what comes after the library.
    testing: './src/testing.ts',
    'ai-sdk': './src/ai-sdk.ts',
    stores: './src/stores.ts',
    ...wireEntries('.'),
  },
  outdir: target,
  plugins: [wiresAtFirstCall(), fewFiles(), dataAsText()],
})
await writeAll(target, built, asNodeLoadsIt)
await writeFile(join(target, 'wires-at-first-call.js'), loadWires)
await writeFile(join(target, 'wires-at-once.js'), importWires)

await buildCommandLine()

const portable = await build({
  absWorkingDir: root,
  entryPoints: wireEntries(root),
  outdir: join(root, 'dist', 'portable'),
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'neutral',
  mainFields: ['module', 'main'],
  target: 'es2022',
  alias: { 'node:crypto': source('portable', 'crypto.ts') },
  inject: [source('portable', 'buffer.ts')],
  chunkNames: 'shared-[hash]',
  plugins: [dataAsText()],
  ...compact,
})
await writeAll(join(root, 'dist', 'portable'), portable)

// Only written: `npm run types` checks them.
await rm(join(root, 'dist', 'types'), { recursive: true, force: true })
execFileSync(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
})

/** `synapse/wires`, and each wire alone. */
function wireEntries(folder: string): Record<string, string> {
  const alone = globSync('*.ts', { cwd: source('one-wire') }).map((file) => [
    `wires/${file.slice(0, -3)}`,
    `${folder}/src/one-wire/${file}`,
  ])
  return { wires: `${folder}/src/wires.ts`, ...(Object.fromEntries(alone) as Record<string, string>) }
}

/**
 * esbuild makes one file for each set of entries that share a module, and every dynamic import is an entry: the library
 * alone would be fifty files, and the number of files determines the start time. So everything that is loaded later
 * begins with all of the library, and with the first of its folder: each of those is then one file.
 */
function fewFiles(): Plugin {
  return {
    name: 'few-files',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /^\./ }, ({ kind, importer, resolveDir, path }) => {
        const later = (kind === 'dynamic-import' && !importer.includes('node_modules')) || kind === 'entry-point'
        return later ? { path: join(resolveDir, path), namespace: 'later' } : undefined
      })
      onLoad({ filter: /./, namespace: 'later' }, ({ path }) => {
        const [folder = '', wire = ''] = relative(source(), path).split(sep)
        const before = [library, ...(firstOf[folder] ?? []), ...(folder === 'wires' ? filesOf(wire, path) : [])]
        const lines = [
          ...before.map((file) => `import ${JSON.stringify(file)}`),
          `export * from ${JSON.stringify(path)}`,
        ]
        return { contents: lines.join('\n'), resolveDir: dirname(path) }
      })
    },
  }
}

/** The other files of a wire that are loaded for themselves; none if it is not the folder of a wire. */
function filesOf(wire: string, loaded: string): string[] {
  const files = globSync('{index,service,transcript}.ts', { cwd: source('wires', wire) }).sort()
  return files.map((file) => source('wires', wire, file)).filter((file) => file !== loaded)
}

/**
 * The functions of the package root that work on every wire are synchronous, so they cannot import the wires
 * dynamically, and those are more than half of the code. Node requires them with the first call; bundlers follow
 * imports only, so the `imports` of package.json give them `wires-at-once.js`.
 */
function wiresAtFirstCall(): Plugin {
  const users = new Set([library, source('runtime', 'portable-messages.ts')])
  return {
    name: 'wires-at-first-call',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /\/(runtime\/prepare|transcripts\/index)\.ts$/ }, ({ importer, resolveDir, path }) =>
        users.has(importer) ? { path: join(resolveDir, path), namespace: 'first-call' } : undefined,
      )
      onLoad({ filter: /./, namespace: 'first-call' }, async ({ path }) => {
        const exported = Object.entries((await import(path)) as Record<string, unknown>)
        const lines = exported.map(([name, value]) =>
          typeof value === 'function'
            ? `export const ${name} = (...given) => wires().${name}(...given)`
            : `export const ${name} = ${JSON.stringify(value)}`,
        )
        return { contents: ["import { wires } from '#wires'", ...lines].join('\n') }
      })
    },
  }
}
