// Recorded exchanges with the real hosts: every reply is read without loss and goes back as it came, what was taken
// passes `refuse`, and what was refused for its body is refused in the same words.

import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import test from 'node:test'
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts'
import type { Reply } from '../../../src/core/message.ts'
import { openaiChat } from '../../../src/wires/openai-chat/index.ts'
import type { Quirks } from '../../../src/wires/wire.ts'
import { result, user } from '../../histories.ts'
import { decoded, sent } from './target.ts'

const corpus = join(import.meta.dirname, '../../../../shared/corpus')
const skip = existsSync(corpus) ? false : 'the recorded exchanges are not here'

/** The host of a folder, and which of its own reasoning it accepts back. */
const folders: Record<string, { provider: string; quirks?: Quirks }> = {
  'openai-chat': { provider: 'openai' },
  'azure-chat': { provider: 'azure-openai' },
  deepseek: { provider: 'deepseek', quirks: { reasoningField: 'reasoning_content', echoReasoning: 'tool-turns' } },
  groq: { provider: 'groq', quirks: { reasoningField: 'reasoning', echoReasoning: 'always' } },
  openrouter: { provider: 'openrouter', quirks: { reasoningField: 'reasoning_details', echoReasoning: 'always' } },
  xai: { provider: 'xai', quirks: { reasoningField: 'reasoning_content', echoReasoning: 'always' } },
  cerebras: { provider: 'cerebras', quirks: { reasoningField: 'reasoning', echoReasoning: 'always' } },
  moonshot: { provider: 'moonshot', quirks: { reasoningField: 'reasoning_content', echoReasoning: 'tool-turns' } },
  alibaba: { provider: 'qwen' },
  zai: { provider: 'zai', quirks: { reasoningField: 'reasoning_content', echoReasoning: 'always' } },
  huggingface: { provider: 'huggingface' },
  perplexity: { provider: 'perplexity' },
  'local-openai-compatible': { provider: '' },
  'openai-compatible': { provider: 'xai' },
  cloudflare: { provider: 'cloudflare', quirks: { reasoningField: 'reasoning_content', echoReasoning: 'always' } },
  'bedrock-mantle-chat': { provider: 'bedrock' },
  'vercel-gateway': { provider: 'vercel', quirks: { reasoningField: 'reasoning_details', echoReasoning: 'always' } },
}

interface Recorded {
  file: string
  folder: string
  provider: string
  quirks: Quirks
  request?: JsonObject
  /** One whole reply, or the chunks of a stream. */
  whole?: JsonObject
  chunks: Json[]
}

function recordings(): Recorded[] {
  return Object.entries(folders).flatMap(([folder, host]) =>
    globSync(join(corpus, 'streams', folder, '*')).map((path): Recorded => {
      const text = readFileSync(path, 'utf8')
      const file = `${folder}/${basename(path)}`
      const about = { file, folder, provider: host.provider, quirks: host.quirks ?? {} }
      if (path.endsWith('.txt')) return { ...about, chunks: lines(text) }
      const json = JSON.parse(text) as JsonObject
      if (!isObject(json.response)) return { ...about, whole: json, chunks: openaiChat.split(json) }
      const request = isObject(json.request) ? json.request : {}
      const local = folder === 'local-openai-compatible' ? localHost(request) : host.provider
      const more = { ...about, provider: local, ...(isObject(request.body) && { request: request.body }) }
      const { body } = json.response
      if (typeof body === 'string') return { ...more, chunks: lines(body, 'data:') }
      assert.ok(isObject(body), file)
      return { ...more, whole: body, chunks: openaiChat.split(body) }
    }),
  )
}

function localHost(request: JsonObject): string {
  const address = `${String(request.host)}${String(request.path)}`
  return address.includes('OLLAMA') ? 'ollama' : address.includes('GPUSTACK') ? 'vllm' : 'llama.cpp'
}

function lines(text: string, prefix = ''): Json[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const data = line.trimStart().startsWith(prefix) ? line.trimStart().slice(prefix.length).trim() : ''
    return data === '' || data === '[DONE]' ? [] : [JSON.parse(data) as Json]
  })
}

function read(recorded: Recorded, piece?: number): Reply {
  const chunks = recorded.whole && piece !== undefined ? openaiChat.split(recorded.whole, piece) : recorded.chunks
  return decoded(chunks, { origin: { protocol: 'openai-chat', provider: recorded.provider, model: 'm' } }).reply
}

/** Replies that a host itself ended with an error. */
const failing = /(test_tool_use_failed_error_streaming|test_openrouter_stream_error)\.0\./

