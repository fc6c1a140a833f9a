// pi (`@earendil-works/pi-ai`), which also switches providers in the middle of a conversation.

import {
  complete,
  Type,
  type Api,
  type AssistantMessage,
  type Message as PiMessage,
  type Model,
} from '@earendil-works/pi-ai/compat'
import { isObject, type Json } from '../../src/core/json.ts'
import { textOf, type Message, type Reply } from '../../src/core/message.ts'
import { sentBy, type Peer } from './peer.ts'

const apis: Record<string, { api: Api; provider: string; id: string; baseUrl: string }> = {
  'anthropic-messages': {
    api: 'anthropic-messages',
    provider: 'anthropic',
    id: 'claude-sonnet-4-5',
    baseUrl: 'https://api.anthropic.com',
  },
  'openai-chat': { api: 'openai-completions', provider: 'openai', id: 'gpt-4o', baseUrl: 'https://api.openai.com/v1' },
  'openai-responses': {
    api: 'openai-responses',
    provider: 'openai',
    id: 'gpt-5.1',
    baseUrl: 'https://api.openai.com/v1',
  },
  'gemini-generate': {
    api: 'google-generative-ai',
    provider: 'google',
    id: 'gemini-2.5-flash',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  },
  'mistral-chat': {
    api: 'mistral-conversations',
    provider: 'mistral',
    id: 'mistral-medium-latest',
    baseUrl: 'https://api.mistral.ai',
  },
}

export const pi: Peer = {
  name: 'pi-ai',
  protocols: Object.keys(apis),
  sent: (protocol, messages) =>
    sentBy(async () => {
      const given = apis[protocol]
      if (!given) throw new TypeError(`no model for ${protocol}`)
      const model: Model<Api> = {
        ...given,
        name: given.id,
        reasoning: false,
        input: ['text'],
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
        contextWindow: 200_000,
        maxTokens: 8192,
      }
      const tools = [
        {
          name: 'clock',
          description: 'Tells the time.',
          parameters: Type.Object({ zone: Type.Optional(Type.String()) }),
        },
      ]
      const done = await complete(
        model,
        { messages: messages.map(piMessage), tools },
        { apiKey: 'none', maxRetries: 0 },
      )
      if (done.stopReason === 'error') throw new Error(done.errorMessage ?? 'it failed')
    }),
}

export function piMessage(message: Message): PiMessage {
  switch (message.role) {
    case 'assistant':
      return piReply(message)
    case 'tool': {
      const [part] = message.parts
      return {
        role: 'toolResult',
        toolCallId: part?.callId ?? '',
        toolName: part?.name ?? '',
        content: [{ type: 'text', text: textOf(part?.output ?? []) }],
        isError: part?.failed === true,
        timestamp: 0,
      }
    }
    default:
      return { role: 'user', content: textOf(message.parts), timestamp: 0 }
  }
}

const apiOf: Record<string, Api> = {
  'anthropic-messages': 'anthropic-messages',
  'openai-responses': 'openai-responses',
  'gemini-generate': 'google-generative-ai',
}

function piReply({ parts, origin }: Reply): AssistantMessage {
  return {
    role: 'assistant',
    content: parts.flatMap((part): AssistantMessage['content'] => {
      if (part.type === 'text') return [{ type: 'text', text: part.text }]
      if (part.type === 'reasoning') return [{ type: 'thinking', thinking: part.text }]
      if (part.type !== 'tool-call') return []
      return [{ type: 'toolCall', id: part.callId, name: part.name, arguments: argumentsOf(part.input) }]
    }),
    api: apiOf[origin.protocol] ?? 'openai-completions',
    provider: origin.provider,
    model: origin.model,
    usage: {
      input: 0,
      output: 0,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 0,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
    stopReason: parts.some((part) => part.type === 'tool-call') ? 'toolUse' : 'stop',
    timestamp: 0,
  }
}

type Arguments = Extract<AssistantMessage['content'][number], { type: 'toolCall' }>['arguments']

function argumentsOf(input: Json): Arguments {
  return isObject(input) ? (JSON.parse(JSON.stringify(input)) as Arguments) : {}
}
