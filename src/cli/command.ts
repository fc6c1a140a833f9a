// A command: one file, one job, loaded only when it is used.

import { readFileSync } from 'node:fs'
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { nearestName } from '../core/edit-distance.ts'
import { badInput, errorMessage } from '../core/error.ts'

export interface Command {
  usage: string
  /** Returns the exit code. A thrown SynapseError of kind bad-input ends with 2, aborted with 130, any other error with 1. */
  run(argv: string[]): Promise<number>
}

/**
 * `waiting`: a call waits for approval, and the terminal is not interactive. `notStarted` and `notFound`: the program of
 * `synapse run`, as from a shell.
 */
export const exitCode = {
  ok: 0,
  failed: 1,
  badInput: 2,
  waiting: 3,
  notStarted: 126,
  notFound: 127,
  interrupted: 130,
} as const

/** Flags and words of a command line; an unknown flag, or more than `maxPositionals` words, is one clear sentence. */
export function parse<O extends ParseArgsOptionsConfig>(
  argv: string[],
  maxPositionals: number,
  options: O,
): ReturnType<typeof parseArgs<{ args: string[]; options: O; allowPositionals: true }>> {
  const parsed = parsedArgs(argv, options)
  const tooMuch = parsed.positionals[maxPositionals]
  if (tooMuch === undefined) return parsed
  throw badInput(`Unexpected argument "${tooMuch}". See --help.`)
}

function parsedArgs<O extends ParseArgsOptionsConfig>(args: string[], options: O) {
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    const [problem = '', ...more] = errorMessage(error).split('\n')
    const [, unknown = ''] = /^Unknown option '--([^']+)'/.exec(problem) ?? []
    const nearest = nearestName(unknown, Object.keys(options))
    // The last line of Node's message says what to write instead.
    const instead = nearest === undefined ? more.at(-1) : `Did you mean --${nearest}?`
    const sentence = problem.split('. ', 1)[0]?.replace(/\.$/, '')
    throw badInput(`${sentence}. ${instead === undefined ? '' : `${instead} `}--help lists the options.`)
  }
}

/** How a user starts Synapse: from the source of a clone, or installed. */
export const commandName = import.meta.url.endsWith('.ts') ? 'npm run synapse --' : 'synapse'

export function version(): string {
  const file = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(file) as { version: string }).version
}
