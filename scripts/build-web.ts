// Bundles web/ into dist/web: hashed names, minified, an index.html without inline script or style. Does nothing if
// neither the sources nor the lock file have changed; several processes may build at once.

import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { noticesFor } from './notices.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = join(root, 'dist', 'web')

/** What the page shares with the library. */
const shared = [
  'context/count.ts',
  'context/files.ts',
  'context/forecast.ts',
  'context/origins.ts',
  'emulator/cache-rules.ts',
  'providers/price.ts',
]

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { built, bytes } = await buildWeb()
  if (built) console.error(`The page: dist/web, ${Math.round(bytes / 1024)} kB`)
}

/** Returns the path of the page, whether it had to be built, and its size. */
export async function buildWeb(): Promise<{ directory: string; built: boolean; bytes: number }> {
  const stamp = await stampOfSources()
  const builtStamp = await readFile(join(target, 'stamp'), 'utf8').catch(() => '')
  if (builtStamp === stamp) return { directory: target, built: false, bytes: 0 }
  const files = await bundle()
  await mkdir(join(target, 'assets'), { recursive: true })
  for (const [name, content] of files) await replace(join(target, name), content)
  await replace(join(target, 'stamp'), stamp)
  for (const name of await readdir(join(target, 'assets'))) {
    // A name with a leading dot is a draft, maybe of another process.
    if (!files.has(`assets/${name}`) && !name.startsWith('.')) await rm(join(target, 'assets', name), { force: true })
  }
  return { directory: target, built: true, bytes: [...files.values()].reduce((sum, file) => sum + file.length, 0) }
}

/** The inputs of the bundle: the page, what it shares with the library, and the packages by their lock. */
async function stampOfSources(): Promise<string> {
  const hash = createHash('sha256')
  const web = await readdir(join(root, 'web'), { recursive: true, withFileTypes: true })
  const files = web.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  files.push(
    join(root, 'package-lock.json'),
    fileURLToPath(import.meta.url),
    ...shared.map((file) => join(root, 'src', file)),
  )
  for (const file of files.sort()) {
    const { mtimeMs, size } = await stat(file)
    hash.update(`${file} ${mtimeMs} ${size}\n`)
  }
  return hash.digest('hex')
}

async function bundle(): Promise<Map<string, Uint8Array>> {
  const { build } = await import('esbuild')
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    metafile: true,
    entryPoints: [join(root, 'web', 'main.tsx'), join(root, 'web', 'main.css')],
    outdir: join(target, 'assets'),
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2023',
    minify: true,
    write: false,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
  })
  const files = new Map<string, Uint8Array>()
  for (const file of outputFiles) files.set(`assets/${basename(file.path)}`, file.contents)
  const icon = await readFile(join(root, 'web', 'icon.svg'))
  const iconName = `icon-${createHash('sha256').update(icon).digest('hex').slice(0, 8)}.svg`
  files.set(`assets/${iconName}`, icon)
  const named = (ending: RegExp) => basename([...files.keys()].find((name) => ending.test(name)) ?? '')
  const page = await readFile(join(root, 'web', 'index.html'), 'utf8')
  const index = page
    .replaceAll('SCRIPT', named(/main-\w+\.js$/))
    .replaceAll('STYLE', named(/main-\w+\.css$/))
    .replaceAll('ICON', iconName)
  files.set('index.html', new TextEncoder().encode(index))
  files.set('THIRD-PARTY.txt', new TextEncoder().encode(noticesFor(root, metafile)))
  return files
}

/** Completely or not at all: a server may be reading. */
async function replace(file: string, content: Uint8Array | string): Promise<void> {
  const draft = join(dirname(file), `.${basename(file)}.${process.pid}`)
  await writeFile(draft, content)
  await rename(draft, file)
}
