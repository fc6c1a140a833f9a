// What a person types, message by message. While an answer streams the terminal is given back its own line editing:
// Ctrl-C is a signal then, and what is typed ahead waits in the terminal until the next prompt.

import { createInterface, emitKeypressEvents, type CompleterResult } from 'node:readline'
import type { LineHistory } from './line-history.ts'
import { typedMessage } from './typed-message.ts'

export interface Input {
  /** The next message. `begin` is put on the line, to be changed. */
  next(begin?: string): Promise<Typed>
  /** One line that answers a question; nothing where no one can be asked. */
  line(question: string): Promise<string | undefined>
  close(): void
}

type Typed = { kind: 'message'; text: string } | { kind: 'end' } | { kind: 'interrupt' }

export interface InputOptions {
  prompt: string
  /** The prompt of a message that continues. */
  more: string
  history: LineHistory
  complete: (line: string) => Promise<CompleterResult>
}

type Completed = (error: Error | null, result?: CompleterResult) => void

/** What Linux makes of a Ctrl-D that was pressed while the terminal edited lines, once it no longer does. */
const endTypedAhead = '\0'

const bracketedPaste = { on: '\u001B[?2004h', off: '\u001B[?2004l' }

export function openInput({ prompt, more, history, complete }: InputOptions): Input {
  const { stdin, stdout } = process
  const terminal = stdin.isTTY && stdout.isTTY
  const resizesBefore = stdout.listeners('resize')
  const reader = createInterface({
    input: stdin,
    ...(terminal && { output: stdout }),
    terminal,
    prompt,
    history: history.lines,
    historySize: 1000,
    removeHistoryDuplicates: true,
    completer: (line: string, done: Completed) => void completed(line, done),
  })
  // Its own redrawing on a change of size would wipe out the line that an answer is being written to.
  const redraws = stdout.listeners('resize').filter((one) => !resizesBefore.includes(one)) as (() => void)[]
  const ready: Typed[] = []
  let wake: ((typed: Typed) => void) | undefined
  let typed = typedMessage()
  let pasting = false
  let closed = false
  let keeps = true
  rest()

  if (terminal) {
    emitKeypressEvents(stdin, reader)
    stdin.on('keypress', (_: string | undefined, key: { name?: string; sequence?: string } | undefined) => {
      if (key?.name === 'paste-start') pasting = true
      if (key?.name === 'paste-end') pasting = false
      if (key?.sequence === endTypedAhead && reader.line === '') reader.close()
    })
  }
  reader.on('line', (line) => {
    if (terminal && keeps) history.add(line)
    const text = typed.push(line, pasting)
    if (text !== undefined) return give({ kind: 'message', text })
    if (terminal && !pasting) ask(more)
  })
  reader.on('SIGINT', () => {
    if (reader.line === '' && !typed.open) return give({ kind: 'interrupt' })
    typed = typedMessage()
    stdout.write('^C\n')
    reader.write(null, { ctrl: true, name: 'e' })
    reader.write(null, { ctrl: true, name: 'u' })
    ask(prompt)
  })
  reader.on('close', () => {
    closed = true
    const text = typed.rest()
    if (text !== undefined) give({ kind: 'message', text })
    give({ kind: 'end' })
  })

  return {
    async next(begin = '') {
      const waiting = ready.shift()
      if (waiting) return waiting
      wakeUp(prompt)
      if (begin !== '') reader.write(begin)
      const next = await new Promise<Typed>((resolve) => (wake = resolve))
      rest()
      return next
    },
    async line(question) {
      if (!terminal || closed) return undefined
      keeps = false
      wakeUp(question)
      const next = await new Promise<Typed>((resolve) => (wake = resolve))
      keeps = true
      rest()
      if (next.kind === 'end') ready.push(next)
      return next.kind === 'message' ? next.text : undefined
    },
    close() {
      reader.close()
    },
  }

  async function completed(line: string, done: Completed): Promise<void> {
    let result: CompleterResult = [[], line]
    try {
      result = await complete(line)
    } catch {
      // a key that finds nothing does nothing
    }
    done(null, result)
  }

  function give(next: Typed): void {
    if (!wake) {
      ready.push(next)
      return
    }
    wake(next)
    wake = undefined
  }

  function ask(text: string): void {
    reader.setPrompt(text)
    reader.prompt()
  }

  function wakeUp(text: string): void {
    if (!terminal) {
      reader.resume()
      return
    }
    stdin.setRawMode(true)
    for (const redraw of redraws) stdout.on('resize', redraw)
    stdout.write(bracketedPaste.on)
    ask(typed.open ? more : text)
  }

  function rest(): void {
    if (!terminal) return
    stdout.write(bracketedPaste.off)
    for (const redraw of redraws) stdout.off('resize', redraw)
    if (closed) return
    reader.pause()
    stdin.setRawMode(false)
  }
}
