// What the user types, message by message. While an answer streams the terminal does its own line editing: Ctrl-C is a
// signal then, and what is typed ahead waits in the terminal until the next prompt.

import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type CompleterResult, createInterface, emitKeypressEvents, type Interface } from 'node:readline'

export interface Input {
  /** The next message. `begin` is put on the line for editing. */
  next(begin?: string): Promise<Typed>
  /** One line that answers a question; undefined if not interactive. */
  line(question: string): Promise<string | undefined>
  close(): void
}

type Typed = { kind: 'message'; text: string } | { kind: 'end' } | { kind: 'interrupt' }

interface InputOptions {
  prompt: string
  /** The prompt of a message that continues. */
  more: string
  history: LineHistory
  complete: (line: string) => Promise<CompleterResult>
}

type Completed = (error: Error | null, result?: CompleterResult) => void

/** Linux delivers this for a Ctrl-D that was pressed while the terminal was still editing lines itself. */
const endTypedAhead = '\0'

/** Represents a line break in a message that was recalled from the history. */
const lineMark = ' ⏎ '

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
    completer: (line: string, callback: Completed) => void answerCompletion(complete(line), line, callback),
  })
  const editor = lineEditor(reader, resizesBefore)
  const past = pastLines(reader, history)
  const { ready, give, arrival } = inbox()
  let typed = typedMessage()
  let pasting = false
  let closed = false
  let keeps = true
  pauseEditor()

  if (terminal) {
    emitKeypressEvents(stdin, reader)
    stdin.on('keypress', (_: string | undefined, key: { name?: string; sequence?: string } | undefined) => {
      if (key?.name === 'paste-start') pasting = true
      if (key?.name === 'paste-end') pasting = false
      if (key?.sequence === endTypedAhead && reader.line === '') reader.close()
    })
  }
  reader.on('line', (shown) => {
    const recalled = shown.split(lineMark)
    const text = recalled.map((line, index) => typed.push(line, pasting || index < recalled.length - 1)).at(-1)
    if (terminal && keeps) past.remember(shown, text)
    if (text !== undefined) return give({ kind: 'message', text })
    if (terminal && !pasting) ask(more)
  })
  reader.on('SIGINT', () => {
    if (reader.line === '' && !typed.open) return give({ kind: 'interrupt' })
    typed = typedMessage()
    past.startOver()
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
      const next = await arrival()
      pauseEditor()
      return next
    },
    async line(question) {
      if (!terminal || closed) return undefined
      keeps = false
      wakeUp(question)
      const next = await arrival()
      keeps = true
      pauseEditor()
      if (next.kind === 'end') ready.push(next)
      return next.kind === 'message' ? next.text : undefined
    },
    close() {
      reader.close()
    },
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
    editor.start()
    ask(typed.open ? more : text)
  }

  function pauseEditor(): void {
    if (terminal) editor.pause(closed)
  }
}

/** A queue of typed messages, for a single reader. */
function inbox() {
  const ready: Typed[] = []
  let wake: ((typed: Typed) => void) | undefined
  return {
    ready,
    arrival: () => new Promise<Typed>((resolve) => (wake = resolve)),
    give(next: Typed): void {
      if (wake) wake(next)
      else ready.push(next)
      wake = undefined
    },
  }
}

/** The line editor of the terminal, which is on only while something is asked. */
function lineEditor(
  reader: Interface,
  resizesBefore: readonly unknown[],
): { start(): void; pause(closed: boolean): void } {
  const { stdin, stdout } = process
  // Its own redrawing after a resize would erase the line of the streaming answer.
  const redraws = stdout.listeners('resize').filter((listener) => !resizesBefore.includes(listener)) as (() => void)[]
  // The terminal has wrapped the line again: the editor moves up by its current number of rows, not by the former one.
  const beforeRedraw = (): void => void Object.assign(reader, { prevRows: reader.getCursorPos().rows })
  return {
    start() {
      stdin.setRawMode(true)
      stdout.on('resize', beforeRedraw)
      for (const redraw of redraws) stdout.on('resize', redraw)
      stdout.write(bracketedPaste.on)
    },
    pause(closed) {
      stdout.write(bracketedPaste.off)
      stdout.off('resize', beforeRedraw)
      for (const redraw of redraws) stdout.off('resize', redraw)
      if (closed) return
      reader.pause()
      stdin.setRawMode(false)
    },
  }
}

