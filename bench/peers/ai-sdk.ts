// The AI SDK (`ai` with `@ai-sdk/*`).

import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createMistral } from '@ai-sdk/mistral'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, jsonSchema, tool, type AssistantModelMessage, type LanguageModel, type ModelMessage } from 'ai'
import { textOf, type Message } from '../../src/core/message.ts'
import { clock, sentBy, type Peer } from './peer.ts'

const apiKey = 'none'

const models: Record<string, (network: typeof fetch) => LanguageModel> = {
  'anthropic-messages': (fetch) => createAnthropic({ apiKey, fetch })('claude-sonnet-4-5'),
  'openai-chat': (fetch) => createOpenAI({ apiKey, fetch }).chat('gpt-4o'),
  'openai-responses': (fetch) => createOpenAI({ apiKey, fetch }).responses('gpt-5.1'),
  'gemini-generate': (fetch) => createGoogleGenerativeAI({ apiKey, fetch })('gemini-2.5-flash'),
  'mistral-chat': (fetch) => createMistral({ apiKey, fetch })('mistral-medium-latest'),
}

export const aiSdk: Peer = {
  name: 'AI SDK',
  protocols: Object.keys(models),
  sent: (protocol, messages) =>
    sentBy((network) => {
      const model = models[protocol]?.(network)
      if (!model) throw new TypeError(`no model for ${protocol}`)
      return generateText({
        model,
        messages: aiSdkMessages(messages),
        maxRetries: 0,
        tools: { clock: tool({ description: clock.description ?? '', inputSchema: jsonSchema(clock.input) }) },
      })
    }),
}

type Spoken = Exclude<AssistantModelMessage['content'], string>

export function aiSdkMessages(messages: readonly Message[]): ModelMessage[] {
  return messages.map((message): ModelMessage => {
    switch (message.role) {
      case 'system':
        return { role: 'system', content: textOf(message.parts) }
      case 'user':
        return { role: 'user', content: [{ type: 'text', text: textOf(message.parts) }] }
      case 'tool':
        return {
          role: 'tool',
          content: message.parts.map(({ callId, name, output }) => ({
            type: 'tool-result',
            toolCallId: callId,
            toolName: name,
            output: { type: 'text', value: textOf(output) },
          })),
        }
      case 'assistant':
        return {
          role: 'assistant',
          content: message.parts.flatMap((part): Spoken => {
            if (part.type === 'text') return [{ type: 'text', text: part.text }]
            if (part.type === 'reasoning') return [{ type: 'reasoning', text: part.text }]
            if (part.type !== 'tool-call') return []
            return [{ type: 'tool-call', toolCallId: part.callId, toolName: part.name, input: part.input }]
          }),
        }
    }
  })
}
