// The command line: finds the command and loads it. Nothing else is loaded before it is known what is wanted, because
// the start is what people feel.

import { asFailure, badInput, type ErrorKind } from '../core/error.ts'
import { editDistance } from '../core/edit-distance.ts'
import { presetNames } from '../settings/policy.ts'
import { exitCode, type Command } from './command.ts'
import { print, printError } from './print.ts'
import { neutral } from './terminal.ts'
import { version } from './version.ts'

interface Named {
  about: string
  /** It changes what is kept: it continues to its end, though no one reads what it says. */
  finishes?: true
  load: () => Promise<Command>
}

export const commands: Record<string, Named> = {
  chat: { about: 'chat in the terminal', load: async () => (await import('./commands/chat.ts')).chat },
  log: { about: 'list conversations, or show one', load: async () => (await import('./commands/log.ts')).log },
  inspect: {
    about: 'show the next request and why it looks that way',
    load: async () => (await import('./commands/inspect.ts')).inspect,
  },
  usage: {
    about: 'show tokens and cost by day, provider and model',
    load: async () => (await import('./commands/usage.ts')).usage,
  },
  models: {
    about: 'list models with context window and price',
    load: async () => (await import('./commands/models.ts')).models,
  },
  agent: {
    about: 'list, check and run agents defined in YAML files',
    load: async () => (await import('./commands/agent.ts')).agent,
  },
  config: {
    about: 'validate synapse.yaml and show the resulting configuration',
    load: async () => (await import('./commands/config.ts')).config,
  },
  trust: {
    about: 'trust the synapse.yaml, agents and tools of a folder',
    finishes: true,
    load: async () => (await import('./commands/trust.ts')).trust,
  },
  convert: {
    about: 'convert a transcript to a request for any provider',
    load: async () => (await import('./commands/convert.ts')).convert,
  },
  sessions: {
    about: 'list the sessions of every coding agent on this machine',
    load: async () => (await import('./commands/sessions.ts')).sessions,
  },
  carry: {
    about: 'continue a session in another coding agent',
    finishes: true,
    load: async () => (await import('./commands/carry.ts')).carry,
  },
  check: {
    about: 'check what a provider would refuse in a transcript, and why',
    load: async () => (await import('./commands/check.ts')).check,
  },
  providers: {
    about: 'list providers and what they support',
    load: async () => (await import('./commands/providers.ts')).providers,
  },
  probe: {
    about: 'check a real service against what Synapse expects, with your key',
    load: async () => (await import('./commands/probe.ts')).probe,
  },
  serve: {
    about: 'serve the chat page and the HTTP API',
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  run: {
    about: 'run a coding agent or SDK program on any model',
    load: async () => (await import('./commands/run.ts')).run,
  },
  keys: { about: 'manage API keys for the server', load: async () => (await import('./commands/keys.ts')).keys },
  search: {
    about: 'search all conversations',
    load: async () => (await import('./commands/search.ts')).search,
  },
  import: {
    about: 'import conversations from an export or another format',
    finishes: true,
    load: async () => (await import('./commands/import.ts')).importing,
  },
  export: {
    about: 'export a conversation to a file',
    load: async () => (await import('./commands/export.ts')).exporting,
  },
  delete: {
    about: 'delete a conversation and all its data',
    finishes: true,
    load: async () => (await import('./commands/delete.ts')).deleting,
  },
  doctor: {
    about: 'check the store for damage and repair it',
    finishes: true,
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  migrate: {
    about: 'upgrade the store to the format of this version',
    load: async () => (await import('./commands/migrate.ts')).migrate,
  },
  emulate: {
    about: 'emulate the APIs of all providers on loopback, for tests',
    load: async () => (await import('./commands/emulate.ts')).emulate,
  },
  completion: {
    about: 'shell completion for bash, zsh or fish',
    load: async () => (await import('./commands/completion.ts')).completion,
  },
}

export const help = `synapse: one conversation, any model, nothing lost

  synapse "What time is it?"       ask once (also: echo "..." | synapse)
  synapse                          chat in the terminal

Commands
${Object.entries(commands)
  .map(([name, { about }]) => `  ${name.padEnd(31)}  ${about}`)
  .join('\n')}

Options for questions and chats
  -m, --model MODEL                the model, such as openai/gpt-5.6 or gpt-5.6 (SYNAPSE_MODEL)
  -s, --system TEXT                the system prompt
  -c, --continue                   continue the last conversation
      --conversation ID            continue this conversation
      --resume                     continue an interrupted or waiting run, without a question
      --agent NAME                 use this agent: its model, system prompt and tools
      --offline                    use the built-in emulator, even if there are API keys
  -f, --fragment FILE              put a text file before the question (repeatable)
  -a, --attach FILE                attach an image, a PDF or audio (repeatable)
  -t, --tool NAME                  offer only this tool (repeatable)
  -T, --no-tools                   offer no tools
  -y, --yes                        approve every tool call
  -o, --option KEY=VALUE           temperature, maxOutput, effort, ... (repeatable)
      --policy NAME                how a long history is shortened: ${presetNames.join(', ')}, or settings as JSON
      --protocol WIRE              use one of the provider's other APIs
      --json                       print every event as a line of JSON (questions only)
      --db FILE                    database file or postgres:// URL (SYNAPSE_DB)
      --config FILE                use this synapse.yaml (SYNAPSE_CONFIG)
      --no-config                  ignore every synapse.yaml
  -h, --help     -V, --version
`

export async function main(argv: string[]): Promise<void> {
  const named = commandNamed(argv[0])
  let left: number | undefined
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (left !== undefined || (named?.finishes && error.code === 'EPIPE')) return
    // Who reads only the first lines, as head does, has what they want.
    left = error.code === 'EPIPE' ? exitCode.ok : exitCode.failed
    if (left !== exitCode.ok) printError(`synapse: The output cannot be written: ${error.message}.\n`)
    // An answer that is under way is stopped as by Ctrl-C, which keeps what there is of it.
    if (!process.emit('SIGINT', 'SIGINT')) process.exit(left)
  })
  // What is told beside the answer may go unread.
  process.stderr.on('error', () => {})
  process.on('unhandledRejection', leftBehind)
  process.on('uncaughtException', leftBehind)
  const code = await run(argv, named)
  process.exitCode = left ?? code
  await Promise.all([process.stdout, process.stderr].map(written))
  // What a tool of the user's has left open, or continues with though it was stopped, does not hold up the end.
  setTimeout(() => process.exit(), 1000).unref()
}

