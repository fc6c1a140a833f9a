// Loads every module of the source, so that Node has compiled it before the processes of the tests need it: a process
// keeps what it has compiled when it ends, and those that are killed keep nothing.

import { globSync } from 'node:fs'
import { join } from 'node:path'

// What replaces modules of Node in a browser does not load here.
const files = globSync('!(portable)/**/*.ts', { cwd: join(import.meta.dirname, '..', 'src') })
await Promise.all(files.map((file) => import(`../src/${file}`)))
