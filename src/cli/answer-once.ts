// One question and its answer, with the calls that a person must allow in between.

import type { RunOutcome } from '../core/event.ts'
import type { UserMessage } from '../core/message.ts'
import type { Run } from '../run/conversation.ts'
import { answerApprovals } from './approvals.ts'
import { exitCode } from './command.ts'
import { printError, printJson } from './print.ts'
import { showing } from './show.ts'
import { openTalk, type Talk } from './talk.ts'
import type { TalkValues } from './talk-options.ts'
import { styleFor } from './terminal.ts'

export interface OnceValues extends TalkValues {
  /** Allow every call that wants to be allowed. */
  yes?: boolean | undefined
  json?: boolean | undefined
}

/** Without a question, the conversation goes on where its last run ended. */
export async function answerOnce(values: OnceValues, question?: UserMessage['parts']): Promise<number> {
  const talk = await openTalk(values)
  const { conversation } = talk
  const json = values.json === true
  let run: Run | undefined
  const interrupt = () => run?.abort()
  process.on('SIGINT', interrupt)
  try {
    const isOpen = json || (await introduce(talk))
    if (!question && !isOpen) {
      tell('Nothing was left open, so there is nothing to go on with.')
      return exitCode.ok
    }
    if (!question && !(await allowed())) return exitCode.waiting
    run = question ? conversation.send(question) : conversation.resume()
    const requests: string[] = []
    for (;;) {
      requests.push(...(await (json ? printEvents(run) : print(run))))
      const { outcome } = await run.ended
      if (outcome === 'waiting') {
        if (!(await allowed())) return exitCode.waiting
        run = conversation.resume()
        continue
      }
      if (!json && process.stderr.isTTY) await tellCost(talk, requests)
      return codes[outcome] ?? exitCode.ok
    }
  } finally {
    process.off('SIGINT', interrupt)
    await talk.close()
  }

  /** Whether nothing waits any more. A script that reads events answers by itself, and in its own time. */
  async function allowed(): Promise<boolean> {
    if (json && !values.yes) return (await conversation.approvals()).length === 0
    return answerApprovals(conversation, values.yes === true)
  }
}

const codes: Partial<Record<RunOutcome, number>> = {
  cancelled: exitCode.interrupted,
  failed: exitCode.failed,
  'storage-full': exitCode.failed,
}

/** Gives whether the last run has left something behind. */
async function introduce(talk: Talk): Promise<boolean> {
  const { leftOpen } = await import('./left-open.ts')
  const open = await leftOpen(talk)
  for (const line of [talk.whyOffline, open]) if (line !== undefined) tell(line)
  return open !== undefined
}

/** Gives the requests that were made. */
async function print(run: Run): Promise<string[]> {
  // Who pipes the answer on wants the answer; thoughts are for a person who watches.
  const style = styleFor(process.stderr, process.env)
  const view = showing({ out: process.stdout, err: process.stderr, style, reasoning: process.stderr.isTTY })
  const requests: string[] = []
  for await (const event of run) {
    if (event.type === 'request') requests.push(event.exchangeId)
    view.show(event)
  }
  view.end()
  return requests
}

async function printEvents(run: Run): Promise<string[]> {
  for await (const event of run) printJson(event)
  return []
}

async function tellCost(talk: Talk, requests: readonly string[]): Promise<void> {
  const { costLine } = await import('./cost-line.ts')
  const line = await costLine(talk, requests)
  if (line !== '') tell(line)
}

function tell(line: string): void {
  printError(`${styleFor(process.stderr, process.env).dim(line)}\n`)
}
