// Requests that real services have answered are answered here too: signatures and ciphertext of theirs are let through,
// and only state that they hold is not found.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import test from 'node:test'
import { createEmulator } from '../../src/testing.ts'
import { corpusFiles, noCorpus } from '../corpus.ts'

interface Recorded {
  request?: { path: string; body?: Record<string, unknown> }
  response: { status: number }
}

const folders: Record<string, string> = {
  'anthropic-messages': 'anthropic',
  'openai-chat': 'openai',
  'openai-responses': 'openai',
  'azure-chat': 'azure-openai',
  'azure-responses': 'azure-openai',
  gemini: 'google',
  mistral: 'mistral',
  deepseek: 'deepseek',
  groq: 'groq',
  openrouter: 'openrouter',
  xai: 'xai',
  'xai-responses': 'xai',
  ollama: 'ollama',
  cerebras: 'cerebras',
}

const betas = ['context-management-2025-06-27', 'compact-2026-01-12', 'compact-2026-09-04']

for (const [folder, provider] of Object.entries(folders)) {
  test(`recorded requests of ${folder} are answered`, { skip: noCorpus }, async (t) => {
    const emulator = createEmulator({ requireKey: false })
    let answered = 0
    let elsewhere = 0
    for (const file of corpusFiles(`streams/${folder}/*.{stream,response}.json`)) {
      const { request, response } = JSON.parse(readFileSync(file, 'utf8')) as Recorded
      if (!request?.body || response.status >= 400 || request.path.endsWith('/batches')) continue
      const reply = await emulator.fetch(`http://127.0.0.1/${provider}${request.path}`, {
        method: 'POST',
        headers: { 'anthropic-beta': betas.join(',') },
        body: JSON.stringify(request.body),
      })
      const text = await reply.text()
      const { previous_response_id: chain, conversation, cachedContent } = request.body
      const namesState = [chain, conversation, cachedContent].some((id) => id !== undefined)
      if (namesState && /not found/.test(text)) elsewhere++
      else assert.equal(reply.status, 200, `${basename(file)}: ${text.slice(0, 300)}`)
      answered++
    }
    assert.ok(answered > 0)
    t.diagnostic(`${answered} requests, ${elsewhere} of them with state that is elsewhere`)
  })
}

test('recorded requests to count tokens are counted', { skip: noCorpus }, async (t) => {
  const emulator = createEmulator({ requireKey: false })
  let counted = 0
  for (const file of corpusFiles('streams/count-tokens/*.response.json')) {
    const { request } = JSON.parse(readFileSync(file, 'utf8')) as Recorded
    if (!request?.body || !/countTokens$|count_tokens|input_tokens/.test(request.path)) continue
    const reply = await emulator.fetch(`http://127.0.0.1${request.path}`, {
      method: 'POST',
      body: JSON.stringify(request.body),
    })
    const text = await reply.text()
    assert.match(text, /"(input_tokens|totalTokens)":[1-9]/, `${basename(file)}: ${text.slice(0, 300)}`)
    counted++
  }
  t.diagnostic(`${counted} requests`)
})
