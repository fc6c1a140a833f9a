// Tokens of a chat completion. Three hosts count differently: xAI leaves reasoning out of the completion (the total
// shows it), Grok on Azure leaves cached tokens out of the prompt, and Gemini through a gateway does the first with a
// total that hides it. Checked on recorded replies, 2026-11.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Usage } from '../../core/usage.ts'

export function readUsage(raw: JsonObject): Usage {
  const prompt = isObject(raw.prompt_tokens_details) ? raw.prompt_tokens_details : {}
  const completion = isObject(raw.completion_tokens_details) ? raw.completion_tokens_details : {}
  const promptTokens = count(raw.prompt_tokens)
  const completionTokens = count(raw.completion_tokens)

  const cacheRead = count(prompt.cached_tokens ?? raw.prompt_cache_hit_tokens ?? raw.cached_tokens)
  const cacheWrite = count(prompt.cache_write_tokens ?? raw.cache_creation_input_tokens)
  const reasoning = count(completion.reasoning_tokens ?? raw.reasoning_tokens)

  const apart = reasoning > completionTokens || count(raw.total_tokens) === promptTokens + completionTokens + reasoning
  return {
    input: cacheRead > promptTokens ? promptTokens + cacheRead : promptTokens,
    output: apart ? completionTokens + reasoning : completionTokens,
    cacheRead,
    cacheWrite,
    reasoning,
    raw,
  }
}

/** Where the numbers of a chunk are: Groq also has them in `x_groq`, Moonshot in the choice. */
export function usageIn(chunk: JsonObject): JsonObject | undefined {
  if (isObject(chunk.usage)) return chunk.usage
  if (isObject(chunk.x_groq) && isObject(chunk.x_groq.usage)) return chunk.x_groq.usage
  const choice = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined
  return isObject(choice) && isObject(choice.usage) ? choice.usage : undefined
}

function count(value: Json | undefined): number {
  return typeof value === 'number' && value > 0 ? value : 0
}
