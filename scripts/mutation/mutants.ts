// Small changes of a source file, each of which should make a test fail: an operator, a condition, a constant or a call
// is replaced as a typical mistake would.

import { parseSync } from 'oxc-parser'

export interface Mutant {
  file: string
  /** The text between these offsets is replaced. */
  start: number
  end: number
  replacement: string
  /** For people: `a >= b` becomes `a > b`. */
  line: number
  was: string
}

interface Node {
  type: string
  start: number
  end: number
  [field: string]: unknown
}

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

export function mutantsOf(file: string, source: string): Mutant[] {
  const { program, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
  const found: Mutant[] = []
  const add = (start: number, end: number, replacement: string) => {
    const line = source.slice(0, start).split('\n').length
    found.push({ file, start, end, replacement, line, was: source.slice(start, end) })
  }
  visit(program as unknown as Node, (node) => mutate(node, source, add))
  return found
}

function mutate(node: Node, source: string, add: (start: number, end: number, replacement: string) => void): void {
  if (node.type === 'BinaryExpression' || node.type === 'LogicalExpression') {
    const { operator, left, right } = node as unknown as { operator: string; left: Node; right: Node }
    const other = operators[operator]
    const isText =
      operator === '+' &&
      [left, right].some(({ type, value }) => type === 'TemplateLiteral' || typeof value === 'string')
    const at = source.indexOf(operator, left.end)
    if (other !== undefined && !isText && at < right.start) add(at, at + operator.length, other)
    // Without its fallback.
    if (operator === '??') add(left.end, right.end, '')
  }
  if (node.type === 'UnaryExpression' && node['operator'] === '!') add(node.start, node.start + 1, '')
  if (node.type === 'Literal' && typeof node['value'] === 'boolean') add(node.start, node.end, String(!node['value']))
  if (node.type === 'Literal' && isSmall(node['value'])) add(node.start, node.end, String(node['value'] + 1))
  if (node.type === 'IfStatement' || node.type === 'ConditionalExpression') {
    const { start, end } = node['test'] as Node
    add(start, end, 'true')
    add(start, end, 'false')
  }
  if (node.type === 'ExpressionStatement') {
    const { type } = node['expression'] as Node
    if (type === 'CallExpression' || type === 'AwaitExpression') add(node.start, node.end, ';')
  }
}

/** Where an off-by-one error is likely. A limit of 90,000 is a decision, and its test would only repeat it. */
function isSmall(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value < 4
}

/** Types are erased before anything runs, so nothing in them can be wrong. */
function visit(node: Node, see: (node: Node) => void): void {
  if (/^TS(?!AsExpression|SatisfiesExpression|NonNullExpression)/.test(node.type)) return
  see(node)
  for (const [field, value] of Object.entries(node)) {
    if (field === 'typeAnnotation' || field === 'typeArguments' || field === 'returnType') continue
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) visit(child, see)
    }
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}
