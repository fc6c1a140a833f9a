// What a command is: one file, one job, loaded only when it is asked for.

import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { badInput } from '../core/error.ts'

export interface Command {
  usage: string
  /** Returns the exit code. A thrown SynapseError of kind bad-input ends with 2, any other error with 1. */
  run(argv: string[]): Promise<number>
}

/** `waiting`: a call waits to be allowed, and nobody could be asked. */
export const exitCode = { ok: 0, failed: 1, badInput: 2, waiting: 3, interrupted: 130 } as const

/** Flags and words of a command line; a wrong flag is one clear sentence. */
export function parse<O extends ParseArgsOptionsConfig>(
  argv: string[],
  options: O,
): ReturnType<typeof parseArgs<{ args: string[]; options: O; allowPositionals: true }>> {
  try {
    return parseArgs({ args: argv, options, allowPositionals: true })
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    throw badInput(`${said.split('. ', 1)[0]}. "synapse --help" lists the options.`)
  }
}
