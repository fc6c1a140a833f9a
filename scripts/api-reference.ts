// Writes docs/api: every export of every entry point, with its comment, its declaration and its example, read from the
// source. Run it after a change to what is exported: node scripts/api-reference.ts

import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseSync } from 'oxc-parser'

const root = join(import.meta.dirname, '..')
export const folder: string = join(root, 'docs', 'api')

/** By page: the import name, its file, and its purpose. */
const entries: Readonly<Record<string, { name: string; file: string; about: string }>> = {
  synapse: { name: 'synapse', file: 'src/index.ts', about: 'the library' },
  'ai-sdk': { name: 'synapse/ai-sdk', file: 'src/ai-sdk.ts', about: 'both ways between Synapse and the AI SDK' },
  testing: { name: 'synapse/testing', file: 'src/testing.ts', about: 'the emulator, for your own tests' },
  stores: { name: 'synapse/stores', file: 'src/stores.ts', about: 'the stores alone' },
  wires: { name: 'synapse/wires', file: 'src/wires.ts', about: 'the wires alone, for browsers and Workers' },
}

/** Where the examples of types are; those of functions are in their comments. */
const typeExamples = join(import.meta.dirname, 'api-examples.ts')

export interface Exported {
  name: string
  isType: boolean
  comment: string
  example: string
  declaration: string
}

/** The pages by their file names. */
export function pages(): Record<string, string> {
  const all = Object.entries(entries).map(([page, { name, file, about }]) => ({
    page,
    name,
    about,
    exports: exportsOf(file),
  }))
  const home = [
    '# API reference',
    '',
    'Made from the types by `node scripts/api-reference.ts`, with an example for each export; [the guides](../README.md) tell',
    'how they go together. In the examples, `synapse` is what `openSynapse` gives, `chat` a conversation, `run` what `send`',
    'gives, `store` a store, `messages` a history, and `reply` a message of a model.',
    '',
    ...all.flatMap(({ page, name, about, exports }) => [
      `## [\`${name}\`](${page}.md): ${about}`,
      '',
      exports.map((one) => `[${one.name}](${page}.md#${one.name.toLowerCase()})`).join(' · '),
      '',
    ]),
    '`synapse/wires/<wire>` has the functions of `synapse/wires` for one wire: less than half of the code. They are exports of',
    "their own: `import { prepare, refuse } from 'synapse/wires/anthropic-messages'`.",
    '',
  ]
  const made = all.map(({ page, name, about, exports }) => [`${page}.md`, pageOf(name, about, exports)] as const)
  return { 'README.md': home.join('\n'), ...Object.fromEntries(made) }
}

/** Everything that an entry point exports, functions first. */
export function exportsOf(file: string): Exported[] {
  const found = [...namesOf(resolve(root, file))].flatMap(([name, place]) => {
    const one = declarationOf(name, place)
    return place.onlyType && !one.isType ? [] : [one]
  })
  return found.toSorted((a, b) => Number(a.isType) - Number(b.isType) || (a.name < b.name ? -1 : 1))
}

function pageOf(name: string, about: string, exports: readonly Exported[]): string {
  const sections = exports.flatMap((one) => [
    `### ${one.name}`,
    '',
    ...(one.comment === '' ? [] : [one.comment, '']),
    ...fenced(one.declaration),
    ...(one.example === '' ? [] : ['Example:', '', ...fenced(one.example)]),
    ...usedBy(one, exports),
  ])
  const firstType = sections.indexOf(`### ${exports.find(({ isType }) => isType)?.name}`)
  const at = firstType < 0 ? sections.length : firstType
  return [
    `# \`${name}\`: ${about}`,
    '',
    '## Functions and classes',
    '',
    ...sections.slice(0, at),
    ...(at < sections.length ? ['## Types', '', ...sections.slice(at)] : []),
  ].join('\n')
}

/** A type has its example where it is used. */
function usedBy({ name, isType }: Exported, exports: readonly Exported[]): string[] {
  const word = new RegExp(`\\b${name}\\b`)
  const users = isType ? exports.filter((one) => one.name !== name && word.test(one.declaration)) : []
  const links = users.map((one) => `[${one.name}](#${one.name.toLowerCase()})`)
  return links.length === 0 ? [] : [`Used by ${links.join(', ')}.`, '']
}

function fenced(code: string): string[] {
  // Not `ts`: the tests run those as one program.
  return ['```typescript', code, '```', '']
}

interface Place {
  file: string
  /** The name in that file. */
  local: string
  /** A value of this name is not exported. */
  onlyType?: boolean
}

