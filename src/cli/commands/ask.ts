// `synapse "…"`: one question, one answer. What is piped in is part of the question.

import { asFailure, badInput } from '../../core/error.ts'
import type { UserMessage } from '../../core/message.ts'
import type { Run } from '../../run/conversation.ts'
import { withFiles } from '../attachments.ts'
import { exitCode, parse, type Command } from '../command.ts'
import { showing } from '../show.ts'
import { openTalk, talkOptions, type Talk } from '../talk.ts'
import { styleFor, type Style } from '../terminal.ts'

export const ask: Command = {
  usage: 'synapse [options] "question"',

  async run(argv) {
    const { values, positionals } = parse(argv, talkOptions)
    const piped = process.stdin.isTTY ? '' : await readAll(process.stdin)
    const question = [positionals.join(' '), piped.trimEnd()].filter((text) => text.trim() !== '').join('\n\n')
    const parts = withFiles(question, values.fragment ?? [], values.attach ?? [])
    if (parts.length === 0) {
      if (!process.stdin.isTTY) throw badInput('There is no question: give one as an argument or through a pipe.')
      const { chat } = await import('./chat.ts')
      return chat.run(argv)
    }
    const talk = await openTalk(values)
    try {
      return await answer(talk, parts, values.json === true)
    } finally {
      await talk.house.close()
    }
  },
}

async function answer(talk: Talk, question: UserMessage['parts'], json: boolean): Promise<number> {
  const err = process.stderr
  const style = styleFor(err, process.env)
  if (talk.whyOffline && !json) err.write(`${style.dim(talk.whyOffline)}\n`)
  const run = talk.conversation.send(question)
  const interrupt = () => run.abort()
  process.once('SIGINT', interrupt)
  try {
    await (json ? printJson(run) : print(run, talk, style))
    const { outcome } = await run.ended
    return outcome === 'cancelled' ? exitCode.interrupted : outcome === 'failed' ? exitCode.failed : exitCode.ok
  } finally {
    process.off('SIGINT', interrupt)
  }
}

async function print(run: Run, talk: Talk, style: Style): Promise<void> {
  // Who pipes the answer on wants the answer; thoughts and costs are for a person who watches.
  const watched = process.stderr.isTTY
  const view = showing({ out: process.stdout, err: process.stderr, style, reasoning: watched })
  const requests: string[] = []
  for await (const event of run) {
    if (event.type === 'request') requests.push(event.exchangeId)
    view.show(event)
  }
  view.end()
  if (!watched) return
  const { costLine } = await import('../cost-line.ts')
  const line = await costLine(talk, requests)
  if (line !== '') process.stderr.write(`${style.dim(line)}\n`)
}

async function printJson(run: Run): Promise<void> {
  for await (const event of run) process.stdout.write(`${JSON.stringify(event)}\n`)
}

async function readAll(stream: NodeJS.ReadStream): Promise<string> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of stream) chunks.push(chunk as Buffer)
  } catch (error) {
    throw badInput(`What was piped in could not be read: ${asFailure(error).message}`)
  }
  return Buffer.concat(chunks).toString('utf8')
}
