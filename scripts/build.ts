// Makes what the package ships of src/: dist/js, a few bundled files, and dist/types. The packages that src/ imports are
// bundled too, less what no one calls, with their licences beside them.
//
// Every file lies in dist/js, as deep as a file in a folder of src/: paths from `import.meta.url` hold for both.

import { execFileSync } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { noticesFor } from './notices.ts'

const root = join(import.meta.dirname, '..')
const target = join(root, 'dist', 'js')

const source = (...path: string[]) => join(root, 'src', ...path)

/** What an import of the package loads. */
const library = source('index.ts')

/** What is loaded before anything else of a folder, or is small. */
const firstOf: Record<string, string[]> = {
  cli: [source('cli', 'main.ts'), source('cli', 'commands', 'ask.ts')],
  emulator: [source('emulator', 'handle.ts')],
  store: [source('store', 'open.ts'), source('store', 'memory.ts')],
}

const { outputFiles, metafile } = await build({
  absWorkingDir: root,
  entryPoints: {
    index: library,
    cli: source('cli', 'main.ts'),
    // By a dot, `fewFiles` knows what comes after the library.
    testing: './src/testing.ts',
    'ai-sdk': './src/ai-sdk.ts',
  },
  outdir: target,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.13',
  external: ['@opentelemetry/api', 'pg'],
  // Some of the packages are CommonJS, and ask for modules of Node.
  banner: { js: 'const require = process.getBuiltinModule;' },
  plugins: [fewFiles()],
  metafile: true,
  write: false,
  logLevel: 'warning',
})
await rm(target, { recursive: true, force: true })
await mkdir(target, { recursive: true })
for (const { path, text } of outputFiles) await writeFile(path, withoutImportsOfNode(text))
await writeFile(join(target, 'THIRD-PARTY.txt'), noticesFor(root, metafile))

await rm(join(root, 'dist', 'types'), { recursive: true, force: true })
execFileSync(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
})

/**
 * esbuild makes one file for each set of entries that share a module, and every dynamic import is an entry: the library
 * alone would be fifty files, and files are what a start costs. So whatever is loaded later begins with all that the
 * library has, and with the first of its folder: each of those is one file then.
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
        const [folder = ''] = relative(source(), path).split(sep)
        const before = [library, ...(firstOf[folder] ?? [])]
        const lines = [
          ...before.map((file) => `import ${JSON.stringify(file)}`),
          `export * from ${JSON.stringify(path)}`,
        ]
        return { contents: lines.join('\n'), resolveDir: dirname(path) }
      })
    },
  }
}

/**
 * An import of a module of Node makes a name of everything in it, and so loads all that it would else load when asked:
 * web crypto with `node:crypto`, the promises with `node:fs`. This way only what is wanted is touched.
 */
function withoutImportsOfNode(text: string): string {
  const wanted: string[] = []
  const rest = text.replaceAll(/^import \{([^}]+)\} from "(node:[^"]+)";\n/gm, (_, names: string, from: string) => {
    wanted.push(`const {${names.replaceAll(' as ', ': ')}} = process.getBuiltinModule("${from}");\n`)
    return ''
  })
  return wanted.join('') + rest
}
