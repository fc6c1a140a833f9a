// A readable conversation in Markdown. Messages are unchanged; calls and results are fenced, and a fence is always
// longer than any run of backticks inside of it.

import type { Conversation, Entry } from '../core/log.ts'
import type { Message, Part } from '../core/message.ts'

export function toMarkdown(about: Pick<Conversation, 'title' | 'id'>, entries: readonly Entry[]): string {
  const parts = [`# ${oneLine(about.title ?? about.id)}`]
  for (const { message, at } of entries) {
    parts.push(`## ${oneLine(speakerOf(message))}`, `<!-- ${at} -->`)
    for (const part of message.parts) {
      const text = partText(part)
      if (text !== '') parts.push(text)
    }
  }
  return `${parts.join('\n\n')}\n`
}

export function speakerOf(message: Message): string {
  if (message.role !== 'assistant')
    return message.role === 'tool' ? 'Tool' : message.role === 'user' ? 'User' : 'System'
  const { origin, stop } = message
  const cut = stop.reason === 'done' || stop.reason === 'tool-calls' ? '' : ` (${stop.reason})`
  return `${origin.provider}/${origin.model}${cut}`
}

function partText(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text
    case 'reasoning':
      return part.text === ''
        ? ''
        : part.text
            .split('\n')
            .map((line) => `> ${line}`)
            .join('\n')
    case 'media':
      return mediaText(part)
    case 'tool-call':
      return `**→ ${oneLine(part.name)}**\n\n${fencedCode(part.malformed ?? JSON.stringify(part.input, null, 2), 'json')}`
    case 'tool-result':
      return [
        `**← ${oneLine(part.name)}${part.failed ? ' (failed)' : ''}**`,
        ...part.output.map((output) => outputText(output)),
      ].join('\n\n')
    case 'server-tool':
      return `**⇄ ${oneLine(part.name)}**\n\n${fencedCode(JSON.stringify({ input: part.input, output: part.output }, null, 2), 'json')}`
    case 'compaction':
      return part.text === undefined ? '' : `> ${part.text.replaceAll('\n', '\n> ')}`
    case 'opaque':
      return `_(${oneLine(part.kind)})_`
    default:
      return part satisfies never
  }
}

function outputText(part: Part): string {
  return part.type === 'text' ? fencedCode(part.text, '') : part.type === 'media' ? mediaText(part) : ''
}

function mediaText({ mediaType, name, data }: Extract<Part, { type: 'media' }>): string {
  const what = `${mediaType}${name === undefined ? '' : ` ${name}`}`
  if (data.kind === 'url' && /^https?:\/\/[^\s<>()]+$/i.test(data.url)) return `[${oneLine(what)}](${data.url})`
  return `_[${oneLine(what)}]_`
}

function fencedCode(text: string, language: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}\n${fence}`
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/[[\]<>*_`#\\]/g, String.raw`\$&`)
}
