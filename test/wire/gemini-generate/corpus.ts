// Recorded exchanges with Google's API, where they are at hand.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Json, JsonObject } from '../../../src/core/json.ts'

const root = join(import.meta.dirname, '..', '..', '..', '..', 'shared', 'corpus')

export const missing: string | false = existsSync(root) ? false : 'the recorded exchanges are not here'

export interface Exchange {
  file: string
  provider: string
  model: string
  body?: Json
  status: number
  /** A streamed answer as its chunks, a plain one as it is. */
  chunks?: Json[]
  whole?: Json
}

export function exchanges(folder: string): Exchange[] {
  return files(join('streams', folder)).flatMap(({ file, text }): Exchange[] => {
    const provider = folder === 'vertex-gemini' ? 'vertex' : 'google'
    if (file.endsWith('.stream.json') || file.endsWith('.response.json')) return [recorded(file, text, provider)]
    if (file.endsWith('.chunks.txt')) {
      return [{ file, provider, model: '', status: 200, chunks: lines(text) }]
    }
    if (file.endsWith('.jsonl')) {
      return lines(text).map((line, index) => {
        const answer = (line as JsonObject).response ?? null
        const at = `${file}:${index + 1}`
        return Array.isArray(answer)
          ? { file: at, provider, model: '', status: 200, chunks: answer }
          : { file: at, provider, model: '', status: 200, whole: answer }
      })
    }
    return [{ file, provider, model: '', status: 200, whole: JSON.parse(text) as Json }]
  })
}

export function refusals(prefix: string): { file: string; status: number; body: Json; answer: Json; model: string }[] {
  return files('errors')
    .filter(({ file }) => file.startsWith(prefix))
    .map(({ file, text }) => {
      const { request, response } = JSON.parse(text) as Recording
      return { file, status: response.status, body: request.body, answer: response.body, model: modelIn(request.path) }
    })
}

interface Recording {
  request: { path: string; body: Json }
  response: { status: number; body: Json }
}

function recorded(file: string, text: string, provider: string): Exchange {
  const { request, response } = JSON.parse(text) as Recording
  const base = { file, provider, model: modelIn(request.path), body: request.body, status: response.status }
  return typeof response.body === 'string'
    ? { ...base, chunks: chunksOf(response.body) }
    : { ...base, whole: response.body }
}

function modelIn(path: string): string {
  return /models\/([^:/]+):/.exec(path)?.[1] ?? ''
}

function chunksOf(stream: string): Json[] {
  return stream
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => JSON.parse(line.slice(5)) as Json)
}

function lines(text: string): Json[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Json)
}

function files(folder: string): { file: string; text: string }[] {
  if (missing) return []
  return readdirSync(join(root, folder)).map((file) => ({ file, text: readFileSync(join(root, folder, file), 'utf8') }))
}
