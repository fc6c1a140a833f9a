// Where Node keeps what it has compiled for the tests: most of the start of a small process is reading TypeScript. A test
// that starts a process with an environment of its own passes it on.

import { join } from 'node:path'

export const compileCache: string =
  process.env['NODE_COMPILE_CACHE'] ?? join(import.meta.dirname, '..', 'node_modules', '.cache', 'compiled-tests')
