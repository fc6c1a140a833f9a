// The comparable form of a conversation: what clients send back verbatim. Reasoning, call ids, system prompts and tools
// change on the way through clients that continue the very same conversation, so they are left out.

import { hash } from 'node:crypto'
import { isObject, type Json } from '../../core/json.ts'
import { prefixes } from '../../context/prefix-memo.ts'
import { callsOf, textOf, type MediaPart, type Message, type Part } from '../../core/message.ts'

/** Messages that are compared as one: a client may split a reply into several. */
export interface Group {
  messages: Message[]
  /** The digest of everything up to and including this group. */
  hash: string
}

/** With the number of messages in them. */
const memo = prefixes<{ groups: readonly Group[]; size: number }>()

export function grouped(messages: readonly Message[], before: string = ''): Group[] {
  const { groups, size } = before === '' ? knownGroups(messages) : { groups: [], size: 0 }
  let upTo = groups.at(-1)?.hash ?? before
  const lists: Message[][] = []
  for (const message of messages.slice(size)) {
    const last = lists.at(-1)
    if (message.role === 'assistant' && last?.[0]?.role === 'assistant') last.push(message)
    else lists.push([message])
  }
  for (const list of lists) {
    upTo = nextHash(upTo, list)
    groups.push({ messages: list, hash: upTo })
  }
  if (before === '') memo.keep(messages, { groups, size: messages.length })
  return groups
}

/** The groups of an earlier list that are complete in this one. */
function knownGroups(messages: readonly Message[]): { groups: Group[]; size: number } {
  const { shared = 0, value } = memo.longest(messages) ?? {}
  const groups = [...(value?.groups ?? [])]
  let size = value?.size ?? 0
  // Nearly always all of them: the earlier list is the beginning of this one.
  for (; groups.length > 0; size -= groups.pop()?.messages.length ?? 0) {
    const isLast = groups.at(-1)?.messages[0]?.role !== 'assistant' || messages[size]?.role !== 'assistant'
    if (size <= shared && isLast) break
  }
  return { groups, size }
}

export function nextHash(before: string, group: readonly Message[]): string {
  return digest(before, JSON.stringify(canonical(group)))
}

/** For a reply that is long enough to be identified by its text. */
export function textHash(reply: Message): string | undefined {
  return hashOfText(textOf(reply.parts))
}

/** The same for what clients may quote of it: all of it, or what it marked as its summary. */
export function quotableHashes(reply: Message): string[] {
  const text = textOf(reply.parts)
  const summary = markedSummary(text)
  return [text, ...(summary === undefined ? [] : [summary])].flatMap((one) => hashOfText(one) ?? [])
}

function markedSummary(text: string): string | undefined {
  const [open, close] = ['<summary>', '</summary>']
  const start = text.indexOf(open)
  const end = start < 0 ? -1 : text.indexOf(close, start + open.length)
  return end < 0 ? undefined : text.slice(start + open.length, end)
}

/** How many lines may come before a reply that a client quotes, and how many paragraphs after it. */
const mostIntroduction = 4
const mostRemarks = 3

/**
 * What a message would be found by if it quoted a reply: clients that shorten their history themselves put the model's
 * summary of it into a message of the user, after a line of their own. Claude Code writes more paragraphs after it.
 */
export function quotedHashes({ parts }: Message): string[] {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const quotes = new Set([textOf(parts), ...texts].flatMap(quotesIn))
  return [...quotes].flatMap((quote) => hashOfText(quote) ?? [])
}

function quotesIn(text: string): string[] {
  const lines = text.trim().split('\n')
  const starts = Array.from({ length: Math.min(lines.length, mostIntroduction + 1) }, (_, i) => i)
  const heading = lines.indexOf('Summary:')
  const below = lines.slice((heading < 0 ? lines.indexOf('') : heading) + 1)
  const paragraphs = below.join('\n').split(/\n{2,}/)
  const ends = Array.from({ length: Math.min(paragraphs.length, mostRemarks + 1) }, (_, i) => paragraphs.length - i)
  return [
    ...starts.map((start) => lines.slice(start).join('\n')),
    ...ends.map((end) => paragraphs.slice(0, end).join('\n\n')),
  ]
}

/** Clients may leave out blank lines. */
function hashOfText(text: string): string | undefined {
  const trimmed = text.trim().replaceAll(/\n{3,}/g, '\n\n')
  return trimmed.length < 40 ? undefined : digest('text', trimmed)
}

function canonical(group: readonly Message[]): Json {
  const [first] = group
  const parts = group.flatMap((message) => message.parts as Part[])
  const media = parts.filter((part) => part.type === 'media').map(mediaOf)
  switch (first?.role) {
    case 'assistant':
      return ['assistant', textOf(parts).trim(), group.flatMap(callsOf).map(({ name, input }) => [name, sorted(input)])]
    case 'tool':
      return ['tool', parts.filter((part) => part.type === 'tool-result').map(({ output }) => outputOf(output))]
    default:
      return [first?.role ?? '', textOf(parts).trim(), media]
  }
}

function outputOf(output: readonly (Part & { type: 'text' | 'media' })[]): Json {
  return [textOf(output).trim(), output.filter((part) => part.type === 'media').map(mediaOf)]
}

function mediaOf({ data }: MediaPart): Json {
  return data.kind === 'base64' ? digest('media', data.base64) : JSON.stringify(data)
}

/** Programs that parse and rewrite JSON may change the order of its fields. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(fields.map(([name, field]) => [name, sorted(field ?? null)]))
}

function digest(before: string, text: string): string {
  return hash('sha256', `${before}\n${text.toWellFormed()}`, 'base64url')
}
