// The command line: finds the command and loads it. Nothing else is loaded before the command is known, because the
// start time is noticeable.

import { asFailure, badInput, errorMessage, type ErrorKind } from '../core/error.ts'
import { editDistance } from '../core/edit-distance.ts'
import { presetNames } from '../settings/policy.ts'
import { type Command, exitCode } from './command.ts'
import { print, printError } from './print.ts'
import { neutral } from './terminal.ts'

interface Named {
  about: string
  /** It changes stored data: it continues to its end even if its output is not read. */
  finishes?: true
  load: () => Promise<Command>
}

/** In the order and under the headings of the help. */
const sections: Record<string, Record<string, Named>> = {
  Conversations: {
    chat: { about: 'chat in the terminal', load: async () => (await import('./commands/chat.ts')).chat },
    compare: {
      about: 'ask several models at once and see their answers side by side',
      load: async () => (await import('./commands/compare.ts')).compare,
    },
    log: { about: 'list conversations, or show one', load: async () => (await import('./commands/log.ts')).log },
    search: {
      about: 'search all conversations',
      load: async () => (await import('./commands/search.ts')).search,
    },
    inspect: {
      about: 'show the next request and why it looks that way',
      load: async () => (await import('./commands/inspect.ts')).inspect,
    },
    usage: {
      about: 'show tokens and cost by day, provider and model',
      load: async () => (await import('./commands/usage.ts')).usage,
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
  },
  'Models and keys': {
    models: {
      about: 'list models with context window and price',
      load: async () => (await import('./commands/models.ts')).models,
    },
    providers: {
      about: 'list providers and what they support',
      load: async () => (await import('./commands/providers.ts')).providers,
    },
    auth: { about: 'store the API key of a provider', load: async () => (await import('./commands/auth.ts')).auth },
    probe: {
      about: 'check a real service against what Synapse expects, with your key',
      load: async () => (await import('./commands/probe.ts')).probe,
    },
  },
  'Agents and trust': {
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
  },
  'Server and other clients': {
    serve: {
      about: 'serve the chat page and the HTTP API',
      load: async () => (await import('./commands/serve.ts')).serve,
    },
    run: {
      about: 'run a coding agent or SDK program on any model',
      load: async () => (await import('./commands/run.ts')).run,
    },
    keys: { about: 'manage API keys for the server', load: async () => (await import('./commands/keys.ts')).keys },
  },
  'Sessions of coding agents': {
    sessions: {
      about: 'list the sessions of every coding agent on this machine',
      load: async () => (await import('./commands/sessions.ts')).sessions,
    },
    carry: {
      about: 'continue a session in another coding agent',
      finishes: true,
      load: async () => (await import('./commands/carry.ts')).carry,
    },
  },
  'Transcripts and tests': {
    convert: {
      about: 'convert a transcript to a request for any provider',
      load: async () => (await import('./commands/convert.ts')).convert,
    },
    check: {
      about: 'check what a provider would refuse in a transcript, and why',
      load: async () => (await import('./commands/check.ts')).check,
    },
    emulate: {
      about: 'emulate the APIs of all providers on loopback, for tests',
      load: async () => (await import('./commands/emulate.ts')).emulate,
    },
  },
  Maintenance: {
    doctor: {
      about: 'check the store for damage and repair it',
      finishes: true,
      load: async () => (await import('./commands/doctor.ts')).doctor,
    },
    migrate: {
      about: 'upgrade the store to the format of this version',
      load: async () => (await import('./commands/migrate.ts')).migrate,
    },
    completion: {
      about: 'shell completion for bash, zsh or fish',
      load: async () => (await import('./commands/completion.ts')).completion,
    },
  },
}

export const commands: Record<string, Named> = Object.assign({}, ...Object.values(sections))

export const help = `synapse: one conversation, any model, nothing lost

  synapse "What time is it?"       ask once (also: echo "..." | synapse)
  synapse                          chat in the terminal

${Object.entries(sections)
  .map(([heading, named]) => [heading, ...Object.entries(named).map(lineOf)].join('\n'))
  .join('\n\n')}

Options for questions and chats
  -m, --model MODEL                the model, such as openai/gpt-5.6 or gpt-5.6 (SYNAPSE_MODEL)
  -s, --system TEXT                the system prompt
  -c, --continue [N]               continue the last conversation, or that of row N of "synapse log"
      --conversation ID            continue this conversation (an id, the beginning of it, or a row)
      --resume                     continue an interrupted or waiting run, without a question
      --agent NAME                 use this agent: its model, system prompt and tools
      --offline                    use the built-in emulator, even if there are API keys
  -p, --prompt NAME [KEY=VALUE]    ask with this prompt of the folder prompts/ (also -t, --template)
  -f, --fragment FILE              put a text file before the question (repeatable)
  -a, --attach FILE                attach an image, a PDF or audio (repeatable)
  -T, --tool NAME                  offer this tool, or all of an MCP server (repeatable); /tools lists them
      --no-tools                   offer no tools
      --folder DIR                 the folder of the file and command tools; the current one by default
  -y, --yes                        approve every tool call
  -o, --option KEY=VALUE           temperature, maxOutput, effort, ... (repeatable)
      --policy NAME                how a long history is shortened: ${presetNames.join(', ')}, or settings as JSON
      --protocol WIRE              use one of the provider's other APIs
      --plain                      print the answer as plain text, without rendering Markdown
      --json                       print every event as a line of JSON (questions only)
      --db FILE                    database file or postgres:// URL (SYNAPSE_DB)
      --config FILE                use this synapse.yaml (SYNAPSE_CONFIG)
      --no-config                  ignore every synapse.yaml
  -h, --help     -V, --version

"synapse COMMAND --help" explains a command.
`

function lineOf([name, { about }]: [string, Named]): string {
  return `  ${name.padEnd(31)}  ${about}`
}

export async function main(argv: string[]): Promise<void> {
  const named = commandNamed(argv[0])
  let exitedWith: number | undefined
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (exitedWith !== undefined || (named?.finishes && error.code === 'EPIPE')) return
    // A reader such as `head` may close the pipe early; that is not an error.
    exitedWith = error.code === 'EPIPE' ? exitCode.ok : exitCode.failed
    if (exitedWith !== exitCode.ok) printError(`synapse: The output cannot be written: ${error.message}.\n`)
    // An active answer is stopped as by Ctrl-C, which saves the partial reply.
    if (!process.emit('SIGINT', 'SIGINT')) process.exit(exitedWith)
  })
  // Messages on stderr may go unread.
  process.stderr.on('error', () => {})
  process.on('unhandledRejection', warnUnhandled)
  process.on('uncaughtException', warnUnhandled)
  const code = await run(argv, named)
  process.exitCode = exitedWith ?? code
  await Promise.all([process.stdout, process.stderr].map(flush))
  // Handles and timers that a tool has left open do not delay the exit.
  setTimeout(() => process.exit(), 1000).unref()
}

