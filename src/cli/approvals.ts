// Calls that a person must allow, at the terminal.

import type { Conversation } from '../run/conversation.ts'
import { neutral } from './terminal.ts'

/**
 * Whether all calls that wait were answered. Where no one can be asked they are denied, and the model is informed; a
 * person who does not answer finds them again later.
 */
export async function answerApprovals(conversation: Conversation, allowAll: boolean): Promise<boolean> {
  for (const { call, argsHash } of await conversation.approvals()) {
    const allowed = allowAll || (await asked(`${call.name} ${JSON.stringify(call.input)}`))
    if (allowed === undefined) return false
    if (allowed) await conversation.approve(call.callId, { argsHash })
    else await conversation.deny(call.callId, process.stdin.isTTY ? undefined : 'nobody was there to allow it')
  }
  return true
}

async function asked(call: string): Promise<boolean | undefined> {
  if (!process.stdin.isTTY) return false
  const { yesOrNo } = await import('./yes-or-no.ts')
  return yesOrNo(`${neutral(call)}\nAllow it? [y/N] `)
}
