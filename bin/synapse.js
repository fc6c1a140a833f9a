#!/usr/bin/env node
// Plain JavaScript that any Node can read: on one that is too old it says so in a line instead of a stack trace.
import module from 'node:module'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 13)) {
  console.error(
    `synapse needs Node 24.15.0 or later, or 22.22.3 of line 22; this is ${process.version}. In a clone, "npm start" brings its own.`,
  )
  process.exit(2)
}

// Node 22 calls its SQLite experimental, on the screen of every command; which versions are safe is checked elsewhere.
const { emitWarning } = process
process.emitWarning = (warning, ...about) => {
  if (!String(warning).startsWith('SQLite is an experimental')) emitWarning.call(process, warning, ...about)
}

// What was compiled for one start is kept for the next: most of a start from source is reading TypeScript.
module.enableCompileCache?.()

// A clone runs from its source, an installed package from what was built. An import of node:fs would load its streams
// and promises too, which is much for one question.
const source = new URL('../src/cli/main.ts', import.meta.url)
const { existsSync } = process.getBuiltinModule('node:fs')
const { main } = await import(existsSync(source) ? source.href : new URL('../dist/js/cli.js', import.meta.url).href)
await main(process.argv.slice(2))
