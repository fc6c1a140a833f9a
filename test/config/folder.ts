// A folder with files for one test, removed after it.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'

export function newFolder(t: TestContext, files: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'synapse-config-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}
