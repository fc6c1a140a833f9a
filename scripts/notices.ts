// The licences of the packages in a bundle, as they require: their text is shipped with their code.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'

/** `root` is what the paths in the metafile are relative to. */
export function noticesFor(root: string, { inputs }: Metafile): string {
  const folders = new Set<string>()
  for (const path of Object.keys(inputs)) {
    const [folder] = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []
    if (folder !== undefined) folders.add(join(root, folder))
  }
  const notices = [...folders].sort().map(notice)
  return ['This folder contains code of these packages.', ...notices].join(`\n\n${'-'.repeat(80)}\n\n`) + '\n'
}

function notice(folder: string): string {
  const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string
    version: string
    license: string
    author?: string | { name: string }
  }
  const author = typeof about.author === 'object' ? about.author.name : about.author
  const head = `${about.name} ${about.version}, ${about.license}${author ? `, ${author}` : ''}`
  const file = readdirSync(folder).find((name) => /^licen[cs]e(\.\w+)?$/i.test(name))
  return file === undefined ? head : `${head}\n\n${readFileSync(join(folder, file), 'utf8').trim()}`
}
