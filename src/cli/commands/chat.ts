// `synapse chat`: a conversation in the terminal. Ctrl-C stops the answer; pressed again it leaves.

import { createInterface } from 'node:readline'
import type { Run } from '../../run/conversation.ts'
import { exitCode, parse, type Command } from '../command.ts'
import { runSlash } from '../slash.ts'
import { showing } from '../show.ts'
import { openTalk, talkOptions, type Talk } from '../talk.ts'
import { styleFor, type Style } from '../terminal.ts'

export const chat: Command = {
  usage: `synapse chat [options]

  /model PROVIDER/MODEL   go on with another model
  /history                what was said so far
  /inspect                the request that would be sent now
  /quit                   leave (also Ctrl-D, or Ctrl-C twice)`,

  async run(argv) {
    const { values } = parse(argv, talkOptions)
    const talk = await openTalk(values)
    try {
      return await converse(talk)
    } finally {
      await talk.house.close()
    }
  },
}

async function converse(talk: Talk): Promise<number> {
  const style = styleFor(process.stdout, process.env)
  const reader = createInterface({
    input: process.stdin,
    output: process.stdout,
    prompt: style.bold('you> '),
    terminal: process.stdin.isTTY && process.stdout.isTTY,
  })
  const { whyOffline } = talk
  process.stdout.write(`${style.dim(`${talk.settings.model}. /help lists what you can type.`)}\n`)
  if (whyOffline) process.stdout.write(`${style.dim(whyOffline)}\n`)

  let running: Run | undefined
  let code: number = exitCode.ok
  reader.on('SIGINT', () => {
    if (running) {
      running.abort()
      running = undefined
    } else {
      code = exitCode.interrupted
      reader.close()
    }
  })

  reader.prompt()
  for await (const line of reader) {
    const text = line.trim()
    if (text.startsWith('/')) {
      if ((await runSlash(text, talk, style)) === 'quit') break
    } else if (text !== '') {
      running = talk.conversation.send(text, talk.settings)
      await answer(running, style)
      running = undefined
    }
    reader.prompt()
  }
  reader.close()
  return code
}

async function answer(run: Run, style: Style): Promise<void> {
  const view = showing({ out: process.stdout, err: process.stdout, style })
  for await (const event of run) view.show(event)
  view.end()
}
