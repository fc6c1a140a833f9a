// A request body as the prompt that the model reads: one segment per tool, system block and content block, in the
// order tools, system, messages. Prompt caches compare these, and tokens are counted over them.
//
// A segment is the body's own JSON, so that any byte that a client changes is a different prefix here too. Only what
// the model never sees is taken out: cache marks, ids and states of items, empty fields, a string that represents one
// text block.

import { createHash } from 'node:crypto'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { listIn, textIn } from './json-fields.ts'
import { mediaTokens, type CountTokens } from './tokens.ts'

export interface Segment {
  place: 'tools' | 'system' | 'messages'
  role: string
  text: string
  /** Pictures and files in it, which count flat. */
  media: number
  /** A cache mark comes after it, with this lifetime if it names one. */
  mark?: { ttl?: string }
  /** The last segment of its message. */
  last: boolean
}

export interface Prompt {
  segments: Segment[]
  /** Settings that change the meaning of everything. */
  settings: string
  /** Settings that change the meaning of the messages, but not of tools and system (Anthropic). */
  messageSettings: string
  /** Only marked places are cached, none by itself (OpenAI). */
  explicitOnly?: boolean
  /** The lifetime of marks that name none (OpenAI). */
  ttl?: string
}

export function promptOf(protocol: string, body: JsonObject): Prompt {
  switch (protocol) {
    case 'anthropic-messages':
      return anthropicPrompt(body)
    case 'openai-responses':
      return responsesPrompt(body)
    case 'gemini-generate':
      return geminiPrompt(body)
    case 'gemini-interactions':
      return interactionsPrompt(body)
    default:
      return chatPrompt(body)
  }
}

export function promptTokens(prompt: Prompt, count: CountTokens): number {
  return prompt.segments.reduce((sum, segment) => sum + segmentTokens(segment, count), 0)
}

export function segmentTokens(segment: Segment, count: CountTokens): number {
  return count(segment.text) + segment.media * mediaTokens
}

