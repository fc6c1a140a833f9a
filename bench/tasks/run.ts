// Runs the eight tasks of docs/why.md with each library, and writes the table of lines into that page.
// node bench/install.ts && node bench/tasks/run.ts

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { close } from './emulator.ts'

const libraries = {
  Synapse: 'synapse',
  'AI SDK': 'ai-sdk',
  'OpenAI Agents SDK': 'openai-agents',
  LangChain: 'langchain',
  pi: 'pi',
}

/** By the name of the function: the task in words, and what comes of it. */
const tasks: Readonly<Record<string, readonly [string, RegExp]>> = {
  toolLoop: ['answer with a tool', /clock answered: 12:00/],
  streamText: ['stream only the text', /clock answered: 12:00/],
  typedAnswer: ['a typed answer', /^string$/],
  continueLater: ['store, and continue in another process', /My name is Ada/],
  switchProvider: ['another provider after a tool turn', /What time is it/],
  approveLater: ['approve a call later', /a\.txt is gone/],
  askAgain: ['ask again elsewhere, keep both answers', /^2 branches$/],
  httpHandler: ['a handler for `useChat`', /"type":"text-delta"/],
}

process.chdir(mkdtempSync(join(tmpdir(), 'synapse-tasks-')))
const rows = Object.values(tasks).map(([words]) => [words])
for (const file of Object.values(libraries)) {
  const path = join(import.meta.dirname, `${file}.ts`)
  const made = (await import(path)) as Record<string, () => Promise<unknown>>
  const text = readFileSync(path, 'utf8')
  for (const [index, [name, [, expected]]] of Object.entries(tasks).entries()) {
    const run = made[name]
    if (run) assert.match(String(await run()), expected, `${file}: ${name}`)
    rows[index]?.push(run ? String(linesOf(text, name)) : '–')
  }
}
await close()

const head = ['lines for the task', ...Object.keys(libraries)]
const table = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
const page = join(import.meta.dirname, '..', '..', 'docs', 'why.md')
const before = readFileSync(page, 'utf8')
writeFileSync(page, before.replace(/(<!-- tasks -->\n)[^]*?(<!-- \/tasks -->)/, `$1\n${table}\n\n$2`))
process.exit(0)

/** The lines of a function, less its first and its last. */
function linesOf(text: string, name: string): number {
  const [, body = ''] = new RegExp(`export async function ${name}\\(\\)[^\\n]*\\n([^]*?)\\n}`).exec(text) ?? []
  return body.split('\n').length
}
