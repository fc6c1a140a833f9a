// LangChain, for the makers whose packages are installed here.

import { ChatAnthropic } from '@langchain/anthropic'
import { AIMessage, HumanMessage, SystemMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { callsOf, textOf, type Message } from '../../src/core/message.ts'
import { clock, sentBy, type Peer } from './peer.ts'

const tools = [{ type: 'function', function: { ...clock, parameters: clock.input } }]

export const langchain: Peer = {
  name: 'LangChain',
  protocols: ['anthropic-messages', 'openai-chat', 'openai-responses'],
  sent: (protocol, messages) =>
    sentBy((network) => {
      const input = langchainMessages(messages)
      if (protocol === 'anthropic-messages') {
        const model = new ChatAnthropic({
          apiKey: 'none',
          model: 'claude-sonnet-4-5',
          maxRetries: 0,
          clientOptions: { fetch: network },
        })
        return model.bindTools(tools).invoke(input)
      }
      const model = new ChatOpenAI({
        apiKey: 'none',
        model: protocol === 'openai-chat' ? 'gpt-4o' : 'gpt-5.1',
        maxRetries: 0,
        useResponsesApi: protocol === 'openai-responses',
        configuration: { fetch: network },
      })
      return model.bindTools(tools).invoke(input)
    }),
}

export function langchainMessages(messages: readonly Message[]): BaseMessage[] {
  return messages.flatMap((message): BaseMessage[] => {
    switch (message.role) {
      case 'system':
        return [new SystemMessage(textOf(message.parts))]
      case 'user':
        return [new HumanMessage(textOf(message.parts))]
      case 'tool':
        return message.parts.map(
          ({ callId, name, output }) => new ToolMessage({ content: textOf(output), tool_call_id: callId, name }),
        )
      case 'assistant':
        return [
          new AIMessage({
            content: textOf(message.parts),
            tool_calls: callsOf(message).map(({ callId, name, input }) => ({
              id: callId,
              name,
              args: argumentsOf(input),
              type: 'tool_call' as const,
            })),
          }),
        ]
    }
  })
}

function argumentsOf(input: Json): JsonObject {
  return isObject(input) ? input : {}
}
