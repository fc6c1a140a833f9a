// Bodies for validators that we did not write: recorded conversations, and every form of tool schema.

import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { prepare, readTranscript } from '../../src/index.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { corpusFiles } from '../corpus.ts'
import { user } from '../histories.ts'
import { everyTarget, tools as twoTools, type TestTarget } from '../targets.ts'
import { schemas } from '../tool-schema/schemas.ts'

export interface Made {
  from: string
  body: JsonObject
}

const answerSchema = { type: 'object', properties: { a: { type: 'string', minLength: 1 }, b: { type: 'array' } } }

/** Each schema as a tool, all options at once, and of every folder of the corpus the first `most` conversations. */
export function* bodiesFor(protocol: string, providers: readonly string[], most: number): Generator<Made> {
  for (const target of everyTarget) {
    if (target.protocol !== protocol || !providers.includes(target.provider)) continue
    const where = `${target.provider}/${target.model}`
    const tools = Object.entries(schemas).map(([form, input], i) => ({ name: `tool_${i}`, description: form, input }))
    yield { from: `${where}, all schemas`, body: prepare({ ...target, messages: [user('Go.')], tools }).body }
    yield { from: `${where}, all options`, body: withOptions(target) }
    for (const { file, messages, system, tools: given } of conversations(most)) {
      const context = { messages, ...(system && { system }), ...(given && { tools: given }) }
      yield { from: `${where}, ${file}`, body: prepare({ ...target, ...context }).body }
    }
  }
}

function withOptions(target: TestTarget): JsonObject {
  const options = {
    maxOutput: 100,
    // The types of Anthropic's client no longer have it, because no new model takes it.
    ...(target.protocol !== 'anthropic-messages' && { temperature: 0.5 }),
    stop: ['END'],
    effort: 'low' as const,
    toolChoice: 'auto' as const,
    parallelTools: false,
    answerSchema,
    cacheKey: 'key',
    stream: true,
  }
  return prepare({ ...target, messages: [user('Go.')], system: 'Be brief.', tools: twoTools, options }).body
}

type Conversation = ReturnType<typeof readTranscript> & { file: string }

const known = new Map<number, Conversation[]>()

function conversations(most: number): Conversation[] {
  const before = known.get(most)
  if (before) return before
  const counted = new Map<string, number>()
  const found: Conversation[] = []
  for (const file of corpusFiles('trajectories/*/*.{json,jsonl}')) {
    const folder = file.split('/').at(-2) ?? ''
    const count = counted.get(folder) ?? 0
    if (count >= most) continue
    counted.set(folder, count + 1)
    found.push({ ...readTranscript(readFileSync(file, 'utf8')), file: `${folder}/${basename(file)}` })
  }
  known.set(most, found)
  return found
}
