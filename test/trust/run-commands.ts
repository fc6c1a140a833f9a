// Runs many command lines one after another in one process, as the command line itself would: a start for each of them
// would take longer than all of them. Reads the list from its first argument and prints one line of JSON for each.

import { Readable } from 'node:stream'
import { commands } from '../../src/cli/main.ts'
import { ask } from '../../src/cli/commands/ask.ts'
import { asFailure } from '../../src/core/error.ts'

const lines = JSON.parse(process.argv[2] ?? '[]') as string[][]
const report = process.stdout.write.bind(process.stdout)
/** Longer than any command takes, even on a busy machine. */
const longest = 120_000

for (const argv of lines) {
  const said: string[] = []
  Object.defineProperty(process, 'stdin', {
    value: Object.assign(Readable.from([]), { isTTY: false }),
    configurable: true,
  })
  const hear = (text: unknown): true => {
    said.push(String(text))
    return true
  }
  process.stdout.write = hear
  process.stderr.write = hear
  // A server ends when it is asked to, and only then; asked twice, it ends the process.
  const ends = setInterval(() => {
    if (!said.some((text) => text.startsWith('http://127'))) return
    clearInterval(ends)
    process.emit('SIGTERM', 'SIGTERM')
  }, 50)
  const late = new Promise<string>((resolve) => setTimeout(() => resolve('hangs'), longest).unref())
  const startedAt = performance.now()
  const code = await Promise.race([late, run(argv).catch((error: unknown) => asFailure(error).kind)])
  clearInterval(ends)
  process.removeAllListeners('SIGTERM')
  process.removeAllListeners('SIGINT')
  report(
    `${JSON.stringify({ argv, code, ms: Math.round(performance.now() - startedAt), said: said.join('').slice(0, 2000) })}\n`,
  )
}
process.exit(0)

async function run(argv: string[]): Promise<number> {
  const [name = '', ...rest] = argv
  const named = Object.hasOwn(commands, name) ? commands[name] : undefined
  return named ? (await named.load()).run(rest) : ask.run(argv)
}
