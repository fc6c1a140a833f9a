// An explained request on a screen: each message of the history and what happened to it, then the total.

import { callsOf, textOf, type Message } from '../../core/message.ts'
import type { Entry, ProviderState } from '../../core/log.ts'
import type { ExplainedMessage, Fate } from '../../context/explain.ts'
import { count, dollars, percent } from '../format-number.ts'
import { table } from '../table.ts'
import { clip, neutral, neutralLine, type Style } from '../terminal.ts'
import type { DiffLine } from '../../core/line-diff.ts'
import type { Preview } from './preview.ts'

export function inspectLines(looked: Preview, width: number, style: Style): string[] {
  const { explained, history } = looked
  const cells = explained.messages.map((message, index) => [
    String(message.place),
    message.role,
    count(message.tokens),
    message.sent === message.tokens ? '' : count(message.sent),
    message.fate,
    inWords(history[index]?.message),
  ])
  const paints: Record<Fate, (text: string) => string> = {
    sent: style.green,
    converted: style.yellow,
    folded: style.yellow,
    summarised: style.yellow,
    cut: style.red,
  }
  const columns = [
    { head: '#', right: true },
    { head: 'who' },
    { head: 'tokens', right: true },
    { head: 'as sent', right: true },
    {
      head: 'fate',
      paint: (text: string, row: number) => paints[explained.messages[row]?.fate ?? 'sent'](text),
    },
    { head: 'message', grows: true, paint: style.dim },
  ]
  return [
    ...headLines(looked, width, style),
    '',
    ...table(columns, cells, width, style),
    ...reasons(explained.messages, width, style),
    ...explained.notes.flatMap((note) => wrapLine(`${note.kind}: ${note.what}, because ${note.why}`, width)),
  ]
}

/** A few lines for a chat. */
export function contextLines(looked: Preview, width: number, style: Style): string[] {
  const fates = Map.groupBy(looked.explained.messages, (message) => message.fate)
  const counts = [...fates].map(([fate, messages]) => `${messages.length} ${fate}`)
  return [
    ...headLines(looked, width, style),
    clip(`${count(looked.explained.messages.length)} messages in the log: ${counts.join(', ') || 'none'}`, width),
    ...reasons(looked.explained.messages, width, style),
  ]
}

export function diffLines(lines: readonly DiffLine[], width: number, style: Style): string[] {
  const paints = { '+': style.green, '-': style.red, ' ': (text: string) => text, '…': style.dim }
  return lines.map(({ sign, text }) => paints[sign](clip(neutral(`${sign} ${text}`), width)))
}

function headLines(
  { provider, protocol, model, url, size, exact, explained, cold, previous, state, history }: Preview,
  width: number,
  style: Style,
): string[] {
  const { tokens, cached, head, price } = explained
  const hit =
    cached > 0
      ? `${count(cached)} of them (${percent(cached, tokens)}) should come from the cache`
      : `no cache hit is expected${cold ? `: ${cold}` : ''}`
  const lines = [
    style.bold(clip(neutral(`${provider}/${model} over ${protocol}`), width)),
    neutral(`POST ${url}`),
    `${count(tokens)} tokens, ${count(head)} of them system and tools; ${count(size)} bytes; ${price === undefined ? 'price not known' : `${dollars(price)} for the prompt`}`,
    ...(exact === undefined ? [] : [`${count(exact)} tokens by the provider's own count`]),
    hit,
    ...breakLines(previous),
    ...stateLines(state, history),
  ]
  return [...lines.slice(0, 1), ...lines.slice(1).flatMap((line) => wrapLine(line, width))]
}

/** What providers store of a conversation, one line each. */
export function stateLines(state: readonly ProviderState[], history: readonly Entry[]): string[] {
  return state.map(({ provider, protocol, ref, covers, expiresAt }) => {
    const place = history.findIndex(({ id }) => id === covers)
    const until = expiresAt === undefined ? '' : ` until ${expiresAt.slice(0, 16).replace('T', ' ')}`
    return neutralLine(`${provider} stores #0–${place} as ${ref}${until} (${protocol}).`)
  })
}

function breakLines(previous: Preview['previous']): string[] {
  if (!previous) return ['This would be the first request to this model.']
  const { breaks } = previous
  if (!breaks) return [`Identical to the request of ${previous.at}.`]
  const position = `byte ${count(breaks.byte)} of ${count(breaks.size)}, at ${breaks.at || 'the beginning'}`
  if (breaks.appended) return [`Everything sent at ${previous.at} is unchanged; new content starts at ${position}.`]
  return [
    `The prefix differs from the request of ${previous.at} at ${position}:`,
    `  before ${breaks.before}`,
    `  now    ${breaks.now}`,
  ]
}

/** Each reason once, with the messages it concerns. */
function reasons(messages: readonly ExplainedMessage[], width: number, style: Style): string[] {
  const places = new Map<string, number[]>()
  for (const message of messages) {
    for (const why of new Set(message.why)) {
      const existing = places.get(why)
      if (existing) existing.push(message.place)
      else places.set(why, [message.place])
    }
  }
  if (places.size === 0) return []
  const lines = [...places].flatMap(([why, at]) => wrapLine(`${ranges(at)}: ${why}`, width))
  return ['', style.bold('What differs from the log'), ...lines]
}

/** 1, 2, 3, 7 → 1–3, 7. */
function ranges(places: readonly number[]): string {
  const runs: [number, number][] = []
  for (const place of places) {
    const last = runs.at(-1)
    if (last && place === last[1] + 1) last[1] = place
    else runs.push([place, place])
  }
  return runs.map(([from, to]) => (from === to ? `#${from}` : `#${from}–${to}`)).join(', ')
}

function wrapLine(text: string, width: number): string[] {
  const clean = neutralLine(text)
  if (clean.length <= width) return [text.startsWith('  ') ? `  ${clean}` : clean]
  const lines: string[] = []
  let line = ''
  for (const word of clean.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = '  '
    }
    line += line.trim() === '' ? word : ` ${word}`
  }
  return [...lines, line].map((piece) => clip(piece, width))
}

function inWords(message: Message | undefined): string {
  if (!message) return ''
  const text = textOf(message.parts).slice(0, 300)
  const calls = callsOf(message).map((call) =>
    `→ ${call.name} ${call.malformed ?? JSON.stringify(call.input)}`.slice(0, 200),
  )
  const results =
    message.role === 'tool' ? message.parts.map((part) => `← ${part.name} ${textOf(part.output).slice(0, 200)}`) : []
  const media = message.parts.flatMap((part) => (part.type === 'media' ? [`[${part.mediaType}]`] : []))
  return neutralLine([...media, text, ...calls, ...results].filter(Boolean).join(' '))
}
