// Steps as Gemini contents, and as the records of Gemini CLI's session files. Confirmed with version 0.61.0: the head
// needs sessionId, projectHash and startTime, every record an id; calls and their results are in the model's record.

import { createHash } from 'node:crypto'
import type { JsonObject } from '../core/json.ts'
import type { AdaptUser } from './steps.ts'
import type { NewSession, ReplyStep, Step, StepResult, UserStep } from './session.ts'
import { uuidFor } from './uuid.ts'

export function contentParts(parts: readonly (UserStep | ReplyStep)['parts'][number][]): JsonObject[] {
  return parts.map((part) => {
    if (part.type === 'call') return { functionCall: { id: part.id, name: part.name, args: part.input } }
    return part.type === 'text' ? { text: part.text } : picture(part)
  })
}

function picture(part: Extract<UserStep['parts'][number], { type: 'media' }>): JsonObject {
  return { inlineData: { mimeType: part.mediaType, data: part.data.kind === 'base64' ? part.data.base64 : '' } }
}

export function resultPart({ id, name, output, failed }: StepResult): JsonObject {
  const text = output.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
  const parts = output.flatMap((part) => (part.type === 'media' ? [picture(part)] : []))
  const response = failed ? { error: text } : { output: text }
  return { functionResponse: { id, name, response, ...(parts.length > 0 && { parts }) } }
}

/** Our own texts, in separate parts before the user's. */
const typed = 'The user typed: '
const sent = 'The user sent:'

export function isOurMark(text: string): boolean {
  return text === typed || text === sent
}

const ignored = /^\s*(\/|\?|<session_context>|<hook_context>)/

/** Gemini CLI treats some texts as commands and leaves them out, and messages without text as well. */
export const forGeminiCli: AdaptUser = (parts) => {
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
  if (text.trim() === '') return [{ type: 'text', text: sent }, ...parts]
  return ignored.test(text) ? [{ type: 'text', text: typed }, ...parts] : parts
}

export function projectHash(cwd: string): string {
  return createHash('sha256').update(cwd).digest('hex')
}

export function geminiCliWriter(session: NewSession, after?: JsonObject) {
  let count = 0
  const record = (at: string, more: JsonObject): JsonObject => {
    const id = uuidFor(`${session.id} ${JSON.stringify(after?.id ?? null)} ${count++}`)
    return { id, timestamp: at, ...more }
  }
  return {
    open(): JsonObject[] {
      if (after) return []
      const { id: sessionId, cwd, startedAt: startTime, updatedAt: lastUpdated, title: summary } = session
      const head = { sessionId, projectHash: projectHash(cwd), startTime, lastUpdated, kind: 'main' }
      return [{ ...head, ...(summary !== undefined && { summary }) }]
    },
    add(step: Step): JsonObject[] {
      if (step.kind === 'user') return [record(step.at, { type: 'user', content: contentParts(step.parts) })]
      const texts = step.parts.filter((part) => part.type === 'text')
      const calls = step.parts.filter((part) => part.type === 'call')
      const toolCalls = calls.map(({ id, name, input }, index): JsonObject => {
        const result = step.results[index] as StepResult
        const status = result.failed ? 'error' : 'success'
        return { id, name, args: input, result: [resultPart(result)], status, timestamp: result.at }
      })
      const model = step.model || 'unknown'
      return [
        record(step.at, {
          type: 'gemini',
          content: texts.length === 1 ? (texts[0]?.text ?? '') : contentParts(texts),
          thoughts: [],
          model,
          ...(toolCalls.length > 0 && { toolCalls }),
        }),
      ]
    },
    close: (): JsonObject[] => [],
  }
}
