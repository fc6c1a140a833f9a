// Streams as providers have really sent them, from the recorded traffic next to the repository.

import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Wire } from '../../src/wires/wire.ts'
import { inChunks, type Chunked } from './chunked.ts'

const corpus = join(import.meta.dirname, '..', '..', '..', 'shared', 'corpus', 'streams')

/** Ollama was recorded only on its OpenAI wire. */
const folders: Record<string, string> = {
  'openai-chat': '{openai-chat,deepseek,groq,ollama,openrouter,xai}',
  'openai-responses': '{openai-responses,xai-responses}',
  'anthropic-messages': 'anthropic-messages',
  'gemini-generate': 'gemini',
  'gemini-interactions': 'gemini-interactions',
  'mistral-chat': 'mistral',
}

/** Every reply that was streamed on the wire; none where the recordings are not on this machine. */
export function recordedStreams(protocol: Wire): Chunked[] {
  const folder = folders[protocol.id]
  if (folder === undefined || !existsSync(corpus)) return []
  return globSync(`${folder}/*.{stream.json,chunks.txt}`, { cwd: corpus })
    .toSorted()
    .flatMap((file) => read(protocol, join(corpus, file)))
}

function read({ framing }: Wire, file: string): Chunked[] {
  const text = readFileSync(file, 'utf8')
  if (file.endsWith('.chunks.txt')) {
    const lines = text.split('\n').filter((line) => line.startsWith('{'))
    return [inChunks(lines.map((line) => (framing.kind === 'ndjson' ? `${line}\n` : `data: ${line}\n\n`)))]
  }
  const { response } = JSON.parse(text) as { response: { status: number; body: string } }
  if (response.status !== 200) return []
  const body = response.body.replaceAll('\r\n', '\n')
  return [inChunks(body.split(framing.kind === 'ndjson' ? /(?<=\n)/ : /(?<=\n\n)/))]
}
