import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import test from 'node:test'

const src = join(import.meta.dirname, '..', 'src')

/** Each layer may import itself and those above it. */
const layers = [
  'core',
  'protocols',
  'providers',
  'transport',
  'context',
  'store',
  'transcripts',
  'transfer',
  'sessions',
  'run',
  'config',
  'mcp',
  'agents',
  'emulator',
  'server',
  'cli',
]

test('no layer imports one below it', () => {
  const wrong: string[] = []
  for (const { file, target } of imports()) {
    const [from, to] = [layerOf(file), layerOf(target)]
    if (from === undefined || to === undefined) continue
    if (layers.indexOf(to) > layers.indexOf(from)) wrong.push(`${file} imports ${target}`)
  }
  assert.deepEqual(wrong, [])
})

test('core imports nothing but itself', () => {
  const foreign = imports().filter(({ file, target }) => layerOf(file) === 'core' && layerOf(target) !== 'core')
  assert.deepEqual(foreign, [])
})

test('no protocol knows another', () => {
  const folder = (path: string) => /^protocols[/\\]([^/\\]+)[/\\]/.exec(path)?.[1]
  const wrong = imports().filter(({ file, target }) => {
    const [from, to] = [folder(file), folder(target)]
    return from !== undefined && to !== undefined && from !== to
  })
  assert.deepEqual(wrong, [])
})

function layerOf(path: string): string | undefined {
  const first = path.split(sep)[0]
  return first && layers.includes(first) ? first : undefined
}

function imports(): { file: string; target: string }[] {
  return globSync('**/*.ts', { cwd: src }).flatMap((file) => {
    const text = readFileSync(join(src, file), 'utf8')
    const found = text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+|[a-z@][^']*)'/g)
    return [...found].map(([, name = '']) => ({
      file,
      target: name.startsWith('.') ? relative(src, join(src, dirname(file), name)) : name,
    }))
  })
}