function anthropicPrompt(body: JsonObject): Prompt {
  const segments = [
    ...listIn(body.tools).map((tool) => segment('tools', 'tools', tool)),
    ...blocksOf(body.system, 'text').map((block) => segment('system', 'system', block)),
  ]
  for (const message of listIn(body.messages)) {
    if (!isObject(message)) continue
    segments.push(
      ...closed(blocksOf(message.content, 'text').map((block) => segment('messages', textIn(message.role), block))),
    )
  }
  // Automatic caching: one mark on the last block that can carry one; it moves forward with every request.
  if (isObject(body.cache_control)) {
    const last = segments.findLast((one) => !/^\S+ \{"type":"(redacted_)?thinking"/.test(one.text))
    const mark = markOf(body.cache_control)
    if (last && mark) last.mark ??= mark
  }
  const { effort } = isObject(body.output_config) ? body.output_config : {}
  const pictures = segments.some((one) => one.media > 0)
  return {
    segments,
    settings: '',
    messageSettings: JSON.stringify([body.tool_choice ?? null, body.thinking ?? null, effort ?? null, pictures]),
  }
}

function chatPrompt(body: JsonObject): Prompt {
  const segments = listIn(body.tools).map((tool) => segment('tools', 'tools', tool))
  for (const message of listIn(body.messages)) {
    if (!isObject(message)) continue
    const { role, content, tool_calls: calls, ...rest } = message
    const place = role === 'system' || role === 'developer' ? 'system' : 'messages'
    const head = Object.values(rest).some((value) => !isEmpty(value)) ? [rest] : []
    const pieces = [...head, ...blocksOf(content, 'text'), ...listIn(calls)]
    segments.push(...closed(pieces.map((piece) => segment(place, textIn(role), piece))))
  }
  return {
    segments,
    settings: JSON.stringify([
      body.response_format ?? null,
      body.reasoning_effort ?? null,
      body.verbosity ?? null,
      body.service_tier ?? null,
    ]),
    messageSettings: '',
    ...cacheOptions(body),
  }
}

function responsesPrompt(body: JsonObject): Prompt {
  const segments = [
    ...listIn(body.tools).map((tool) => segment('tools', 'tools', tool)),
    ...blocksOf(body.instructions, 'input_text').map((block) => segment('system', 'system', block)),
  ]
  const input: Json[] = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : listIn(body.input)
  for (const item of input) {
    if (!isObject(item)) continue
    if (typeof item.role === 'string') {
      const place = item.role === 'system' || item.role === 'developer' ? 'system' : 'messages'
      const blocks = blocksOf(item.content, item.role === 'assistant' ? 'output_text' : 'input_text')
      segments.push(...closed(blocks.map((block) => segment(place, textIn(item.role), block))))
    } else {
      const { id: _id, status: _status, ...rest } = item
      const role = textIn(item.type).endsWith('_output') ? 'tool' : 'assistant'
      segments.push(...closed([segment('messages', role, rest)]))
    }
  }
  const text = isObject(body.text) ? body.text : {}
  const { effort } = isObject(body.reasoning) ? body.reasoning : {}
  return {
    segments,
    settings: JSON.stringify([text.format ?? null, text.verbosity ?? null, effort ?? null, body.service_tier ?? null]),
    messageSettings: '',
    ...cacheOptions(body),
  }
}

function cacheOptions(body: JsonObject): Pick<Prompt, 'explicitOnly' | 'ttl'> {
  const options = isObject(body.prompt_cache_options) ? body.prompt_cache_options : {}
  return {
    ...(options.mode === 'explicit' && { explicitOnly: true }),
    ...(typeof options.ttl === 'string' && { ttl: options.ttl }),
  }
}

function geminiPrompt(body: JsonObject): Prompt {
  const system = body.systemInstruction ?? body.system_instruction
  const segments = [
    ...listIn(body.tools).map((tool) => segment('tools', 'tools', tool)),
    ...partsOf(system).map((part) => segment('system', 'system', part)),
  ]
  for (const content of listIn(body.contents)) {
    if (!isObject(content)) continue
    const isResult = (part: Json) => isObject(part) && isObject(part.functionResponse)
    const role = (part: Json) => (isResult(part) ? 'tool' : textIn(content.role ?? 'user'))
    segments.push(...closed(partsOf(content).map((part) => segment('messages', role(part), part))))
  }
  return { segments, settings: '', messageSettings: '' }
}

function interactionsPrompt(body: JsonObject): Prompt {
  const segments = [
    ...listIn(body.tools).map((tool) => segment('tools', 'tools', tool)),
    ...blocksOf(body.system_instruction, 'text').map((block) => segment('system', 'system', block)),
  ]
  const input: Json[] = typeof body.input === 'string' ? [{ type: 'text', text: body.input }] : listIn(body.input)
  for (const step of input) {
    if (!isObject(step)) continue
    const content = step.type === 'user_input' || step.type === 'model_output' ? blocksOf(step.content, 'text') : [step]
    const role = step.type === 'function_result' ? 'tool' : isModelStep(step.type) ? 'assistant' : 'user'
    segments.push(...closed(content.map((piece) => segment('messages', role, piece))))
  }
  return { segments, settings: '', messageSettings: '' }
}

function isModelStep(type: Json | undefined): boolean {
  return type === 'model_output' || type === 'thought' || textIn(type).endsWith('_call')
}

function segment(place: Segment['place'], role: string, piece: Json): Segment {
  let media = 0
  const ciphertext = isObject(piece) && piece.type === 'redacted_thinking'
  const text = JSON.stringify(piece, (key, value: unknown) => {
    if (markKeys.has(key) || isEmpty(value)) return undefined
    if (typeof value !== 'string' || ciphertext || !isMedia(key, value)) return value
    media++
    return `sha256:${createHash('sha256').update(value).digest('hex')}`
  })
  const mark = isObject(piece) ? markOf(piece.cache_control ?? piece.prompt_cache_breakpoint) : undefined
  return { place, role, text: `${role} ${text}`, media, last: place !== 'messages', ...(mark && { mark }) }
}

const markKeys = new Set(['cache_control', 'prompt_cache_breakpoint'])

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0)
}

/** Base64 long enough to be a file; a short one costs its letters, as any text. */
function isMedia(key: string, value: string): boolean {
  if (value.length < 512) return false
  if (value.startsWith('data:')) return true
  return (key === 'data' || key === 'file_data' || /^\d+$/.test(key)) && /^[A-Za-z0-9+/_-]{64}/.test(value)
}

function markOf(mark: Json | undefined): { ttl?: string } | undefined {
  if (!isObject(mark)) return undefined
  return typeof mark.ttl === 'string' ? { ttl: mark.ttl } : {}
}

function closed(segments: Segment[]): Segment[] {
  const last = segments.at(-1)
  if (last) last.last = true
  return segments
}

function blocksOf(content: Json | undefined, textType: string): Json[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: textType, text: content }]
  return listIn(content)
}

function partsOf(content: Json | undefined): Json[] {
  if (typeof content === 'string') return [{ text: content }]
  return isObject(content) ? listIn(content.parts) : listIn(content)
}
