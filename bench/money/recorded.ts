// Recorded conversations as trajectories. They are stored next to the repository, not in it, and each format has its own
// place for usage and times.
//
// The growth of the recorded prompt between two requests is the last reply and what was new. What it has beyond the
// visible bytes is reasoning that is sent again without being shown; what it lacks means that the text is denser. Where
// the recording has left out such a thought altogether it is put back sealed: a log of our own would hold it.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import type { Message, Part } from '../../src/core/message.ts'
import { readTranscript } from '../../src/transcripts/index.ts'
import { gapsFor, type Clues } from './gaps.ts'
import { ofOneModel, visibleTokens, type Sizes, type Trajectory } from './trajectory.ts'

const folder = join(import.meta.dirname, '..', '..', '..', 'shared', 'corpus', 'trajectories')

const files: Record<string, string> = {
  B01: 'tau-bench/gpt-4o-airline-task15-trial1.json',
  B02: 'tau2-bench/airline-opus46-049.json',
  B03: 'codex/git-sync-002f876fb8bb0.json',
  B04: 'gemini-cli/gemini-cli-agent-teams.json',
  B05: 'claude-code/cli-13db96e5c2610.json',
  B06: 'mini-swe-agent/deepseek_reasoner_dev--marshmallow-code__marshmallow-1343.json',
  B07: 'claude-code/cli-fc99c919b2120.json',
  B08: 'claude-code/cli-cd95adddad320.json',
  B09: 'claude-code/git-sync-fde63c6432fc16.json',
  B10: 'pi/large-session.jsonl',
  B11: 'codex/git-sync-a69904c9f9630.json',
  B12: 'claude-code/git-sync-0c2a854b89080.json',
}

/** Sessions that no setting was chosen by. */
const heldOut: Record<string, string> = {
  H01: 'claude-code/cli-00c9e23510162.json',
  H02: 'claude-code/cli-5d107d1338860.json',
  H03: 'claude-code/cli-63bd3f9b02f21.json',
  H04: 'claude-code/cli-7d66f047ac980.json',
  H05: 'claude-code/git-sync-516fe4e511700.json',
  H06: 'codex/git-sync-16bfc6ff68450.json',
  H07: 'codex/git-sync-1f94173214101.json',
  H08: 'codex/git-sync-27633b8ca5951.json',
  H09: 'mini-swe-agent/deepseek_reasoner_dev--pvlib__pvlib-python-1606.json',
  H10: 'mini-swe-agent/deepseek_bench1--django__django-14997.json',
  H11: 'tau2-bench/telecom-gpt41-017.json',
  H12: 'tau2-bench/retail-gpt41-011.json',
}

/** None where the recordings are not on this machine. */
export function recordedTrajectories(): Trajectory[] {
  return trajectories(files)
}

export function heldOutTrajectories(): Trajectory[] {
  return trajectories(heldOut)
}

function trajectories(named: Record<string, string>): Trajectory[] {
  if (!existsSync(folder)) return []
  return Object.entries(named).map(([id, file], seed) => recorded(id, join(folder, file), seed))
}

function recorded(id: string, file: string, seed: number): Trajectory {
  const text = readFileSync(file, 'utf8')
  const transcript = readTranscript(text)
  const opening = transcript.messages.findIndex((message) => message.role !== 'system')
  const usages = usagesOf(text, transcript.messages)
  const records: (Recorded & { message: Message })[] = []
  for (const [index, message] of transcript.messages.entries()) {
    const before = records.at(-1)
    if (index < opening || message.parts.length === 0) continue
    // All results of a turn are one message, so that a window of 20 means the same for every format.
    if (message.role === 'tool' && before?.message.role === 'tool') {
      before.message = { ...before.message, parts: [...before.message.parts, ...message.parts] }
    } else records.push({ message, ...usages[index] })
  }
  const messages = records.map(({ message }) => ofOneModel(message))
  const first = messages.findIndex((message) => message.role === 'user')
  const replies = messages.flatMap((message, index) => (message.role === 'assistant' && index > first ? [index] : []))
  const clues = replies.map((reply): Clues => {
    const { prompt, read, long } = records[reply] ?? {}
    const time = records[reply - 1]?.time
    return {
      byUser: messages[reply - 1]?.role === 'user',
      ...(prompt !== undefined && { prompt }),
      ...(read !== undefined && { read }),
      ...(long !== undefined && { long }),
      ...(time !== undefined && { time }),
    }
  })
  const times = gapsFor(clues, seed + 1)
  const prompts = replies.map((reply) => records[reply]?.prompt)
  const sizes = sizesOf(messages, replies, prompts)
  return {
    id,
    messages: messages.map((message, place) => withThought(message, sizes.hidden.get(place) ?? 0)),
    system: systemTokens(id, transcript.messages.slice(0, opening), transcript.system, messages, replies, prompts),
    requests: replies.map((reply, i) => ({ reply, at: times[i] ?? 0 })),
    sizes,
  }
}

/** Of a token of a thought, as recorded seals of Claude have it. */
const sealedCharacters = 4

