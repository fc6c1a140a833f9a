// Splits a complete reply into the chunks that would have carried it.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { splitText } from '../shared/text.ts'
import { inside, kindOf } from './types.ts'

export function split(whole: Json, piece = Infinity): Json[] {
  const message = isObject(whole) ? inside(whole.output, 'message') : undefined
  if (!isObject(whole) || !message) return [whole]
  const { output: _, stopReason, additionalModelResponseFields: more, ...rest } = whole
  const blocks = Array.isArray(message.content) ? message.content.filter(isObject) : []
  return [
    { messageStart: { role: message.role ?? 'assistant' } },
    ...blocks.flatMap((block, contentBlockIndex) => {
      const { start, deltas } = cut(block, piece)
      return [
        ...(start ? [{ contentBlockStart: { contentBlockIndex, start } }] : []),
        ...deltas.map((delta) => ({ contentBlockDelta: { contentBlockIndex, delta } })),
        { contentBlockStop: { contentBlockIndex } },
      ]
    }),
    {
      messageStop: {
        ...(stopReason !== undefined && { stopReason }),
        ...(more !== undefined && { additionalModelResponseFields: more }),
      },
    },
    { metadata: { ...rest } },
  ]
}

function cut(block: JsonObject, piece: number): { start?: JsonObject; deltas: JsonObject[] } {
  const kind = kindOf(block)
  const value = inside(block, kind) ?? {}
  if (typeof block.text === 'string') {
    const texts = [...splitText(block.text, piece)]
    return { deltas: (texts.length > 0 ? texts : ['']).map((text) => ({ text })) }
  }
  if (kind === 'toolUse') {
    const { input, ...start } = value
    const text = input === undefined ? '' : JSON.stringify(input)
    return {
      start: { toolUse: start },
      deltas: [...splitText(text, piece)].map((one) => ({ toolUse: { input: one } })),
    }
  }
  if (kind === 'reasoningContent') {
    const { text, signature } = inside(value, 'reasoningText') ?? {}
    const texts = typeof text === 'string' ? [...splitText(text, piece)] : []
    return {
      deltas: [
        ...texts.map((one) => ({ reasoningContent: { text: one } })),
        ...(signature === undefined ? [] : [{ reasoningContent: { signature } }]),
        ...(value.redactedContent === undefined
          ? []
          : [{ reasoningContent: { redactedContent: value.redactedContent } }]),
      ],
    }
  }
  return { start: block, deltas: [] }
}
