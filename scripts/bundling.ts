// The settings that all bundles of the package share.

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BuildOptions, BuildResult, Plugin } from 'esbuild'
import { noticesFor } from './notices.ts'

export const root: string = join(import.meta.dirname, '..')

export const source = (...path: string[]): string => join(root, 'src', ...path)

/** Less to parse: a sixth of the time of an import. Lines stay short enough for a useful stack trace. */
export const compact = { minify: true, lineLimit: 160, metafile: true, write: false, logLevel: 'warning' } as const

export const forNode = {
  absWorkingDir: root,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.13',
  external: ['@opentelemetry/api', 'pg', '#wires'],
  // Some of the packages are CommonJS, and require modules of Node.
  banner: { js: 'const require = process.getBuiltinModule;' },
  ...compact,
} as const satisfies BuildOptions

export async function writeAll(
  folder: string,
  { outputFiles, metafile }: BuildResult<typeof compact>,
  change = (text: string): string => text,
): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  for (const { path, text } of outputFiles) {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, change(text))
  }
  await writeFile(join(folder, 'THIRD-PARTY.txt'), noticesFor(root, metafile))
}

/** JSON is parsed faster than JavaScript. */
export function dataAsText(): Plugin {
  return {
    name: 'data-as-text',
    setup({ onLoad }) {
      onLoad({ filter: /\.json$/ }, async ({ path }) => {
        const data = JSON.stringify(JSON.parse(await readFile(path, 'utf8')))
        return { contents: `export default JSON.parse(${JSON.stringify(data)})`, loader: 'js' }
      })
    },
  }
}

export function asNodeLoadsIt(text: string): string {
  return withoutImportsOfNode(ascii(text))
}

/** A single other character makes V8 store the whole file with two bytes per character. */
function ascii(text: string): string {
  return text.replaceAll(/[^\0-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/**
 * An import of a Node module reads all its properties, and so loads what it would otherwise load on use: web crypto
 * with `node:crypto`, the promises with `node:fs`. This way only what is needed is read.
 */
function withoutImportsOfNode(text: string): string {
  const wanted: string[] = []
  const rest = text.replaceAll(/\bimport\{([^{}"]+)\}\s?from\s?"(node:[^"]+)";/g, (_, names: string, from: string) => {
    wanted.push(`const {${names.replaceAll(' as ', ': ')}} = process.getBuiltinModule("${from}");\n`)
    return ''
  })
  return wanted.join('') + rest
}
