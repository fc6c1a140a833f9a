// The folder of a file store, checked before a library opens it: a mistyped path would create an empty store somewhere
// else.

import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { badInput } from '../core/error.ts'

export function checkFolder(path: string): void {
  const folder = dirname(path)
  if (existsSync(folder)) return
  throw badInput(`The folder ${folder} of the store does not exist: create it, or give another path.`)
}
