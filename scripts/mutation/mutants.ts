// Small changes of a source file, each of which should make a test fail: an operator, a condition, a constant, a call or
// a condition in SQL is replaced as a typical mistake would.

import { parseSync } from 'oxc-parser'

export interface Mutant {
  file: string
  /** The expression or statement that is replaced as a whole. */
  start: number
  end: number
  replacement: string
  isStatement: boolean
  /** Evaluated once, when the module is loaded. */
  isStatic: boolean
  /** The outermost function around it. */
  within: string | undefined
  /** Readable: `>=` becomes `>`. */
  line: number
  was: string
  becomes: string
}

interface Node {
  type: string
  start: number
  end: number
  [field: string]: unknown
}

/** Replaces the text between two offsets inside a node. */
type Add = (node: Node, start: number, end: number, replacement: string) => void

const operators: Record<string, string> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
}

const sqlOperators: Record<string, string> = {
  '=': '<>',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  AND: 'OR',
  OR: 'AND',
}

export function mutantsOf(file: string, source: string): Mutant[] {
  const found: Mutant[] = []
  visit(parse(file, source), undefined, (node, within) =>
    mutate(node, source, (whole, start, end, replacement) => {
      found.push({
        file,
        start: whole.start,
        end: whole.end,
        replacement: source.slice(whole.start, start) + replacement + source.slice(end, whole.end),
        isStatement: whole.type === 'ExpressionStatement',
        isStatic: within === undefined,
        within,
        line: source.slice(0, start).split('\n').length,
        was: source.slice(start, end),
        becomes: replacement,
      })
    }),
  )
  return found
}

function mutate(node: Node, source: string, add: Add): void {
  if (node.type === 'BinaryExpression' || node.type === 'LogicalExpression') {
    const { operator, left, right } = node as unknown as { operator: string; left: Node; right: Node }
    const other = operators[operator]
    const isText =
      operator === '+' &&
      [left, right].some(({ type, value }) => type === 'TemplateLiteral' || typeof value === 'string')
    const at = source.indexOf(operator, left.end)
    if (other !== undefined && !isText && at < right.start) add(node, at, at + operator.length, other)
    // Without its fallback.
    if (operator === '??') add(node, left.end, right.end, '')
  }
  if (node.type === 'UnaryExpression' && node['operator'] === '!') add(node, node.start, node.start + 1, '')
  if (node.type === 'Literal' && typeof node['value'] === 'boolean') {
    add(node, node.start, node.end, String(!node['value']))
  }
  if (node.type === 'Literal' && isSmall(node['value'])) add(node, node.start, node.end, String(node['value'] + 1))
  if (node.type === 'IfStatement' || node.type === 'ConditionalExpression') {
    const test = node['test'] as Node
    add(test, test.start, test.end, 'true')
    add(test, test.start, test.end, 'false')
  }
  if (node.type === 'ExpressionStatement') {
    const { type } = node['expression'] as Node
    if (type === 'CallExpression' || type === 'AwaitExpression') add(node, node.start, node.end, ';')
  }
  if (node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node['value'] === 'string')) {
    mutateSql(node, source, add)
  }
}

/** The conditions of a statement: fencing is decided there. */
function mutateSql(node: Node, source: string, add: Add): void {
  const [, statement = ''] =
    /^[`'"](\s*(?:SELECT|UPDATE|INSERT|DELETE|WITH)\b.*)/s.exec(source.slice(node.start, node.end)) ?? []
  const from = statement.indexOf('WHERE')
  if (from === -1) return
  for (const { 0: operator, index } of statement.matchAll(/(?<=\s)(?:<=|>=|=|<|>|AND|OR)(?=\s)/g)) {
    const at = node.start + 1 + index
    if (index > from) add(node, at, at + operator.length, sqlOperators[operator] ?? '')
  }
}

/** Where an off-by-one error is likely. A limit of 90,000 is a decision, and its test would only repeat it. */
function isSmall(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value < 4
}

/** The source with all its changes, each behind a question: `isMutant(7)` is true while number 7 is tried. */
export function instrumented(file: string, source: string, mutants: readonly (Mutant & { id: number })[]): string {
  const edits: { at: number; isEnd: boolean; size: number; text: string }[] = []
  for (const { id, start, end, replacement, isStatement } of mutants) {
    const [before, after] = isStatement
      ? [`{if(!isMutant(${id})){`, '}}']
      : [`(isMutant(${id})?(${replacement}):(`, '))']
    edits.push({ at: start, isEnd: false, size: end - start, text: before })
    edits.push({ at: end, isEnd: true, size: end - start, text: after })
  }
  // Without semicolons, a line that begins with a parenthesis would continue the line before it.
  for (const at of startsOfStatements(parse(file, source))) edits.push({ at, isEnd: false, size: Infinity, text: ';' })
  // At the same place what ends comes before what begins, and the inner of two nodes is inside.
  edits.sort(
    (a, b) => a.at - b.at || Number(b.isEnd) - Number(a.isEnd) || (a.isEnd ? a.size - b.size : b.size - a.size),
  )
  let text = ''
  let done = 0
  for (const edit of edits) {
    text += source.slice(done, edit.at) + edit.text
    done = edit.at
  }
  return text + source.slice(done)
}

function startsOfStatements(program: Node): number[] {
  const starts: number[] = []
  visit(program, undefined, ({ type, body, consequent }) => {
    const list = type === 'SwitchCase' ? consequent : body
    if (!Array.isArray(list)) return
    for (const one of list as Node[]) if (one.type === 'ExpressionStatement') starts.push(one.start)
  })
  return starts
}

function parse(file: string, source: string): Node {
  const { program, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
  return program as unknown as Node
}

/** Types are erased before anything runs, so nothing in them can be wrong. */
function visit(node: Node, within: string | undefined, see: (node: Node, within: string | undefined) => void): void {
  if (/^TS(?!AsExpression|SatisfiesExpression|NonNullExpression)|^Import|^Export(All|Specifier)/.test(node.type)) return
  see(node, within)
  const inside = within ?? (/Function/.test(node.type) ? nameOf(node) : undefined)
  for (const [field, value] of Object.entries(node)) {
    if (field === 'typeAnnotation' || field === 'typeArguments' || field === 'returnType') continue
    if (field === 'key' && node['computed'] !== true) continue
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) visit(child, inside, see)
    }
  }
}

function nameOf({ id }: Node): string {
  return isNode(id) ? String(id['name']) : ''
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}