test('every recorded reply is read, and nothing in it is unknown', { skip }, (t) => {
  const all = recordings()
  for (const recorded of all) {
    const origin = { protocol: 'openai-chat', provider: recorded.provider, model: '' }
    const { reply, failure, usage } = decoded(recorded.chunks, { origin })
    if (failing.test(recorded.file)) {
      assert.equal(reply.stop.reason, 'failed', recorded.file)
      assert.ok(failure, recorded.file)
      continue
    }
    assert.equal(failure, undefined, recorded.file)
    assert.ok(usage && usage.output > 0, recorded.file)
    assert.ok(usage.cacheRead <= usage.input && usage.reasoning <= usage.output, recorded.file)
    assert.ok(['done', 'length', 'tool-calls'].includes(reply.stop.reason), recorded.file)
    assert.ok(reply.parts.length > 0 && reply.native.length === 1, recorded.file)
    assert.ok(
      reply.parts.every((part) => part.type !== 'opaque'),
      recorded.file,
    )
    assert.ok(reply.origin.model && reply.origin.replyId, recorded.file)
  }
  assert.ok(all.length > 250)
  t.diagnostic(`${all.length} replies read, ${all.filter((recorded) => !recorded.whole).length} of them streamed`)
})

test('a stream is read to the last character of its text and its arguments', { skip }, (t) => {
  const streams = recordings().filter((recorded) => !recorded.whole)
  for (const recorded of streams) {
    const reply = read(recorded)
    const said = (type: string) =>
      reply.parts.flatMap((part) => (part.type === type && 'text' in part ? [part.text] : []))
    assert.equal(said('text').join(''), joinedField(recorded.chunks, 'content'), recorded.file)
    const thoughts = ['reasoning_content', 'reasoning'].map((field) => joinedField(recorded.chunks, field))
    const heard = said('reasoning').join('')
    assert.ok(
      thoughts.every((text) => text === '' || text === heard),
      recorded.file,
    )
    assert.equal(callText(reply), joinedArguments(recorded.chunks), recorded.file)
  }
  t.diagnostic(`${streams.length} streams compared with their deltas`)
})

function deltasOf(chunks: readonly Json[]): JsonObject[] {
  return chunks.flatMap((chunk) => {
    const [choice] = isObject(chunk) && Array.isArray(chunk.choices) ? chunk.choices : []
    return isObject(choice) && isObject(choice.delta) ? [choice.delta] : []
  })
}

function joinedField(chunks: readonly Json[], field: string): string {
  return deltasOf(chunks)
    .map((delta) => delta[field])
    .filter((value) => typeof value === 'string')
    .join('')
}

function callText(reply: Reply): string {
  const [message] = reply.native as JsonObject[]
  const calls = Array.isArray(message?.tool_calls) ? message.tool_calls.filter(isObject) : []
  return calls.map((call) => (isObject(call.function) ? String(call.function.arguments) : '')).join('')
}

/** All argument pieces, by index: none of the recorded hosts leaves it out. */
function joinedArguments(chunks: readonly Json[]): string {
  const pieces: string[] = []
  for (const delta of deltasOf(chunks)) {
    for (const call of Array.isArray(delta.tool_calls) ? delta.tool_calls : []) {
      if (!isObject(call) || !isObject(call.function) || typeof call.index !== 'number') continue
      const text = call.function.arguments
      pieces[call.index] = (pieces[call.index] ?? '') + (typeof text === 'string' ? text : '')
    }
  }
  return pieces.join('')
}

test('a whole reply is read alike in pieces of any size', { skip }, (t) => {
  const wholes = recordings().filter((recorded) => recorded.whole)
  for (const recorded of wholes) {
    const reply = read(recorded)
    for (const piece of [1, 2, 7, 100]) assert.deepEqual(read(recorded, piece), reply, `${recorded.file} by ${piece}`)
  }
  t.diagnostic(`${wholes.length} whole replies cut in four ways`)
})

test('every recorded reply is sent back to its host unchanged', { skip }, (t) => {
  const all = recordings().filter((recorded) => !failing.test(recorded.file))
  for (const recorded of all) {
    const reply = read(recorded)
    const [choice] = recorded.whole && Array.isArray(recorded.whole.choices) ? recorded.whole.choices : []
    const message = (isObject(choice) && isObject(choice.message) ? choice.message : reply.native[0]) as JsonObject
    const results = reply.parts.flatMap((part) =>
      part.type === 'tool-call' ? [result(part.callId, 'ok', part.name)] : [],
    )
    const { messages } = sent([user('go'), reply, ...results], {
      provider: recorded.provider,
      model: 'm',
      quirks: recorded.quirks,
    })
    const back = withoutLongIds((messages as JsonObject[])[1] ?? {}, message)
    assert.deepEqual(back, withoutLongIds(expectedBack(message, recorded.quirks), message), recorded.file)
  }
  t.diagnostic(`${all.length} replies sent back`)
})

