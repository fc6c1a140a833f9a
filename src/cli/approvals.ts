// Calls that a person must allow, at the terminal.

import type { Conversation } from '../run/conversation.ts'
import { neutral } from './terminal.ts'

/** Answers all calls that wait. Where nobody can be asked they are denied, and the model is told so. */
export async function answerApprovals(conversation: Conversation, allowAll: boolean): Promise<void> {
  for (const { call, argsHash } of await conversation.approvals()) {
    if (allowAll || (await allowed(`${call.name} ${JSON.stringify(call.input)}`))) {
      await conversation.approve(call.callId, { argsHash })
    } else {
      await conversation.deny(call.callId, process.stdin.isTTY ? undefined : 'nobody was there to allow it')
    }
  }
}

async function allowed(call: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false
  const { createInterface } = await import('node:readline/promises')
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await reader.question(`${neutral(call)}\nAllow it? [y/N] `)).trim())
  } finally {
    reader.close()
  }
}
