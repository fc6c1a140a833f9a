// Run events on the terminal: the answer streams to stdout, everything else goes to stderr.

import type { GuardReason, ReplyEvent, RunEvent } from '../core/event.ts'
import type { ToolResultPart } from '../core/message.ts'
import { seconds } from './format-number.ts'
import { markdownWriter } from './markdown.ts'
import { writeTo } from './print.ts'
import { clip, neutral, neutralLine, styleFor, widthOf, type Style } from './terminal.ts'

export interface Screen {
  out: NodeJS.WriteStream
  err: NodeJS.WriteStream
  style: Style
  /** Show the beginning of the model's reasoning. */
  reasoning?: boolean
  /** Print the answer as plain text, without rendering Markdown. */
  plain?: boolean | undefined
}

export interface View {
  show(event: RunEvent): void
  /** Closes a line that is open. */
  end(): void
}

/** Reasoning can be longer than the answer: its beginning is enough. */
const mostReasoning = 280

export function createView({ out, err, style, reasoning = false, plain = false }: Screen): View {
  const markdown =
    plain || !out.isTTY
      ? undefined
      : markdownWriter({
          width: () => widthOf(out),
          style: styleFor(out, process.env),
          write: (text) => void writeTo(out, text),
        })
  /** The type of each open part of the reply. */
  const kinds = new Map<number, string>()
  let lineOpen = false
  /** The current reply has some output. */
  let hasOutput = false
  let thoughtOpen = false
  let thought = 0
  return { show, end: closeLine }

  function show(event: RunEvent): void {
    if (event.type === 'reply-event') return showPart(event.event)
    if (event.type === 'run-end') return showEnd(event)
    if (event.type === 'request') {
      kinds.clear()
      thought = 0
      hasOutput = false
    }
    const line = lineFor(event)
    if (line !== undefined) tell(line)
  }

  function showEnd(event: Extract<RunEvent, { type: 'run-end' }>): void {
    closeLine()
    if (event.outcome === 'cancelled') tell('Stopped. The partial reply is saved.')
    if (event.outcome === 'max-steps') tell('Type "continue" to continue.')
    if (event.outcome === 'length') tell('The answer was cut off at the output limit.')
    if (event.answer && 'problem' in event.answer) tell(event.answer.problem)
    if (event.failure) writeTo(err, `${style.red(neutral(event.failure.message))}\n`)
    if (event.failure && hasOutput) tell('The answer was interrupted; the partial reply is saved.')
  }

  function showPart(event: ReplyEvent): void {
    if (event.type === 'part-start') {
      kinds.set(event.index, event.part.type)
      if ('text' in event.part && event.part.text) showDelta(event.part.type, event.part.text)
    } else if (event.type === 'part-delta') {
      showDelta(kinds.get(event.index), event.text)
    } else if (event.type === 'part-end' && event.part.type === 'reasoning' && reasoning) {
      const { durationMs } = event.part
      if (durationMs !== undefined) thoughtFor(durationMs)
    }
  }

  function thoughtFor(ms: number): void {
    if (lineOpen) closeLine()
    writeTo(err, style.dim(`${thoughtOpen ? ' ' : ''}(${seconds(ms)} of thinking)`))
    thoughtOpen = true
  }

  function showDelta(kind: string | undefined, text: string): void {
    if (kind === 'text' || kind === 'refusal') write(text)
    else if (kind === 'reasoning' && reasoning) think(text)
  }

  function write(text: string): void {
    if (text === '') return
    if (thoughtOpen) closeLine()
    hasOutput = true
    if (markdown) {
      markdown.push(text)
      lineOpen = markdown.open
      return
    }
    const clean = neutral(text)
    writeTo(out, clean)
    lineOpen = !clean.endsWith('\n')
  }

  function think(text: string): void {
    if (text === '' || thought >= mostReasoning) return
    if (lineOpen) closeLine()
    const room = mostReasoning - thought
    thought += text.length
    const clean = neutral(text.length > room ? `${text.slice(0, room).toWellFormed()} …` : text).replaceAll(/\s+/g, ' ')
    writeTo(err, style.dim(clean))
    thoughtOpen = true
  }

  function closeLine(): void {
    if (markdown) markdown.end()
    else if (lineOpen) writeTo(out, '\n')
    if (thoughtOpen) writeTo(err, '\n')
    lineOpen = false
    thoughtOpen = false
  }

  function tell(text: string): void {
    closeLine()
    writeTo(err, `${style.dim(clip(neutralLine(text), Math.max(40, 3 * widthOf(err))))}\n`)
  }
}

/** The line for an event that has one. */
function lineFor(event: RunEvent): string | undefined {
  switch (event.type) {
    case 'retry':
      return `${event.failure.message} Trying again in ${seconds(event.waitMs)} (attempt ${event.attempt}).`
    case 'no-retry':
      return 'Not retried: too many of the recent requests to this provider were retries.'
    case 'tool-start':
      return `→ ${event.call.name} ${event.call.malformed ?? JSON.stringify(event.call.input)}`
    case 'tool-end':
      return `← ${event.call.name} ${resultLine(event.result)}`
    case 'tool-progress':
      return `  ${event.call.name} ${typeof event.value === 'string' ? event.value : JSON.stringify(event.value)}`
    case 'fallback':
      return `${event.failure.message} Continuing with ${event.to} instead of ${event.from}.`
    case 'store-waiting':
      return `${event.failure.message} Waiting for it.`
    case 'store-back':
      return `The database is back after ${seconds(event.waitedMs)}.`
    case 'guard':
      return `${event.action === 'warned' ? 'Warning' : 'Stopped'} (${guardNames[event.guard]}): ${event.why}`
    default:
      return undefined
  }
}

const guardNames: Record<GuardReason['guard'], string> = {
  'max-steps': 'step limit',
  'repeated-call': 'repeated call',
  pattern: 'going in circles',
  spend: 'budget',
  tokens: 'budget',
  time: 'time',
  'output-size': 'output size',
  'calls-per-reply': 'calls per reply',
  'result-size': 'result size',
  hook: 'hook',
}

function resultLine(result: ToolResultPart): string {
  const text = result.output.map((part) => (part.type === 'text' ? part.text : `[${part.mediaType}]`)).join(' ')
  return `${result.failed ? 'failed: ' : ''}${clip(text.slice(0, 1000).replaceAll(/\s+/g, ' '), 200)}`
}