/** Ids over 40 characters, as vLLM gives them, are replaced: OpenAI would refuse them. */
function withoutLongIds(back: JsonObject, message: JsonObject): JsonObject {
  const original = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : []
  if (!Array.isArray(back.tool_calls)) return back
  const calls = back.tool_calls.filter(isObject).map((call, i) => {
    const long = String(original[i]?.id).length > 40
    return long ? { ...call, id: 'long' } : call
  })
  return { ...back, tool_calls: calls }
}

/** What a host accepts of its own message: its text, its calls (with an object for no arguments), its own reasoning. */
function expectedBack(message: JsonObject, quirks: Quirks): JsonObject {
  const { content, tool_calls, name } = message
  const calls = Array.isArray(tool_calls) ? tool_calls.filter(isObject) : []
  const back: JsonObject = { role: 'assistant' }
  if (content !== undefined && (content !== null || calls.length > 0)) back.content = content
  if (typeof name === 'string') back.name = name
  if (calls.length > 0) {
    back.tool_calls = calls.map(({ index: _index, ...call }) =>
      isObject(call.function) && call.function.arguments === ''
        ? { ...call, function: { ...call.function, arguments: '{}' } }
        : call,
    )
  }
  const field = quirks.reasoningField
  if (field === 'reasoning_details') {
    const details = Array.isArray(message.reasoning_details) ? message.reasoning_details.filter(isObject) : []
    const kept = details.filter((entry) => {
      const wantsSignature = entry.format === 'anthropic-claude-v1' || entry.format === 'google-gemini-v1'
      return entry.type !== 'reasoning.text' || !wantsSignature || typeof entry.signature === 'string'
    })
    if (kept.length > 0) back.reasoning_details = kept
    else if (details.length === 0 && typeof message.reasoning === 'string') back.reasoning = message.reasoning
  } else if (field && (quirks.echoReasoning === 'always' || calls.length > 0)) {
    const text = message[field]
    if (typeof text === 'string' && text !== '') back[field] = text
    else if (quirks.echoReasoning === 'tool-turns') back[field] = ''
  }
  return back
}

test('every recorded request that was accepted passes', { skip }, (t) => {
  const requests = recordings().filter((recorded) => recorded.request)
  for (const recorded of requests) {
    assert.deepEqual(openaiChat.refuse(recorded.request ?? null, { provider: recorded.provider }), [], recorded.file)
  }
  t.diagnostic(`${requests.length} requests pass`)
})

/** Refusals that do not lie in the body: keys, limits, lengths, models that there are, what the model itself did. */
const notOfTheBody = /--(401|404|429)--|context_len|tool_use_failed/

test('every recorded refusal of a body is refused with the same message', { skip }, (t) => {
  const files = globSync(join(corpus, 'errors', '{openai-chat,deepseek,groq,openrouter,perplexity}--*.json'))
  const refused = files.filter((path) => !notOfTheBody.test(basename(path)))
  let compared = 0
  for (const path of refused) {
    const json = JSON.parse(readFileSync(path, 'utf8')) as JsonObject
    const { request, response } = json
    if (!isObject(request) || !isObject(response)) continue
    const provider = folders[basename(path).split('--')[0] ?? '']?.provider ?? ''
    const [issue] = openaiChat.refuse(request.body ?? null, { provider })
    assert.ok(issue, basename(path))
    assert.equal(issue.status, response.status, basename(path))
    assert.deepEqual(openaiChat.errorBody(issue), response.body, basename(path))
    compared++
  }
  const legacy = JSON.parse(readFileSync(join(dirname(files[0] ?? ''), legacyError), 'utf8')) as Json
  const [issue] = openaiChat.refuse({ model: 'o3-mini', messages: [{ role: 'user', content: 'hi' }], max_tokens: 5 })
  assert.deepEqual(issue && openaiChat.errorBody(issue), legacy)
  assert.equal(compared, 3)
  t.diagnostic(`${compared + 1} refusals in the same words; ${files.length - refused.length} do not lie in the body`)
})

/** Recorded without its request: the words tell what it was. */
const legacyError = 'openai-chat--vercel--reasoning-model-legacy-parameter-error.json'
