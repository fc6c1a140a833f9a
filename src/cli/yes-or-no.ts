// A question that the person at the terminal answers with yes or no. Who presses Ctrl-C or Ctrl-D has said neither.

import { createInterface } from 'node:readline/promises'
import { SynapseError } from '../core/error.ts'
import { printError } from './print.ts'
import { printable } from './terminal.ts'

/** Undefined: there was no answer (Ctrl-D). Ctrl-C is thrown, and ends the command. */
export async function yesOrNo(question: string): Promise<boolean | undefined> {
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  const interrupt = new AbortController()
  reader.once('SIGINT', () => interrupt.abort())
  try {
    return /^y(es)?$/i.test((await reader.question(printable(question), { signal: interrupt.signal })).trim())
  } catch {
    printError('\n')
    if (interrupt.signal.aborted) throw new SynapseError({ kind: 'aborted', message: 'Interrupted.' })
    return undefined
  } finally {
    reader.close()
  }
}