/** Earlier messages. One of several lines is one entry of the history, on one line, and is recalled as a whole. */
function pastLines(reader: Interface, history: LineHistory) {
  /** Earlier lines in the line editor, newest first. */
  let past: string[] = []
  /** Lines of an incomplete message. */
  let parts = 0
  reader.on('history', (all: string[]) => (past = all))
  return {
    startOver: () => void (parts = 0),
    remember(line: string, text: string | undefined): void {
      const isPart = text === undefined || parts > 0
      if (isPart && past[0] === line) past.shift()
      parts++
      if (text === undefined) return
      const entry = isPart ? text.replaceAll('\n', lineMark) : line
      if (isPart && entry.trim() !== '') past.unshift(entry)
      history.add(entry)
      parts = 0
    },
  }
}

async function answerCompletion(
  candidates: Promise<CompleterResult>,
  line: string,
  callback: Completed,
): Promise<void> {
  let result: CompleterResult = [[], line]
  try {
    result = await candidates
  } catch {
    // a key that finds nothing does nothing
  }
  callback(null, result)
}

// The input history, in a separate file next to the conversations, readable for its owner only.

const maxLines = 1000

interface LineHistory {
  /** Newest first, as readline expects. */
  lines: string[]
  add(line: string): void
}

/** If the file cannot be read or written, only the history is lost, not the chat. */
export function openLineHistory(file: string): LineHistory {
  const lines = read(file)
  if (lines.length > 2 * maxLines)
    ignoreErrors(() => writeFileSync(file, lines.slice(-maxLines).join('\n') + '\n', { mode: 0o600 }))
  return {
    lines: lines.slice(-maxLines).toReversed(),
    add(line) {
      if (line.trim() === '') return
      ignoreErrors(() => {
        mkdirSync(dirname(file), { recursive: true })
        appendFileSync(file, `${line}\n`, { mode: 0o600 })
      })
    },
  }
}

function read(file: string): string[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
  } catch {
    return []
  }
}

function ignoreErrors(write: () => void): void {
  try {
    write()
  } catch {
    // a disk that is full or read-only
  }
}

// From lines to messages. A line that ends in a backslash continues on the next one; `"""` starts and ends a multi-line
// message.

interface TypedMessage {
  /** The message, once it is complete. `hasMore`: more will follow, as in the middle of a paste. */
  push(line: string, hasMore?: boolean): string | undefined
  /** The current text, when nothing more comes. */
  rest(): string | undefined
  readonly open: boolean
}

const quotes = '"""'

export function typedMessage(): TypedMessage {
  let lines: string[] = []
  let quoted = false

  return {
    push(line, hasMore = false) {
      const text = !quoted && lines.length === 0 && line.trimStart().startsWith(quotes) ? openQuotes(line) : line
      if (quoted) {
        if (!text.trimEnd().endsWith(quotes)) return keep(text)
        quoted = false
        const last = text.trimEnd().slice(0, -quotes.length)
        return takeMessage(last === '' ? [] : [last])
      }
      if (hasMore) return keep(text)
      const backslashes = /\\*$/.exec(text)?.[0].length ?? 0
      return backslashes % 2 === 1 ? keep(text.slice(0, -1)) : takeMessage([text])
    },
    rest: () => (lines.length > 0 ? takeMessage([]) : undefined),
    get open() {
      return quoted || lines.length > 0
    },
  }

  function openQuotes(line: string): string {
    quoted = true
    return line.trimStart().slice(quotes.length)
  }

  function keep(line: string): undefined {
    // The line of the opening quotes is usually empty.
    if (lines.length > 0 || line !== '' || !quoted) lines.push(line)
    return undefined
  }

  function takeMessage(last: readonly string[]): string {
    const text = [...lines, ...last].join('\n')
    lines = []
    quoted = false
    return text
  }
}
