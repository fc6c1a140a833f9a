// Run events as a person sees them: the answer streams to stdout, everything about it goes to stderr.

import type { RunEvent } from '../core/event.ts'
import type { ToolResultPart } from '../core/message.ts'
import { neutral, type Style } from './terminal.ts'

export interface Screen {
  out: NodeJS.WriteStream
  err: NodeJS.WriteStream
  style: Style
}

/** Shows events one by one; `end` closes an open line. */
export function showing({ out, err, style }: Screen): { show(event: RunEvent): void; end(): void } {
  /** What each open part of the reply is: only text is shown. */
  const kinds = new Map<number, string>()
  let lineOpen = false
  return { show, end: closeLine }

  function show(event: RunEvent): void {
    switch (event.type) {
      case 'reply-event':
        if (event.event.type === 'part-start') {
          kinds.set(event.event.index, event.event.part.type)
          const { part } = event.event
          if (part.type === 'text' || part.type === 'refusal') write(part.text)
        } else if (event.event.type === 'part-delta') {
          const kind = kinds.get(event.event.index)
          if (kind === 'text' || kind === 'refusal') write(event.event.text)
        }
        break
      case 'request':
        kinds.clear()
        break
      case 'retry':
        tell(`${event.failure.message} Trying again in ${Math.round(event.waitMs / 100) / 10} s.`)
        break
      case 'tool-start':
        tell(`→ ${event.call.name} ${event.call.malformed ?? JSON.stringify(event.call.input)}`)
        break
      case 'tool-end':
        tell(`← ${event.call.name} ${inShort(event.result)}`)
        break
      case 'run-end':
        closeLine()
        if (event.outcome === 'cancelled') tell('Stopped. What was said so far is kept.')
        if (event.outcome === 'max-steps') tell('Stopped: too many steps. Say "go on" to continue.')
        if (event.outcome === 'length') tell('The answer was cut off at the output limit.')
        if (event.failure) err.write(`${style.red(neutral(event.failure.message))}\n`)
    }
  }

  function write(text: string): void {
    if (text === '') return
    const clean = neutral(text)
    out.write(clean)
    lineOpen = !clean.endsWith('\n')
  }

  function closeLine(): void {
    if (lineOpen) out.write('\n')
    lineOpen = false
  }

  function tell(text: string): void {
    closeLine()
    err.write(`${style.dim(neutral(text))}\n`)
  }
}

function inShort(result: ToolResultPart): string {
  const text = result.output.map((part) => (part.type === 'text' ? part.text : `[${part.mediaType}]`)).join(' ')
  const line = text.replaceAll(/\s+/g, ' ')
  return `${result.failed ? 'failed: ' : ''}${line.length > 200 ? `${line.slice(0, 200)}…` : line}`
}
