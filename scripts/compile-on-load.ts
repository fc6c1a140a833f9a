// Node's compile cache stores what V8 has compiled when a file is loaded. V8 compiles most functions at their first call,
// which is later; only functions in parentheses are compiled with their file, because they are usually called at once. So
// every function that a run has called is put into parentheses. A declaration becomes a variable at the start of its
// block, where its value is available as early as before.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'oxc-parser'

/** `run` gets the folder for the coverage of V8, see NODE_V8_COVERAGE. */
export async function compileOnLoad(folder: string, run: (coverage: string) => void): Promise<void> {
  const coverage = mkdtempSync(join(tmpdir(), 'synapse-coverage-'))
  try {
    run(coverage)
    for (const [file, called] of calledFunctions(coverage)) {
      if (file.startsWith(folder)) await writeFile(file, inParentheses(await readFile(file, 'utf8'), called))
    }
  } finally {
    rmSync(coverage, { recursive: true, force: true })
  }
}

interface Coverage {
  result: { url: string; functions: { ranges: { startOffset: number; count: number }[] }[] }[]
}

/** Where the functions begin that were called, by file. */
function calledFunctions(folder: string): Map<string, ReadonlySet<number>> {
  const results = readdirSync(folder).flatMap(
    (name) => (JSON.parse(readFileSync(join(folder, name), 'utf8')) as Coverage).result,
  )
  return new Map(
    results
      .filter(({ url }) => url.startsWith('file:'))
      .map(({ url, functions }) => {
        const whole = functions.map(({ ranges }) => ranges[0])
        return [fileURLToPath(url), new Set(whole.flatMap((range) => (range?.count ? [range.startOffset] : [])))]
      }),
  )
}

/** A part of the file, and what is written in its place. */
interface Change {
  start: number
  end: number
  text: () => string
}

interface Node {
  type: string
  start: number
  end: number
  [field: string]: unknown
}

interface Block extends Node {
  body: (Node & { directive?: string | null })[]
}

interface Method extends Node {
  key: Node
  value: Node & { async: boolean; generator: boolean }
}

/** `called`: where the functions begin. */
export function inParentheses(source: string, called: ReadonlySet<number>): string {
  const { program, errors } = parseSync('file.js', source, { sourceType: 'module' })
  if (errors[0]) throw new Error(errors[0].message)
  const changes: Change[] = []
  visit(program as unknown as Node)
  changes.sort((a, b) => a.start - b.start || a.end - b.end)
  return written(0, source.length)

  function visit(node: Node, parent?: Node): void {
    if (node.type === 'Program' || node.type === 'BlockStatement') moveDeclarations(node as Block, parent)
    const isValue = node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression'
    const { start, end } = node
    if (isValue && called.has(start)) {
      const change: Change = { start, end, text: () => `(${written(start, end, change)})` }
      changes.push(change)
    }
    if (isMethod(node) && called.has(start)) changes.push({ start, end, text: () => asProperty(node) })
    for (const value of Object.values(node)) {
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, node)
    }
  }

  function moveDeclarations(block: Block, parent: Node | undefined): void {
    const moved = block.body.filter(({ type, start }) => type === 'FunctionDeclaration' && called.has(start))
    if (moved.length === 0) return
    for (const { start, end } of moved) changes.push({ start, end, text: () => '' })
    const isWhole = parent === undefined || parent.type.includes('Function')
    const start = block.body.findLast(({ directive }) => directive)?.end ?? block.start + (parent ? 1 : 0)
    const text = () => `;${isWhole ? 'var' : 'let'} ${moved.map(asVariable).join(',')};`
    changes.push({ start, end: start, text })
  }

  function asVariable({ start, end, id }: Node): string {
    const name = id as Node & { name: string }
    return `${name.name}=(${source.slice(start, name.start)}${written(name.end, end)})`
  }

  /** Methods of classes cannot be written in another way. */
  function isMethod(node: Node): node is Method {
    if (node.type !== 'Property' || node['method'] !== true || node['computed'] === true) return false
    return !/\bsuper\b/.test(source.slice(node.start, node.end))
  }

  function asProperty({ key, value }: Method): string {
    const head = `${value.async ? 'async ' : ''}function${value.generator ? '*' : ''}`
    return `${source.slice(key.start, key.end)}:(${head}${written(value.start, value.end)})`
  }

  /** A part of the file with its changes, without those in a part that is changed as a whole. */
  function written(start: number, end: number, within?: Change): string {
    let text = ''
    let at = start
    for (const change of changes) {
      if (change === within || change.start < at || change.end > end) continue
      text += source.slice(at, change.start) + change.text()
      at = change.end
    }
    return text + source.slice(at, end)
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}
