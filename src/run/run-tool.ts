// One call of a tool, and whatever comes of it, as a result for the model. Nothing that a tool does can end a run:
// throwing, hanging, returning nothing or something that is not JSON all become failed results.

import { isObject, type Json } from '../core/json.ts'
import type { MediaPart, TextPart, ToolCallPart, ToolResultPart } from '../core/message.ts'
import type { Tool } from '../core/tool.ts'

const defaultTimeoutMs = 120_000

export async function runTool(
  tool: Tool | undefined,
  call: ToolCallPart,
  signal: AbortSignal,
  known: readonly string[],
): Promise<ToolResultPart> {
  const startedAt = new Date().toISOString()
  const outcome = await settle()
  const result: ToolResultPart = { type: 'tool-result', callId: call.callId, name: call.name, ...outcome }
  return { ...result, startedAt, endedAt: new Date().toISOString() }

  async function settle(): Promise<Outcome> {
    if (!tool) return failed(`There is no tool named ${call.name}. Known tools: ${known.join(', ') || 'none'}.`)
    if (call.malformed !== undefined) {
      return failed(`The arguments are not a JSON object, so ${call.name} was not run: ${call.malformed}`)
    }
    const ms = tool.timeoutMs ?? defaultTimeoutMs
    const stop = new AbortController()
    const limit = setTimeout(() => stop.abort(`${call.name} gave no result within ${ms} ms.`), ms)
    const either = AbortSignal.any([signal, stop.signal])
    try {
      const running = Promise.resolve(tool.run(call.input, { callId: call.callId, signal: either }))
      return readValue(call.name, await Promise.race([running, rejection(either)]))
    } catch (error) {
      if (signal.aborted) return failed(`${call.name} was cancelled; whether it had any effect is not known.`)
      if (stop.signal.aborted) return failed(String(stop.signal.reason))
      return failed(`${call.name} failed: ${messageOf(error)}`)
    } finally {
      clearTimeout(limit)
    }
  }
}

type Outcome = Pick<ToolResultPart, 'output' | 'value' | 'failed'>

function readValue(name: string, value: unknown): Outcome {
  if (value === undefined) return failed(`${name} returned nothing.`)
  if (typeof value === 'string') return { output: [{ type: 'text', text: value }], value }
  if (isParts(value)) return { output: value }
  try {
    const text = JSON.stringify(value)
    if (text === undefined) return failed(`${name} returned a ${typeof value}, which cannot be written as JSON.`)
    return { output: [{ type: 'text', text }], value: JSON.parse(text) as Json }
  } catch (error) {
    return failed(`${name} returned something that cannot be written as JSON: ${messageOf(error)}`)
  }
}

function isParts(value: unknown): value is (TextPart | MediaPart)[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(
      (part) =>
        isObject(part) &&
        ((part['type'] === 'text' && typeof part['text'] === 'string') ||
          (part['type'] === 'media' && typeof part['mediaType'] === 'string' && isObject(part['data']))),
    )
  )
}

function failed(text: string): Outcome {
  return { output: [{ type: 'text', text }], failed: true }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
