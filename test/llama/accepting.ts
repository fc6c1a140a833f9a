// Histories, and the bodies that they become on each wire of llama.cpp's server.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import fc from '../property.ts'
import type { Message, Part } from '../../src/core/message.ts'
import { prepare, readTranscript } from '../../src/index.ts'
import { anyHistory } from '../arbitrary.ts'
import { corpusFiles } from '../corpus.ts'
import { tools } from '../targets.ts'
import { refusalOf, type LlamaServer } from './server.ts'

/** Each wire as its own provider writes it. The server's Messages is Anthropic's, so it is asked as Anthropic is. */
export const wires = [
  { protocol: 'openai-chat', provider: 'llama.cpp', model: 'tiny', path: '/v1/chat/completions', limit: 'max_tokens' },
  {
    protocol: 'openai-responses',
    provider: 'llama.cpp',
    model: 'tiny',
    path: '/v1/responses',
    limit: 'max_output_tokens',
  },
  {
    protocol: 'anthropic-messages',
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    path: '/v1/messages',
    limit: 'max_tokens',
  },
] as const

export interface NamedHistory {
  name: string
  messages: Message[]
}

/** `cutsOf` says where a conversation of so many messages is cut. */
export function recorded(pick: (file: number) => boolean, cutsOf: (length: number) => number[]): NamedHistory[] {
  const files = corpusFiles('trajectories/*/*.{json,jsonl}').filter((_, index) => pick(index))
  return files.flatMap((file) => {
    const { messages } = readTranscript(readFileSync(file, 'utf8'))
    const cuts = [...new Set(cutsOf(messages.length).map((cut) => Math.min(cut, messages.length)))]
    const sent = messages.map(withoutMedia)
    return cuts.map((cut) => ({ name: `${basename(file)} cut at ${cut}`, messages: sent.slice(0, cut) }))
  })
}

export function generated(count: number): NamedHistory[] {
  const histories = fc.sample(anyHistory, { numRuns: count, seed: 20261115 })
  return histories.map((messages, i) => ({ name: `history ${i}`, messages: messages.map(withoutMedia) }))
}

/** The model has no projector for images: `talking.test.ts` tests the error. */
function withoutMedia(message: Message): Message {
  if (message.role === 'system') return message
  const all: readonly Part[] = message.parts
  const parts = all.flatMap((part): Part[] => {
    if (part.type === 'media') return []
    return part.type === 'tool-result'
      ? [{ ...part, output: part.output.filter(({ type }) => type === 'text') }]
      : [part]
  })
  return { ...message, parts } as Message
}

/** Sends each history once, and gives what was refused. */
export async function refusals(
  server: LlamaServer,
  wire: (typeof wires)[number],
  histories: readonly NamedHistory[],
): Promise<string[]> {
  const refused: string[] = []
  for (const { name, messages } of histories) {
    const { body } = prepare({ ...wire, messages, tools })
    const problem = refusalOf(await server.post(wire.path, { ...body, stream: false, [wire.limit]: 1 }))
    if (problem !== undefined) refused.push(`${name}: ${problem}`)
  }
  assert.ok(histories.length > 0)
  return refused
}
