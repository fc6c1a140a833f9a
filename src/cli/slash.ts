// Slash commands of a chat.

import type { CompleterResult } from 'node:readline'
import { nearestName } from '../core/edit-distance.ts'
import { asFailure } from '../core/error.ts'
import { branchCommands } from './slash/branch-commands.ts'
import { contextCommands } from './slash/context-commands.ts'
import type { SlashContext, SlashCommand, SlashCommands } from './slash/context.ts'
import { logCommands } from './slash/log-commands.ts'
import { modelCommands } from './slash/model-commands.ts'
import { neutral } from './terminal.ts'
import { wrapText } from './wrap.ts'

const commands: SlashCommands = {
  ...modelCommands,
  ...contextCommands,
  ...branchCommands,
  ...logCommands,
  help: { about: 'this list', run: async (_, context) => context.say(slashHelp(context.width())) },
  quit: { about: 'leave (also Ctrl-D)', run: async () => 'quit' },
}

export async function runSlash(line: string, context: SlashContext): Promise<'quit' | void> {
  const [, name = '', rest = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(line.trimEnd()) ?? []
  const command = commandNamed(name)
  if (!command) {
    const nearest = nearestName(name, Object.keys(commands))
    const suggestion = nearest === undefined ? '' : ` Did you mean /${nearest}?`
    return context.say(`Unknown command /${neutral(name)}.${suggestion} /help lists the commands.`)
  }
  try {
    return await command.run(rest, context)
  } catch (error) {
    context.say(context.style.red(neutral(asFailure(error).message)))
  }
}

export function slashHelp(width: number): string {
  const all = Object.entries(commands).map(([name, { takes, about }]) => ({ head: `/${name} ${takes ?? ''}`, about }))
  const widest = Math.max(...all.map(({ head }) => head.length))
  return all.map(({ head, about }) => wrapText(about, width, `  ${head.padEnd(widest)}  `)).join('\n')
}

/** Completion: names of commands, and what may follow them. */
export async function completeSlash(line: string, context: SlashContext): Promise<CompleterResult> {
  if (!line.startsWith('/')) return [[], line]
  const [, name = '', blank = '', rest = ''] = /^\/(\S*)(\s*)(.*)$/.exec(line) ?? []
  if (blank === '') {
    const names = Object.keys(commands).filter((command) => command.startsWith(name))
    return [names.map((command) => `/${command}${commands[command]?.takes ? ' ' : ''}`), line]
  }
  const choices = (await commandNamed(name)?.complete?.(context)) ?? []
  // The line editor prints them unchanged, so a name with control characters is not offered.
  const fitting = choices.filter((choice) => choice.startsWith(rest) && neutral(choice) === choice)
  // A list of hundreds is useless: completion up to the next slash is enough.
  const short = [...new Set(fitting.map((choice) => upToSlash(choice, rest.length)))]
  return [fitting.length > 40 ? short : fitting, rest]
}

function upToSlash(choice: string, from: number): string {
  const at = choice.indexOf('/', from)
  return at < 0 ? choice : choice.slice(0, at + 1)
}

function commandNamed(name: string): SlashCommand | undefined {
  return Object.hasOwn(commands, name) ? commands[name] : undefined
}
