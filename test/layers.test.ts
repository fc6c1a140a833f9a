// The layers of src/: who may import whom, and which packages each layer may use. docs/architecture.md shows the same table.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import test from 'node:test'

const root = join(import.meta.dirname, '..')
const src = join(root, 'src')

/** Each layer may import itself and those above it. The packages are those it may use; `node:` modules are free. */
const layers: Record<string, readonly string[]> = {
  portable: ['@noble/hashes', 'buffer/'],
  core: [],
  settings: [],
  auth: [],
  wires: [],
  providers: [],
  transport: ['eventsource-parser'],
  context: [],
  store: ['pg'],
  transcripts: [],
  transfer: [],
  run: ['@cfworker/json-schema'],
  config: ['yaml', 'zod'],
  sessions: [],
  mcp: ['@modelcontextprotocol/client'],
  emulator: [],
  runtime: ['@opentelemetry/api'],
  'one-wire': [],
  probe: [],
  agents: ['zod'],
  'ai-sdk': ['@ai-sdk/provider'],
  server: ['hono', '@hono/node-server', '@hono/zod-openapi'],
  cli: [],
}
const order = Object.keys(layers)

/** The entry points of the package are above all layers. */
const entryPoints = new Set(['index.ts', 'testing.ts', 'ai-sdk.ts', 'stores.ts', 'wires.ts'])

interface Import {
  file: string
  target: string
}

test('every file of src belongs to a layer or is an entry point', () => {
  const files = globSync('**/*.ts', { cwd: src })
  assert.deepEqual(
    files.filter((file) => rankOf(file) === undefined),
    [],
  )
})

test('no layer imports one below it', () => {
  assert.deepEqual(upward(imports()), [])
})

test('a layer uses only the packages that it is allowed', () => {
  assert.deepEqual(foreign(imports()), [])
})

test('no wire imports another wire', () => {
  const shared = new Set(['shared', 'tool-schema', 'message-list', 'google'])
  const wire = (path: string) => /^wires[/\\]([^/\\]+)[/\\]/.exec(path)?.[1]
  const wrong = imports().filter(({ file, target }) => {
    const [from, to] = [wire(file), wire(target)]
    return from !== undefined && to !== undefined && from !== to && !shared.has(to)
  })
  assert.deepEqual(wrong, [])
})

test('an import of an entry point, an unknown folder, a lower layer or an unlisted package is caught', () => {
  const planted: Import[] = [
    { file: 'wires/shared/text.ts', target: 'runtime/open.ts' },
    { file: 'wires/shared/text.ts', target: 'index.ts' },
    { file: 'store/memory/tools.ts', target: 'runtime/telemetry.ts' },
    { file: 'runtime/telemetry-names.ts', target: 'cli/terminal.ts' },
    { file: 'ai-sdk/wire.ts', target: 'server/log.ts' },
    { file: 'context/view.ts', target: 'run/loop.ts' },
  ]
  assert.equal(upward(planted).length, planted.length)
  assert.equal(foreign([{ file: 'context/view.ts', target: 'hono' }]).length, 1)
  assert.equal(rankOf('new-folder/file.ts'), undefined)
})

test('docs/architecture.md lists exactly these layers, in this order', () => {
  const text = readFileSync(join(root, 'docs', 'architecture.md'), 'utf8')
  const table = text.slice(text.indexOf('## Layers'), text.indexOf('##', text.indexOf('## Layers') + 3))
  const listed = [...table.matchAll(/^\| `([a-z-]+)` /gm)].map(([, name]) => name)
  assert.deepEqual(
    listed,
    order.filter((name) => globSync(`${name}/**/*.ts`, { cwd: src }).length > 0),
  )
})

function upward(all: readonly Import[]): string[] {
  return all
    .filter(({ file, target }) => isOurs(target) && (rankOf(target) ?? Infinity) > (rankOf(file) ?? -1))
    .map(({ file, target }) => `${file} imports ${target}`)
}

function foreign(all: readonly Import[]): string[] {
  return all
    .filter(({ target }) => !isOurs(target) && !target.startsWith('node:'))
    .filter(({ file, target }) => {
      const allowed = layers[layerOf(file)]
      return allowed !== undefined && !allowed.some((name) => target === name || target.startsWith(`${name}/`))
    })
    .map(({ file, target }) => `${file} imports ${target}`)
}

function isOurs(target: string): boolean {
  return target.endsWith('.ts') || target.endsWith('.json')
}

function layerOf(path: string): string {
  return path.split(sep)[0] ?? ''
}

function rankOf(path: string): number | undefined {
  if (entryPoints.has(path)) return order.length
  const rank = order.indexOf(layerOf(path))
  return rank === -1 ? undefined : rank
}

function imports(): Import[] {
  return globSync('**/*.ts', { cwd: src }).flatMap((file) => {
    const text = readFileSync(join(src, file), 'utf8')
    const found = text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+|[a-z@][^']*)'/g)
    return [...found].map(([, name = '']) => ({
      file,
      target: name.startsWith('.') ? relative(src, join(src, dirname(file), name)) : name,
    }))
  })
}