/** What a tool started and did not wait for may fail after its result is there: no reason to end what else continues. */
function leftBehind(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  printError(`synapse: Warning: something failed that no one waits for, such as a tool's own work: ${message}\n`)
}

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()))
}

function commandNamed(name: string | undefined): Named | undefined {
  return name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined
}

async function run(argv: string[], named: Named | undefined): Promise<number> {
  const [first, ...rest] = argv
  if (first === '--version' || first === '-V') return say(version())
  if (first === '--help' || first === '-h' || first === 'help') return say(help.trimEnd())
  try {
    if (named) {
      const command = await named.load()
      // What comes after "--" is for somebody else.
      const own = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest
      return own.includes('--help') || own.includes('-h') ? say(command.usage) : await command.run(rest)
    }
    const meant = mistyped(first)
    if (meant !== undefined) {
      const ask = `To ask a model, quote the whole question, or write: synapse -- ${first}`
      throw badInput(`There is no command "${first}". Did you mean ${meant}? ${ask}`)
    }
    const { ask } = await import('./commands/ask.ts')
    return await ask.run(argv)
  } catch (error) {
    const failure = asFailure(error)
    printError(`synapse: ${neutral(failure.message)}\n`)
    return codes[failure.kind] ?? exitCode.failed
  }
}

/** A command that is nearly called so. A question is paid for, so a slip of the fingers must not become one. */
function mistyped(first: string | undefined): string | undefined {
  if (first === undefined || !/^[a-z-]{3,}$/i.test(first)) return undefined
  const word = first.toLowerCase()
  let nearest: { name: string; distance: number } | undefined
  for (const name of Object.keys(commands)) {
    const distance = editDistance(word, name)
    // "what" is no slip for "chat": short words that begin otherwise are words of their own.
    const most = word[0] === name[0] ? Math.min(2, Math.floor(word.length / 2)) : word.length < 5 ? 0 : 1
    if (distance <= most && (!nearest || distance < nearest.distance)) nearest = { name, distance }
  }
  return nearest?.name
}

const codes: Partial<Record<ErrorKind, number>> = { 'bad-input': exitCode.badInput, aborted: exitCode.interrupted }

function say(text: string): number {
  print(`${text}\n`)
  return exitCode.ok
}
