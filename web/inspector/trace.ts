// Which message of the history each piece of a body was made from. The wire does not say, so it is found out: both are
// read in order, and a piece belongs to the next message of a fitting role whose words, arguments, result or file it
// holds. A piece that holds none (a signature, a stub) belongs to the reply it stands in or before.

import type { Json, Message, Part } from '../api/types.ts'
import { isObject, type Fragment, type Speaker } from './fragments.ts'

/** Long texts are told apart by how they begin. */
const needleLength = 160

/** For each fragment the places of the messages that it carries; none for what was added, and for what is no message. */
export function trace(
  fragments: readonly Fragment[],
  history: readonly (Message | undefined)[],
  /** Places of messages that are known not to be sent. */
  left: ReadonlySet<number> = new Set(),
): number[][] {
  const needles = history.map((message) => (message ? needlesOf(message) : []))
  const opening = history.findIndex((message) => message?.role !== 'system')
  let last = Math.max(0, opening < 0 ? history.length : opening) - 1
  let lastSpeaker: Speaker | undefined

  return fragments.map((fragment) => {
    if (fragment.kind !== 'message') return []
    const speaker = fragment.speaker ?? 'user'
    if (speaker === 'system' && lastSpeaker === undefined) return []
    const hay = hayOf(fragment.value)
    const goesOn = speaker === 'assistant' && lastSpeaker === 'assistant' && fragment.isItem === true
    const from = goesOn ? last : last + 1
    let found = matchFrom(from, speaker, hay)
    if (found < 0 && speaker !== 'assistant') found = matches(last, speaker, hay) ? last : -1
    if (found < 0) found = goesOn ? last : nextOf(speaker, last + 1)
    if (found < 0) {
      lastSpeaker = speaker
      return []
    }
    const places = [found]
    for (let next = after(found); !fragment.isItem && canJoin(next, speaker, hay); next = after(next)) {
      places.push(next)
      found = next
    }
    last = found
    lastSpeaker = speaker
    return places
  })

  function matchFrom(from: number, speaker: Speaker, hay: string): number {
    for (let place = Math.max(0, from); place < history.length; place++) if (matches(place, speaker, hay)) return place
    return -1
  }

  function after(place: number): number {
    let next = place + 1
    while (left.has(next)) next++
    return next
  }

  function matches(place: number, speaker: Speaker, hay: string): boolean {
    return (
      !left.has(place) && fits(history[place], speaker) && (needles[place] ?? []).some((needle) => holds(hay, needle))
    )
  }

  /** Wires that join neighbours: the results of several tools, a result and what was said next. */
  function canJoin(place: number, speaker: Speaker, hay: string): boolean {
    const mine = needles[place] ?? []
    return fits(history[place], speaker) && mine.length > 0 && mine.every((needle) => holds(hay, needle))
  }

  function nextOf(speaker: Speaker, from: number): number {
    for (let place = Math.max(0, from); place < history.length; place++)
      if (!left.has(place) && fits(history[place], speaker)) return place
    return -1
  }
}

/** Whole words at least: `question 1` is not in `question 10`. */
function holds(hay: string, needle: string): boolean {
  for (let at = hay.indexOf(needle); at >= 0; at = hay.indexOf(needle, at + 1)) {
    const isOpen = needle.length >= needleLength || /\W$/.test(needle)
    if (isOpen || !/\w/.test(hay[at + needle.length] ?? '')) return true
  }
  return false
}

function fits(message: Message | undefined, speaker: Speaker): boolean {
  if (!message) return false
  // Results travel as the user's on some wires, and as words of the user where they were orphans.
  if (speaker === 'user') return message.role === 'user' || message.role === 'tool' || message.role === 'system'
  return message.role === speaker
}

function needlesOf(message: Message): string[] {
  return message.parts.flatMap(needlesOfPart)
}

function needlesOfPart(part: Part): string[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      return needle(part.text)
    case 'compaction':
      return needle(part.text ?? '')
    case 'tool-call':
      return part.malformed === undefined ? [`${part.name}\u0000`, ...argumentsOf(part.input)] : needle(part.malformed)
    case 'tool-result': {
      const found = part.output.flatMap(needlesOfPart)
      return found.length > 0 ? found : ['(no output)']
    }
    case 'media':
      return part.data.kind === 'base64' ? needle(part.data.base64) : part.data.kind === 'url' ? [part.data.url] : []
    default:
      return []
  }
}

function argumentsOf(input: Json): string[] {
  const text = JSON.stringify(input)
  return text.length > 4 ? [text.slice(0, needleLength)] : []
}

function needle(text: string): string[] {
  const start = text.trim().slice(0, needleLength).trim()
  return start === '' ? [] : [start]
}

/** Every string in a value, each closed by a zero, and every object as JSON: arguments are written both ways. */
function hayOf(value: Json): string {
  const pieces: string[] = []
  collect(value)
  return pieces.join('')

  function collect(one: Json | undefined): void {
    if (typeof one === 'string') pieces.push(one, '\u0000')
    else if (Array.isArray(one)) for (const inner of one) collect(inner)
    else if (isObject(one)) {
      for (const inner of Object.values(one)) collect(inner)
      pieces.push(JSON.stringify(one), '\u0000')
    }
  }
}
