// Which tests run which lines: each test file is run once with V8's coverage. Node erases types in place, so that the
// offsets that V8 gives are those of the source.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runTest } from './run-test.ts'

interface Range {
  startOffset: number
  endOffset: number
  count: number
}

export interface TestCoverage {
  test: string
  ms: number
  /** The ranges of each source file, by its path. */
  files: Map<string, Range[]>
}

export async function coverageOf(test: string, wanted: ReadonlySet<string>): Promise<TestCoverage | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'synapse-mutation-'))
  try {
    const { passed, ms } = await runTest(test, { env: { NODE_V8_COVERAGE: folder }, timeoutMs: 180_000 })
    if (!passed) return undefined
    const files = new Map<string, Range[]>()
    for (const name of readdirSync(folder)) {
      const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as {
        result: { url: string; functions: { ranges: Range[] }[] }[]
      }
      for (const { url, functions } of result) {
        const path = url.startsWith('file:') ? fileURLToPath(url) : ''
        if (!wanted.has(path)) continue
        files.set(path, [...(files.get(path) ?? []), ...functions.flatMap(({ ranges }) => ranges)])
      }
    }
    return { test, ms, files }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Several processes of a test may have loaded a file: one that ran the line is enough. */
export function covers({ files }: TestCoverage, path: string, offset: number): boolean {
  const around = (files.get(path) ?? []).filter(
    ({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset,
  )
  if (around.length === 0) return false
  const size = Math.min(...around.map(({ startOffset, endOffset }) => endOffset - startOffset))
  return around.some(({ startOffset, endOffset, count }) => endOffset - startOffset === size && count > 0)
}
