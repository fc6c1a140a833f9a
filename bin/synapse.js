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

// An import of node:fs would load its streams and promises too, which is much for one question.
const { existsSync, lstatSync, mkdirSync, readFileSync } = process.getBuiltinModule('node:fs')

// Node 22 calls its SQLite experimental, on the screen of every command; which versions are safe is checked elsewhere.
const { emitWarning } = process
process.emitWarning = (warning, ...about) => {
  if (!String(warning).startsWith('SQLite is an experimental')) emitWarning.call(process, warning, ...about)
}

// A clone runs from its source, an installed package from what was built.
const source = new URL('../src/cli/main.ts', import.meta.url)
const isClone = existsSync(source)
const args = process.argv.slice(2)
if (args[0] === '--version' || args[0] === '-V') {
  console.log(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version)
} else {
  cacheCompiledCode()
  const { main } = await import(isClone ? source.href : new URL('../dist/cli/cli.js', import.meta.url).href)
  await main(args)
}

/**
 * Most of a start is compiling, so the compiled code is stored for the next one. Node runs it as it is, so only the user
 * may be able to write it: Node's default is a folder in the one for temporary files, which anyone may create first. The
 * folder is not taken from XDG_CACHE_HOME, which the .env file of a folder could set.
 */
function cacheCompiledCode() {
  const { isAbsolute, join } = process.getBuiltinModule('node:path')
  const { homedir } = process.getBuiltinModule('node:os')
  const caches = { darwin: 'Library/Caches', win32: 'AppData/Local' }[process.platform] ?? '.cache'
  const folder = isClone
    ? join(import.meta.dirname, '..', 'node_modules', '.cache', 'synapse')
    : join(homedir(), caches, 'synapse')
  if (!isAbsolute(folder)) return
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { uid, mode } = lstatSync(folder)
    const isOwn = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)
    if (isOwn) module.enableCompileCache?.(folder)
  } catch {
    // Without a folder that can be written to, the start is only slower.
  }
}
