// A YAML file with the position of everything in it, so that problems are reported with line and column. Aliases are
// limited (a short file can expand to gigabytes) and custom tags are not supported.

import { readFileSync, statSync } from 'node:fs'
import { isMap, isNode, isPair, isScalar, isSeq, LineCounter, parseDocument, type Document, type YAMLError } from 'yaml'
import { asFailure, badInput, type SynapseError } from '../core/error.ts'

export type Path = readonly (string | number)[]

/** One problem, and where. */
export interface Problem {
  line: number
  column: number
  /** The path in the data: `providers.0.protocol`; empty for the file itself. */
  key: string
  says: string
}

export interface YamlFile {
  path: string
  value: unknown
  /** The position of a key, or of an item in a list; of its nearest parent if it does not exist. */
  problem(path: Path, says: string): Problem
}

const maxBytes = 1024 * 1024

/** Throws all problems of the YAML itself. */
export function readYamlFile(path: string, shown: string = path): YamlFile {
  const text = textOf(path, shown)
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  const faults = [...document.errors, ...document.warnings]
  if (faults.some(({ message }) => /stack/i.test(message))) throw badInput(`${shown} is nested too deeply.`)
  if (faults.length > 0) {
    const problems = faults.map((fault) => ({ ...place(fault.pos[0]), key: '', says: saysOf(fault) }))
    throw problemsIn(shown, problems)
  }
  return {
    path,
    value: valueOf(document, shown),
    problem: (at, says) => ({ ...place(offsetOf(document, at)), key: at.join('.'), says }),
  }
}

/**
 * One error for all of them, one line each: `file:line:column: key: what is wrong`; line 0 is not a position in a file.
 */
export function problemsIn(shown: string, problems: readonly Problem[]): SynapseError {
  const lines = problems
    .toSorted((a, b) => a.line - b.line || a.column - b.column)
    .map(({ line, column, key, says }) => {
      const place = line === 0 ? shown : `${shown}:${line}:${column}`
      return `${place}: ${key === '' ? '' : `${key}: `}${says}`
    })
  return badInput([...new Set(lines)].join('\n'))
}

function textOf(path: string, shown: string): string {
  try {
    const about = statSync(path)
    // Reading a pipe could block, and a device may have no end.
    if (!about.isFile() && !about.isDirectory()) throw badInput(`${shown} is not a regular file.`)
    const { size } = about
    if (size > maxBytes) throw badInput(`${shown} has ${size} bytes; a configuration has at most ${maxBytes}.`)
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT') throw badInput(`There is no file ${shown}.`)
    if (code === 'EISDIR') throw badInput(`${shown} is a folder, not a file.`)
    if (typeof code === 'string') throw badInput(`${shown} cannot be read: ${code}.`)
    throw error
  }
}

function saysOf({ code, message }: YAMLError): string {
  return code === 'MULTIPLE_DOCS' ? 'a second document begins here; a file may contain only one' : oneLine(message)
}

function valueOf(document: Document.Parsed, shown: string): unknown {
  try {
    const value: unknown = document.toJS({ maxAliasCount: 100 })
    // Throws on a cycle, which nothing after this could traverse.
    JSON.stringify(value)
    return value
  } catch (error) {
    const why = error instanceof TypeError ? 'a part of it contains itself' : asFailure(error).message
    throw badInput(`${shown} cannot be expanded: ${oneLine(why)}.`)
  }
}

/** The offset of the key at the end of the path, or of its last existing parent. */
function offsetOf(document: Document.Parsed, path: Path): number {
  let node: unknown = document.contents
  let offset = isNode(node) ? (node.range?.[0] ?? 0) : 0
  for (const step of path) {
    const resolved =
      isNode(node) && 'resolve' in node && typeof node.resolve === 'function' ? node.resolve(document) : node
    if (isMap(resolved)) {
      const pair = resolved.items.find((item) => isPair(item) && keyOf(item.key) === String(step))
      if (!pair) return offset
      offset = isNode(pair.key) ? (pair.key.range?.[0] ?? offset) : offset
      node = pair.value
    } else if (isSeq(resolved)) {
      const item = resolved.items[Number(step)]
      if (!isNode(item)) return offset
      offset = item.range?.[0] ?? offset
      node = item
    } else {
      return offset
    }
  }
  return offset
}

function keyOf(key: unknown): string {
  return String(isScalar(key) ? key.value : key)
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
