// Recorded answers of Ollama's cloud; they live outside the repository. No exchange on `/api/chat` was recorded, only
// on the server's OpenAI-compatible address: its error bodies are the same server's words.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fold } from '../../../src/core/fold.ts'
import type { Json } from '../../../src/core/json.ts'
import { ollamaChat } from '../../../src/wires/ollama-chat/index.ts'

const folder = join(import.meta.dirname, '../../../../shared/corpus/errors')
const skip = existsSync(folder) ? false : 'the recorded errors are not here'

test('recorded errors of the server are classified, even inside a stream', { skip }, (t) => {
  const names = readdirSync(folder).filter((name) => name.startsWith('ollama--'))
  const kinds = names.map((name) => {
    const { response } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as {
      response: { status: number; body: Json }
    }
    const origin = { protocol: 'ollama-chat', provider: 'ollama', model: 'm' }
    const decoder = ollamaChat.decoder(origin)
    const { error } = response.body as { error: Json }
    const { reply, failure } = fold([...decoder.push({ error, status: response.status }), ...decoder.end()], origin)
    assert.equal(reply.stop.reason, 'failed')
    return failure?.kind
  })
  assert.deepEqual(new Set(kinds), new Set(['auth', 'context-overflow']))
  t.diagnostic(`${names.length} errors classified`)
})
