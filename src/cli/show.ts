// Run events as a person sees them: the answer streams to stdout, everything about it goes to stderr.

import type { GuardReason, ReplyEvent, RunEvent } from '../core/event.ts'
import type { ToolResultPart } from '../core/message.ts'
import { seconds } from './format-number.ts'
import { writeTo } from './print.ts'
import { clip, neutral, neutralLine, widthOf, type Style } from './terminal.ts'

export interface Screen {
  out: NodeJS.WriteStream
  err: NodeJS.WriteStream
  style: Style
  /** Show how the model's thoughts begin. */
  reasoning?: boolean
}

export interface View {
  show(event: RunEvent): void
  /** Closes a line that is open. */
  end(): void
}

/** Thoughts can be longer than the answer: a person wants to see that there are some, and about what. */
const mostReasoning = 280

export function showing({ out, err, style, reasoning = false }: Screen): View {
  /** What each open part of the reply is. */
  const kinds = new Map<number, string>()
  let lineOpen = false
  /** The reply that is under way has said something. */
  let said = false
  let thoughtOpen = false
  let thought = 0
  return { show, end: closeLine }

  function show(event: RunEvent): void {
    switch (event.type) {
      case 'reply-event':
        showPart(event.event)
        break
      case 'request':
        kinds.clear()
        thought = 0
        said = false
        break
      case 'retry':
        tell(`${event.failure.message} Trying again in ${seconds(event.waitMs)} (attempt ${event.attempt}).`)
        break
      case 'no-retry':
        tell('It is not tried again: too many of the last requests to this provider were retries.')
        break
      case 'tool-start':
        tell(`→ ${event.call.name} ${event.call.malformed ?? JSON.stringify(event.call.input)}`)
        break
      case 'tool-end':
        tell(`← ${event.call.name} ${resultLine(event.result)}`)
        break
      case 'tool-progress':
        tell(`  ${event.call.name} ${typeof event.value === 'string' ? event.value : JSON.stringify(event.value)}`)
        break
      case 'fallback':
        tell(`${event.failure.message} Continuing with ${event.to} instead of ${event.from}.`)
        break
      case 'store-waiting':
        tell(`${event.failure.message} Waiting for it.`)
        break
      case 'store-back':
        tell(`The database is back after ${seconds(event.waitedMs)}.`)
        break
      case 'guard':
        tell(`${event.action === 'warned' ? 'Warning' : 'Stopped'} (${guardNames[event.guard]}): ${event.why}`)
        break
      case 'run-end':
        closeLine()
        if (event.outcome === 'cancelled') tell('Stopped. What was said so far is kept.')
        if (event.outcome === 'max-steps') tell('Say "continue" to continue.')
        if (event.outcome === 'length') tell('The answer was cut off at the output limit.')
        if (event.answer && 'problem' in event.answer) tell(event.answer.problem)
        if (event.failure) writeTo(err, `${style.red(neutral(event.failure.message))}\n`)
        if (event.failure && said) tell('The answer was interrupted; what was said so far is kept.')
    }
  }

  function showPart(event: ReplyEvent): void {
    if (event.type === 'part-start') {
      kinds.set(event.index, event.part.type)
      if ('text' in event.part && event.part.text) more(event.part.type, event.part.text)
    } else if (event.type === 'part-delta') {
      more(kinds.get(event.index), event.text)
    }
  }

  function more(kind: string | undefined, text: string): void {
    if (kind === 'text' || kind === 'refusal') write(text)
    else if (kind === 'reasoning' && reasoning) think(text)
  }

  function write(text: string): void {
    if (text === '') return
    if (thoughtOpen) closeLine()
    const clean = neutral(text)
    said = true
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
    if (lineOpen) writeTo(out, '\n')
    if (thoughtOpen) writeTo(err, '\n')
    lineOpen = false
    thoughtOpen = false
  }

  function tell(text: string): void {
    closeLine()
    writeTo(err, `${style.dim(clip(neutralLine(text), Math.max(40, 3 * widthOf(err))))}\n`)
  }
}

const guardNames: Record<GuardReason['guard'], string> = {
  'max-steps': 'most steps',
  'repeated-call': 'repeated call',
  pattern: 'going in circles',
  spend: 'budget',
  tokens: 'budget',
  time: 'time',
  'output-size': 'output size',
  'calls-per-reply': 'calls per reply',
  'result-size': 'result size',
}

function resultLine(result: ToolResultPart): string {
  const text = result.output.map((part) => (part.type === 'text' ? part.text : `[${part.mediaType}]`)).join(' ')
  return `${result.failed ? 'failed: ' : ''}${clip(text.slice(0, 1000).replaceAll(/\s+/g, ' '), 200)}`
}
