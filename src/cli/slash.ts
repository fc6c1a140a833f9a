// What can be typed in a chat beside talk: commands that begin with a slash.

import { asFailure } from '../core/error.ts'
import { preview } from './preview.ts'
import { messageLines } from './message-lines.ts'
import type { Talk } from './talk.ts'
import { neutral, type Style } from './terminal.ts'
import { checkModel } from './who-answers.ts'

const commands: Record<
  string,
  { about: string; run(words: string[], talk: Talk, style: Style): Promise<'quit' | string> }
> = {
  model: {
    about: 'PROVIDER/MODEL: go on with another model',
    async run([model], talk) {
      if (!model) return talk.settings.model
      await checkModel(model, { offline: talk.offline, env: process.env })
      talk.settings.model = model
      const { settings } = await talk.conversation.info()
      await talk.house.store.updateConversation(talk.house.owner, talk.conversation.id, {
        settings: { ...settings, model },
      })
      return `Going on with ${model}.`
    },
  },
  history: {
    about: 'what was said so far',
    async run(_, talk, style) {
      const entries = await talk.conversation.history()
      return entries.flatMap((entry) => messageLines(entry.message, style)).join('\n') || 'Nothing was said yet.'
    },
  },
  inspect: {
    about: 'the request that would be sent now, and what differs from the log',
    run: async (_, talk) => neutral(await preview(talk)),
  },
  quit: { about: 'leave', run: async () => 'quit' },
}

export async function runSlash(line: string, talk: Talk, style: Style): Promise<'quit' | undefined> {
  const [name = '', ...words] = line.slice(1).split(/\s+/)
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) {
    const known = Object.entries(commands).map(([key, { about }]) => `  /${key.padEnd(10)} ${about}`)
    const unknown = name === 'help' ? [] : [`There is no /${neutral(name)}. These are there:`]
    process.stdout.write(`${[...unknown, ...known].join('\n')}\n`)
    return undefined
  }
  try {
    const said = await command.run(words, talk, style)
    if (said === 'quit') return 'quit'
    process.stdout.write(`${said}\n`)
  } catch (error) {
    process.stdout.write(`${style.red(neutral(asFailure(error).message))}\n`)
  }
  return undefined
}
