// Approvals at the terminal: once, for this conversation, or always for this tool; or a denial, with a reason for the
// model.

import { resolve } from 'node:path'
import { fileContent, callDiff } from '../run/tools/call-diff.ts'
import type { Approval } from '../run/tools/approval.ts'
import { grantTool } from '../run/tools/grants.ts'
import type { ChatSession } from './chat-session.ts'
import { diffLines } from './inspect/render.ts'
import { printError } from './print.ts'
import { neutral, neutralLine, styleFor, type Style } from './terminal.ts'

export const allowQuestion = 'Allow? [y]es, for this [c]onversation, [a]lways, or no with a reason: '

/**
 * Whether all waiting calls were answered. If not interactive they are denied, and the model gets the reason; without an answer
 * they keep waiting.
 */
export async function answerApprovals(session: ChatSession, allowAll: boolean): Promise<boolean> {
  const { conversation } = session
  for (const approval of await conversation.approvals()) {
    if (allowAll) await conversation.approve(approval.call.callId, approval)
    else if (!process.stdin.isTTY)
      await conversation.deny(
        approval.call.callId,
        'the terminal is not interactive, so the call could not be approved',
      )
    else {
      const { askLine } = await import('./yes-or-no.ts')
      const lines = callLines(approval, styleFor(process.stderr, process.env))
      printError(`${lines.join('\n')}\n`)
      const typed = await askLine(allowQuestion)
      if (typed === undefined) return false
      await settleCall(session, approval, typed)
    }
  }
  return true
}

/** The typed text as an answer. */
export async function settleCall(session: ChatSession, { call, argsHash }: Approval, typed: string): Promise<void> {
  const { conversation, local } = session
  const word = typed.trim().toLowerCase()
  const scope = ['c', 'conversation'].includes(word) ? 'conversation' : ['a', 'always'].includes(word) ? 'always' : ''
  if (scope === '' && word !== 'y' && word !== 'yes') {
    await conversation.deny(call.callId, typed.trim().replace(/^no?\b[\s,:;.-]*/i, ''))
    return
  }
  await conversation.approve(call.callId, { argsHash })
  const source = session.sources.get(call.name)
  if (scope === '' || source === undefined) return
  const place = scope === 'conversation' ? { conversationId: conversation.id } : {}
  await grantTool(local.store, local.owner, { tool: call.name, source, ...place })
}

/** The whole call, unclipped: an edit or a write as a diff, everything else with its arguments. */
export function callLines({ call }: Approval, style: Style): string[] {
  const head = style.yellow('Allow this call?')
  const diff = callDiff(call, (path) => fileContent(resolve(path)))
  if (!diff) return [`${head} ${neutral(call.name)} ${neutral(JSON.stringify(call.input))}`]
  return [`${head} ${neutral(call.name)} ${neutralLine(diff.path)}`, ...diffLines(diff.lines, Infinity, style)]
}
