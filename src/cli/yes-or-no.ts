// A question that the user answers with one line. Ctrl-C and Ctrl-D give no answer.

import { createInterface } from 'node:readline/promises'
import { SynapseError } from '../core/error.ts'
import { printError } from './print.ts'
import { printable } from './terminal.ts'

/** Undefined: there was no answer (Ctrl-D). Ctrl-C is thrown, and ends the command. */
export async function yesOrNo(question: string): Promise<boolean | undefined> {
  const typed = await askLine(question)
  return typed === undefined ? undefined : /^y(es)?$/i.test(typed)
}

/** The same for any answer. */
export async function askLine(question: string): Promise<string | undefined> {
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  const interrupt = new AbortController()
  reader.once('SIGINT', () => interrupt.abort())
  try {
    return (await reader.question(printable(question), { signal: interrupt.signal })).trim()
  } catch {
    printError('\n')
    if (interrupt.signal.aborted) throw new SynapseError({ kind: 'aborted', message: 'Interrupted.' })
    return undefined
  } finally {
    reader.close()
  }
}