/** The exports of a module, each with the file that declares it. */
function namesOf(file: string): Map<string, Place> {
  const { program } = moduleAt(file)
  const found = new Map<string, Place>()
  for (const node of program.body) {
    if (node.type === 'ExportAllDeclaration') {
      for (const [name, place] of namesOf(resolve(dirname(file), node.source.value))) {
        found.set(name, node.exportKind === 'type' ? { ...place, onlyType: true } : place)
      }
    } else if (node.type === 'ExportNamedDeclaration') {
      const from = node.source && namesOf(resolve(dirname(file), node.source.value))
      for (const { local, exported } of node.specifiers) {
        const [inner, outer] = [nameIn(local), nameIn(exported)]
        found.set(outer, from?.get(inner) ?? { file, local: inner })
      }
      for (const name of declaredNames(node.declaration)) found.set(name, { file, local: name })
    }
  }
  return found
}

type Parsed = ReturnType<typeof parseSync>
type Statement = Parsed['program']['body'][number]
type Declaration = Extract<Statement, { type: 'ExportNamedDeclaration' }>['declaration']

const parsed = new Map<string, Parsed & { text: string }>()

function moduleAt(file: string): Parsed & { text: string } {
  const known = parsed.get(file)
  if (known) return known
  const text = readFileSync(file, 'utf8')
  const { program, comments } = parseSync(file, text)
  const made = { program, comments, text } as unknown as Parsed & { text: string }
  parsed.set(file, made)
  return made
}

function nameIn(node: { type: string; name?: string; value?: unknown }): string {
  return node.name ?? String(node.value)
}

function declaredNames(declaration: Declaration): string[] {
  if (!declaration) return []
  if (declaration.type === 'VariableDeclaration') {
    return declaration.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []))
  }
  return 'id' in declaration && declaration.id && 'name' in declaration.id ? [declaration.id.name] : []
}

function declarationOf(name: string, { file, local }: Place): Exported {
  const { program, text } = moduleAt(file)
  const own = program.body.filter(
    (node) => node.type === 'ExportNamedDeclaration' && declaredNames(node.declaration).includes(local),
  )
  const [first] = own
  if (!first) throw new Error(`${name} is not declared in ${file}`)
  // The last of several is the implementation, which no caller sees.
  const shown = own.length > 1 ? own.slice(0, -1) : own
  const { comment, example } = commentBefore(file, first.start)
  const declaration = shown
    .map((node) => signature(node as Extract<Statement, { declaration: unknown }>, text))
    .join('\n')
  const isType = /^(?:export )?(?:interface|type) /.test(declaration)
  return {
    name,
    isType,
    comment,
    example: isType ? typeExample(name, file, local) : example,
    declaration: renamed(declaration, local, name),
  }
}

/** The example of a type; one that the root exports under another name is shown with the name of this entry point. */
function typeExample(name: string, file: string, local: string): string {
  const inRoot = [...namesOf(join(root, 'src', 'index.ts'))].find(
    ([, place]) => place.file === file && place.local === local,
  )
  const label = inRoot?.[0] ?? name
  const { program, text } = moduleAt(typeExamples)
  const found = program.body.find((node) => node.type === 'LabeledStatement' && node.label.name === label)
  if (found?.type !== 'LabeledStatement') return ''
  const lines = text.slice(found.body.start + 1, found.body.end - 1).split('\n')
  const code = lines.map((line) => line.replace(/^ {2}/, '')).join('\n')
  return renamed(code.trim(), label, name)
}

function renamed(declaration: string, from: string, to: string): string {
  return from === to ? declaration : declaration.replaceAll(new RegExp(`\\b${from}\\b`, 'g'), to)
}

/** The declaration without bodies and values. */
function signature(node: object, text: string): string {
  const { declaration } = node as { declaration: Declaration }
  if (!declaration) return ''
  const { start, end } = declaration
  if (declaration.type === 'FunctionDeclaration' && declaration.body) {
    return text.slice(start, declaration.body.start).trimEnd()
  }
  if (declaration.type === 'VariableDeclaration') {
    const [one] = declaration.declarations
    return one?.init && one.id.typeAnnotation
      ? text.slice(start, one.init.start).replace(/\s*=\s*$/, '')
      : text.slice(start, end)
  }
  return text.slice(start, end)
}

function commentBefore(file: string, start: number): { comment: string; example: string } {
  const { comments, text } = moduleAt(file)
  const found = comments.findLast(
    (one) =>
      one.type === 'Block' && one.value.startsWith('*') && one.end <= start && text.slice(one.end, start).trim() === '',
  )
  const lines = (found?.value ?? '').split('\n').map((line) => line.replace(/^\s*\*+ ?/, ''))
  const [comment = '', example = ''] = lines.join('\n').split('@example')
  return { comment: comment.trim().replaceAll(/\{@link ([^}]+)\}/g, '`$1`'), example: example.trim() }
}

/** Writes the pages into a folder, formatted. */
export function writePages(into: string): void {
  rmSync(into, { recursive: true, force: true })
  mkdirSync(into, { recursive: true })
  for (const [name, text] of Object.entries(pages())) writeFileSync(join(into, name), text)
  execFileSync('oxfmt', ['--config', join(root, '.oxfmtrc.json'), into], { stdio: 'ignore' })
}

if (import.meta.main) writePages(folder)
