// Every snippet of the guides is run, in the order of its page, and says what the page says that it says.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '..', '..')

/** The package by its own name, and others as seen from here. */
const hooks = `
import { registerHooks } from 'node:module'
const root = ${JSON.stringify(pathToFileURL(`${root}/`).href)}
const own = { synapse: 'index', 'synapse/ai-sdk': 'ai-sdk', 'synapse/testing': 'testing' }
registerHooks({
  resolve(specifier, context, next) {
    if (Object.hasOwn(own, specifier)) return next(new URL('src/' + own[specifier] + '.ts', root).href, context)
    const bare = /^[a-z@]/.test(specifier) && !specifier.includes(':')
    const outside = !context.parentURL?.startsWith(root)
    return next(specifier, bare && outside ? { ...context, parentURL: root + 'package.json' } : context)
  },
})`

for (const file of globSync('docs/guides/*.md', { cwd: root })) {
  const page = readFileSync(join(root, file), 'utf8')
  const blocks = [...page.matchAll(/^```(ts|text)\n(.*?)^```$/gms)]
  if (!blocks.some(([, kind]) => kind === 'ts')) continue
  test(`the snippets of ${basename(file)} run and say what the page says`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'synapse-guide-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    const code = blocks.flatMap(([, kind, text]) => (kind === 'ts' ? [text] : []))
    await writeFile(join(folder, 'hooks.mjs'), hooks)
    await writeFile(join(folder, 'page.ts'), code.join('\n'))
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--import', pathToFileURL(join(folder, 'hooks.mjs')).href, 'page.ts'],
      { cwd: folder, timeout: 60_000, env: { PATH: process.env['PATH'] } },
    )
    let from = 0
    for (const line of blocks.flatMap(([, kind, text = '']) => (kind === 'text' ? text.trim().split('\n') : []))) {
      const at = stdout.indexOf(line, from)
      assert.ok(at >= 0, `"${line}" is not in the rest of what was said:\n${stdout.slice(from)}`)
      from = at + line.length
    }
  })
}