function withThought(message: Message, tokens: number): Message {
  if (message.role !== 'assistant' || message.parts.some((part) => part.type === 'reasoning')) return message
  const seal = 'x'.repeat(Math.round(tokens * sealedCharacters))
  if (seal === '') return message
  const thought: Part = { type: 'reasoning', text: '', hidden: true, from: message.native.length }
  return { ...message, parts: [thought, ...message.parts], native: [...message.native, { signature: seal }] }
}

/** The most that system and tools are taken to be: a first prompt beyond it holds something else. */
const mostSystem = 45_000
/** Where nothing was recorded: tools of a support agent; a coding agent's prompt and tools. */
const usualTools = 2500
const usualAgent = 8000

function systemTokens(
  id: string,
  opening: readonly Message[],
  system: readonly { text: string }[] | undefined,
  messages: readonly Message[],
  replies: readonly number[],
  prompts: readonly (number | undefined)[],
): number {
  const [reply = 0] = replies
  const [prompt] = prompts
  if (prompt !== undefined) {
    const before = messages.slice(0, reply).reduce((sum, message) => sum + visibleTokens(message), 0)
    return Math.min(mostSystem, Math.max(1000, prompt - before))
  }
  const systemTokens = (system ?? []).reduce((sum, part) => sum + part.text.length / 3.3, 0)
  const policy = opening.reduce((sum, message) => sum + visibleTokens(message), systemTokens)
  return id === 'B04' ? usualAgent : policy + usualTools
}

function sizesOf(
  messages: readonly Message[],
  replies: readonly number[],
  prompts: readonly (number | undefined)[],
): Sizes {
  const hidden = new Map<number, number>()
  const scale = new Map<number, number>()
  for (const [i, reply] of replies.entries()) {
    const [before, after, next] = [prompts[i], prompts[i + 1], replies[i + 1]]
    if (before === undefined || after === undefined || next === undefined) continue
    const growth = after - before
    const visible = messages.slice(reply, next).reduce((sum, message) => sum + visibleTokens(message), 0)
    // A prompt that became shorter was compacted, which the log does not care about.
    if (growth <= 0 || visible === 0) continue
    if (growth > visible) hidden.set(reply, growth - visible)
    else for (let place = reply; place < next; place++) scale.set(place, Math.max(0.5, growth / visible))
  }
  return { hidden, scale }
}

interface Recorded {
  /** Tokens of the whole prompt. */
  prompt?: number
  read?: number
  /** The cache was to live for an hour. */
  long?: boolean
  time?: number
}

/** What each message of a transcript was recorded with. */
function usagesOf(text: string, messages: readonly Message[]): Recorded[] {
  const file = text.trimStart().startsWith('{"type":"session"') ? null : (JSON.parse(text) as Json)
  const listed =
    isObject(file ?? undefined) && Array.isArray((file as JsonObject).usage)
      ? ((file as JsonObject).usage as Json[])
      : []
  const byMessage = new Map<number, JsonObject>()
  const byItem: { item: number; usage: JsonObject }[] = []
  for (const one of listed) {
    if (!isObject(one) || !isObject(one.usage)) continue
    if (typeof one.message === 'number') byMessage.set(one.message, one.usage)
    if (typeof one.afterItem === 'number') byItem.push({ item: one.afterItem, usage: one.usage })
  }
  let place = -1
  let items = 0
  return messages.map(({ source }): Recorded => {
    if (!source || source.index !== 0) return {}
    place++
    const { value } = source
    const firstItem = items
    items += Array.isArray(value) ? value.length : 1
    const claude = byMessage.get(place)
    if (claude) return fromClaude(claude)
    const codex = byItem.find(({ item }) => item >= firstItem && item < items)
    if (codex) return { prompt: numberIn(codex.usage.input_tokens) }
    return fromMessage(Array.isArray(value) ? value[0] : value)
  })
}

function fromClaude(usage: JsonObject): Recorded {
  const read = numberIn(usage.cache_read_input_tokens)
  const written = numberIn(usage.cache_creation_input_tokens)
  const creation = isObject(usage.cache_creation) ? usage.cache_creation : {}
  return {
    prompt: numberIn(usage.input_tokens) + read + written,
    read,
    long: numberIn(creation.ephemeral_1h_input_tokens) > 0,
  }
}

/** tau2-bench and mini-swe-agent keep usage and times on the message, pi keeps them on its line. */
function fromMessage(value: Json | undefined): Recorded {
  if (!isObject(value)) return {}
  if (isObject(value.message) && typeof value.timestamp === 'string') {
    const usage = isObject(value.message.usage) ? value.message.usage : {}
    const prompt = numberIn(usage.input) + numberIn(usage.cacheRead) + numberIn(usage.cacheWrite)
    return { time: Date.parse(value.timestamp), ...(prompt > 0 && { prompt }) }
  }
  const extra = isObject(value.extra) ? value.extra : {}
  const response = isObject(extra.response) ? extra.response : {}
  const usage = isObject(response.usage) ? response.usage : isObject(value.usage) ? value.usage : {}
  const prompt = value.role === 'assistant' ? numberIn(usage.prompt_tokens) : 0
  const time =
    typeof extra.timestamp === 'number'
      ? extra.timestamp * 1000
      : typeof value.timestamp === 'string'
        ? Date.parse(value.timestamp)
        : undefined
  return { ...(prompt > 0 && { prompt }), ...(time !== undefined && { time }) }
}

function numberIn(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0
}
