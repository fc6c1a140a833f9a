// Which Node the SQLite store runs on: node:sqlite must exist, and its SQLite must be safe for several connections. The
// error names the version to install, on the current release line if possible.

/** The first release of each line with SQLite 3.51.3 or a later safe one (releases checked 2026-11). */
const firstSafe: Readonly<Record<string, string>> = { 22: '22.22.3', 24: '24.15.0', 25: '25.9.0' }
const recommended = '24.15.0'

/** The Node to install in place of this one, such as `v24.14.0`. */
export function nodeToInstall(running: string): string {
  return firstSafe[lineOf(running)] ?? recommended
}

function lineOf(running: string): string {
  return /^v?(\d+)\./.exec(running)?.[1] ?? ''
}

/** A Node of a line without a safe SQLite may be replaced by either line, as the error says. */
function versionsFor(running: string): string {
  const version = nodeToInstall(running)
  return lineOf(running) in firstSafe ? `${version} or later` : `${version} or later, ${firstSafe[22]} of line 22`
}

/** What is wrong with this Node for a SQLite store; undefined: nothing. `sqlite`: its bundled version, if any. */
export function nodeProblem(running: string, sqlite: string | undefined): string | undefined {
  const remedy = `Install Node ${versionsFor(running)}, or use a PostgreSQL store`
  if (sqlite === undefined) return `Node ${running} has no SQLite, which a store in a file needs. ${remedy}.`
  if (isSafeVersion(sqlite)) return undefined
  return `Node ${running} includes SQLite ${sqlite}, which can damage files that several processes use. ${remedy}.`
}

/** Versions before 3.51.3 can damage a file that two connections write to (checked 2026-11); 3.52.0 was withdrawn. */
export function isSafeVersion(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  if (major !== 3) return major > 3
  return minor > 52 || (minor === 52 && patch > 0) || (minor === 51 && patch >= 3)
}
