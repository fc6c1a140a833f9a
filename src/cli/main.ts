// The command line: finds the command and loads it. Nothing else is loaded before it is known what is wanted, because
// the start is what people feel.

import { readFileSync } from 'node:fs'
import { asFailure } from '../core/error.ts'
import { exitCode, type Command } from './command.ts'
import { neutral } from './terminal.ts'

const commands: Record<string, { about: string; load: () => Promise<Command> }> = {
  chat: { about: 'talk in the terminal', load: async () => (await import('./commands/chat.ts')).chat },
  log: { about: 'list conversations, or show one', load: async () => (await import('./commands/log.ts')).log },
  convert: {
    about: 'any transcript to the request of any provider',
    load: async () => (await import('./commands/convert.ts')).convert,
  },
  check: {
    about: 'what a provider would refuse in a transcript, and why',
    load: async () => (await import('./commands/check.ts')).check,
  },
  providers: {
    about: 'who can be asked, and what they can do',
    load: async () => (await import('./commands/providers.ts')).providers,
  },
  emulate: {
    about: 'serve the wires of all providers on loopback, for tests',
    load: async () => (await import('./commands/emulate.ts')).emulate,
  },
}

const help = `synapse: one conversation, any model, nothing lost

  synapse "What time is it?"       ask once (also: echo "..." | synapse)
  synapse                          talk in the terminal

Commands
${Object.entries(commands)
  .map(([name, { about }]) => `  ${name.padEnd(31)}  ${about}`)
  .join('\n')}

Options of a question or a chat
  -m, --model PROVIDER/MODEL       who answers (SYNAPSE_MODEL)
  -s, --system TEXT                the system prompt
  -c, --continue                   go on with the last conversation
      --conversation ID            go on with this one
      --offline                    let the built-in emulator answer, whatever keys there are
      --no-tools                   do not offer the built-in tools
      --json                       print every event as a line of JSON
      --db FILE                    where conversations are kept (SYNAPSE_DB)
  -h, --help     -V, --version
`

export async function main(argv: string[]): Promise<void> {
  process.exitCode = await run(argv)
}

async function run(argv: string[]): Promise<number> {
  const [first, ...rest] = argv
  if (first === '--version' || first === '-V') return say(version())
  if (first === '--help' || first === '-h' || first === 'help') return say(help.trimEnd())
  try {
    const named = first !== undefined && Object.hasOwn(commands, first) ? commands[first] : undefined
    if (named) {
      const command = await named.load()
      return rest.includes('--help') || rest.includes('-h') ? say(command.usage) : await command.run(rest)
    }
    const { ask } = await import('./commands/ask.ts')
    return await ask.run(argv)
  } catch (error) {
    const failure = asFailure(error)
    process.stderr.write(`synapse: ${neutral(failure.message)}\n`)
    return failure.kind === 'bad-input' ? exitCode.badInput : exitCode.failed
  }
}

function say(text: string): number {
  process.stdout.write(`${text}\n`)
  return exitCode.ok
}

function version(): string {
  const file = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(file) as { version: string }).version
}
