// One question and its answer, with approvals in between.

import type { RunOutcome } from '../core/event.ts'
import type { UserMessage } from '../core/message.ts'
import type { Run } from '../run/conversation.ts'
import { exitCode } from './command.ts'
import { printError, printJson } from './print.ts'
import { createView } from './show.ts'
import { type ChatSession, openChatSession } from './chat-session.ts'
import type { SessionFlags } from './session-flags.ts'
import { styleFor, widthOf } from './terminal.ts'
import { wrapText } from './wrap.ts'

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
      tell('Nothing to resume.')
      return exitCode.ok
    }
    if (!question && !(await askApproval())) return exitCode.waiting
    run = question ? conversation.send(question) : conversation.resume()
    const requests: string[] = []
    for (;;) {
      requests.push(...(await (json ? printEvents(run) : print(run, values.plain))))
      const { outcome } = await run.ended
      if (outcome === 'waiting') {
        if (!(await askApproval())) return exitCode.waiting
        run = conversation.resume()
        continue
      }
      if (!json && process.stderr.isTTY) await printCost(session, requests)
      return codes[outcome] ?? exitCode.ok
    }
  } finally {
    process.off('SIGINT', interrupt)
    await session.close()
  }

  /** Whether no call waits for approval any more. A script that reads events is not asked: it can answer later. */
  async function askApproval(): Promise<boolean> {
    if (json && !values.yes) return (await conversation.approvals()).length === 0
    const { answerApprovals } = await import('./approvals.ts')
    return answerApprovals(session, values.yes === true)
  }
}

const codes: Partial<Record<RunOutcome, number>> = {
  cancelled: exitCode.interrupted,
  failed: exitCode.failed,
  'storage-full': exitCode.failed,
}

/** Returns whether the last run has left something unfinished. */
async function introduce(session: ChatSession): Promise<boolean> {
  const { unfinishedRun } = await import('./unfinished-run.ts')
  const open = await unfinishedRun(session)
  for (const line of [session.whyOffline, open]) if (line !== undefined) tell(line)
  return open !== undefined
}

/** Returns the requests that were made. */
async function print(run: Run, plain: boolean | undefined): Promise<string[]> {
  // A pipe gets only the answer; reasoning is shown only on a terminal.
  const style = styleFor(process.stderr, process.env)
  const view = createView({ out: process.stdout, err: process.stderr, style, reasoning: process.stderr.isTTY, plain })
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

async function printCost(session: ChatSession, requests: readonly string[]): Promise<void> {
  const { costLine } = await import('./cost-line.ts')
  const line = await costLine(session, requests)
  if (line !== '') tell(line)
}

function tell(line: string): void {
  printError(`${styleFor(process.stderr, process.env).dim(wrapText(line, widthOf(process.stderr)))}\n`)
}