/** A promise that a tool did not await may fail after its result: no reason to end everything else. */
function warnUnhandled(error: unknown): void {
  const message = errorMessage(error)
  printError(`synapse: Warning: an error in the background was not handled, for example in a tool: ${message}\n`)
}

function flush(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()))
}

function commandNamed(name: string | undefined): Named | undefined {
  return name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined
}

async function run(argv: string[], named: Named | undefined): Promise<number> {
  const [first, ...rest] = argv
  if (first === '--help' || first === '-h') return say(help.trimEnd())
  try {
    if (first === 'help') return say(await helpFor(rest[0]))
    if (named) {
      const command = await named.load()
      // What comes after "--" is for another program.
      const ownArguments = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest
      return ownArguments.includes('--help') || ownArguments.includes('-h')
        ? say(command.usage)
        : await command.run(rest)
    }
    const suggestion = suggestionFor(first) ?? (argv.length === 1 ? await subCommandOf(first) : undefined)
    if (suggestion !== undefined) {
      const ask = `To ask a model, quote the whole question, or write: synapse -- ${first}`
      throw badInput(`Unknown command "${first}". Did you mean ${suggestion}? ${ask}`)
    }
    const { ask } = await import('./commands/ask.ts')
    return await ask.run(argv)
  } catch (error) {
    const failure = asFailure(error)
    printError(`synapse: ${neutral(failure.message)}\n`)
    return codes[failure.kind] ?? exitCode.failed
  }
}

async function helpFor(name: string | undefined): Promise<string> {
  if (name === undefined) return help.trimEnd()
  const command = commandNamed(name)
  if (command) return (await command.load()).usage
  const suggestion = suggestionFor(name)
  throw badInput(
    `Unknown command "${name}". ${suggestion ? `Did you mean ${suggestion}?` : '"synapse --help" lists them.'}`,
  )
}

/** A command with a similar name. A question costs money, so a typo must not become one. */
function suggestionFor(first: string | undefined): string | undefined {
  if (first === undefined || !/^[a-z-]{3,}$/i.test(first)) return undefined
  const word = first.toLowerCase()
  let nearest: { name: string; distance: number } | undefined
  for (const name of Object.keys(commands)) {
    const distance = editDistance(word, name)
    // "what" is not a typo of "chat": short words with another beginning are different words.
    const limit = word[0] === name[0] ? Math.min(2, Math.floor(word.length / 2)) : word.length < 5 ? 0 : 1
    if (distance <= limit && (!nearest || distance < nearest.distance)) nearest = { name, distance }
  }
  return nearest?.name
}

/** The second word of a command, alone, such as `configure`. */
async function subCommandOf(word: string | undefined): Promise<string | undefined> {
  if (word === undefined || !/^[a-z]+$/.test(word)) return undefined
  const { subCommands } = await import('./complete.ts')
  const matches = Object.entries(subCommands).filter(([, words]) => words.includes(word))
  return matches.length === 0 ? undefined : matches.map(([command]) => `${command} ${word}`).join(' or ')
}

const codes: Partial<Record<ErrorKind, number>> = { 'bad-input': exitCode.badInput, aborted: exitCode.interrupted }

function say(text: string): number {
  print(`${text}\n`)
  return exitCode.ok
}
