// Where Node keeps what it has compiled for the tests: most of the start of a small process is reading TypeScript.

import { join } from 'node:path'

export const compileCache: string =
  process.env['NODE_COMPILE_CACHE'] ?? join(import.meta.dirname, '..', 'node_modules', '.cache', 'compiled-tests')
