// A message of the log as lines for a terminal.

import type { Message, Part } from '../core/message.ts'
import { seconds } from './format-number.ts'
import { neutral, type Style } from './terminal.ts'

export function messageLines(message: Message, style: Style): string[] {
  const who = message.role === 'assistant' ? `${message.origin.provider}/${message.origin.model}` : message.role
  const stop =
    message.role === 'assistant' && message.stop.reason !== 'done' && message.stop.reason !== 'tool-calls'
      ? ` (${message.stop.reason})`
      : ''
  return [style.bold(neutral(who) + stop), ...message.parts.map((part) => partText(part, style)), '']
}

function partText(part: Part, style: Style): string {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return neutral(part.text)
    case 'reasoning':
      return style.dim(
        (part.hidden && part.text === '' ? '(hidden reasoning)' : neutral(part.text)) +
          (part.durationMs === undefined ? '' : ` (${seconds(part.durationMs)} of thinking)`),
      )
    case 'media':
      return neutral(`[${part.mediaType}${part.name ? ` ${part.name}` : ''}]`)
    case 'tool-call':
      return `→ ${neutral(part.name)} ${neutral(part.malformed ?? JSON.stringify(part.input))}`
    case 'tool-result':
      return `← ${neutral(part.name)}${part.failed ? ' failed' : ''}: ${part.output.map((output) => partText(output, style)).join('\n')}`
    case 'server-tool':
      return neutral(`⇄ ${part.name} ${JSON.stringify(part.input ?? null)}`)
    case 'compaction':
      return style.dim(neutral(`(summary) ${part.text ?? ''}`))
    default:
      return style.dim(neutral(`(${part.kind})`))
  }
}
