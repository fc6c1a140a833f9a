// One question and its answer, with the calls that a person must allow in between.

import type { RunOutcome } from '../core/event.ts'
import type { UserMessage } from '../core/message.ts'
import type { Run } from '../run/conversation.ts'
import { answerApprovals } from './approvals.ts'
import { exitCode } from './command.ts'
import { printError, printJson } from './print.ts'
import { showing } from './show.ts'
import { openChatSession, type ChatSession } from './chat-session.ts'
import type { SessionFlags } from './session-flags.ts'
import { styleFor } from './terminal.ts'

export interface OnceValues extends SessionFlags {
  /** Approve every tool call. */
  yes?: boolean | undefined
  json?: boolean | undefined
}

/** Without a question, the conversation continues where its last run ended. */
export async function answerOnce(values: OnceValues, question?: UserMessage['parts']): Promise<number> {
  const session = await openChatSession(values)
  const { conversation } = session
  const json = values.json === true
  let run: Run | undefined
  const interrupt = () => run?.abort()
  process.on('SIGINT', interrupt)
  try {
    const isOpen = json || (await introduce(session))
    if (!question && !isOpen) {
      tell('Nothing was left open, so there is nothing to continue with.')
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
      if (!json && process.stderr.isTTY) await tellCost(session, requests)
      return codes[outcome] ?? exitCode.ok
    }
  } finally {
    process.off('SIGINT', interrupt)
    await session.close()
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
async function introduce(session: ChatSession): Promise<boolean> {
  const { unfinishedRun } = await import('./unfinished-run.ts')
  const open = await unfinishedRun(session)
  for (const line of [session.whyOffline, open]) if (line !== undefined) tell(line)
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

async function tellCost(session: ChatSession, requests: readonly string[]): Promise<void> {
  const { costLine } = await import('./cost-line.ts')
  const line = await costLine(session, requests)
  if (line !== '') tell(line)
}

function tell(line: string): void {
  printError(`${styleFor(process.stderr, process.env).dim(line)}\n`)
}
