// The programs in examples/, as a user would run them: with the packed package, compiled strictly, each in an own folder.

import { execFile } from 'node:child_process'
import { copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')

/** What each of them prints, in this order. */
export const examples: Readonly<Record<string, readonly RegExp[]>> = {
  'ai-sdk-with-a-log': [/clock answered: 12:00/, /"What time is it\?"/, /6 messages, 3 requests in the log/],
  approval: [/waiting/, /refund \{"euros":80\}/, /80 euros were paid back/],
  branches: [/your name is Bob/, /your name is Ada/, /3 branches/],
  'chat-bot': [/clock answered: .*12:00/, /"What time is it\?"/, /6 messages stored/],
  'custom-wire': [/Hello from a wire of your own\. 9/],
  'express-handler': [/text\/event-stream true/],
  'hand-off': [/You are Bob/, /anthropic.*google.*mistral/],
  'hono-handler': [/200 true/],
  hooks: [/afterTool changed/, /Ada: \[removed\]/, /beforeTool denied/],
  mcp: [/true \{\}/, /\[FILE\] package\.json/],
  opentelemetry: [/chat claude-opus-5 \d+/, /execute_tool clock/, /chat claude-opus-5 \d+/, /invoke_agent/],
  'postgres-two-processes': [/"My name is Ada\."/, /4 messages/, /not-found/],
  resume: [/2 messages before/, /3 builds failed/, /4 messages after/],
  'structured-answer': [/so far: name/, /string number true/, /string/],
  tenants: [/acme done 1/, /globex done 1/],
}

/** Those that need packages which this project does not have. */
export const needsMore: readonly string[] = ['express-handler', 'opentelemetry']

export function linesOf(name: string): number {
  return readFileSync(join(root, 'examples', `${name}.ts`), 'utf8')
    .trimEnd()
    .split('\n').length
}

export function exampleNames(): string[] {
  return globSync('*.ts', { cwd: join(root, 'examples') }).map((file) => basename(file, '.ts'))
}

/** Lets programs in the folder import packages of this project, in addition to those that are installed there. */
export function link(folder: string, names: readonly string[], from: string = root): void {
  for (const name of names) {
    const target = join(folder, 'node_modules', name)
    mkdirSync(dirname(target), { recursive: true })
    symlinkSync(join(from, 'node_modules', name), target)
  }
}

export const packages: readonly string[] = [
  '@ai-sdk/provider',
  '@modelcontextprotocol/server-filesystem',
  'ai',
  'hono',
  'pg',
  'zod',
]

/** What the compiler says of them, and of `more`; empty: nothing. */
export async function compiled(
  folder: string,
  names: readonly string[],
  more: readonly string[] = [],
): Promise<string> {
  for (const name of names) copyFileSync(join(root, 'examples', `${name}.ts`), join(folder, `${name}.ts`))
  const compilerOptions = { strict: true, noEmit: true, module: 'nodenext', target: 'es2024', types: ['node'] }
  const files = [...names.map((name) => `${name}.ts`), ...more]
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const { stdout } = await run(process.execPath, [tsc, '-p', '.', '--singleThreaded'], { cwd: folder }).catch(
    (error: { stdout: string }) => error,
  )
  // The types of other packages are checked too, and are not all valid.
  const own = /^(?!node_modules[/\\](?!synapse)|\.\.)\S+\(\d+,\d+\)/
  return stdout
    .split('\n')
    .filter((line) => own.test(line))
    .join('\n')
}

/** Its output, run in a separate folder below the one with the packages. */
export async function output(
  folder: string,
  name: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const own = mkdtempSync(join(folder, `${name}-`))
  writeFileSync(join(own, 'package.json'), '{ "type": "module" }')
  copyFileSync(join(root, 'examples', `${name}.ts`), join(own, `${name}.ts`))
  const { stdout } = await run(process.execPath, [`${name}.ts`], {
    cwd: own,
    timeout: 120_000,
    env: { PATH: process.env['PATH'] ?? '', ...env },
  })
  return stdout
}

/** The first thing that it did not print; undefined: it printed all of it. */
export function missing(name: string, printed: string): string | undefined {
  let rest = printed
  for (const expected of examples[name] ?? []) {
    const found = expected.exec(rest)
    if (!found) return `${String(expected)} is not in the rest of:\n${printed}`
    rest = rest.slice(found.index + found[0].length)
  }
  return undefined
}
