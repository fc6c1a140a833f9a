// How others read the same streams, as their users would: the whole way from the response to the last event.

import Anthropic from '@anthropic-ai/sdk'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { ChatAnthropic } from '@langchain/anthropic'
import { ChatOpenAI } from '@langchain/openai'
import { streamText } from 'ai'
import OpenAI from 'openai'
import { answering, type StreamPeer } from './answering.ts'

const apiKey = 'none'
const prompt = 'Go.'

export const streamPeers: readonly StreamPeer[] = [
  {
    name: 'official SDK',
    async read(protocol, chunks) {
      const fetch = answering(chunks)
      if (protocol === 'anthropic-messages') {
        const client = new Anthropic({ apiKey, fetch })
        const messages = [{ role: 'user' as const, content: prompt }]
        return drained(await client.messages.create({ model: 'a-model', max_tokens: 100, messages, stream: true }))
      }
      const client = new OpenAI({ apiKey, fetch })
      if (protocol === 'openai-responses') {
        return drained(await client.responses.create({ model: 'a-model', input: prompt, stream: true }))
      }
      const messages = [{ role: 'user' as const, content: prompt }]
      return drained(await client.chat.completions.create({ model: 'a-model', messages, stream: true }))
    },
  },
  {
    name: 'LangChain',
    async read(protocol, chunks) {
      const fetch = answering(chunks)
      const model =
        protocol === 'anthropic-messages'
          ? new ChatAnthropic({ apiKey, model: 'a-model', clientOptions: { fetch } })
          : new ChatOpenAI({
              apiKey,
              model: 'a-model',
              useResponsesApi: protocol === 'openai-responses',
              configuration: { fetch },
            })
      return drained(await model.stream(prompt))
    },
  },
  {
    name: 'AI SDK',
    read(protocol, chunks) {
      const fetch = answering(chunks)
      const openai = createOpenAI({ apiKey, fetch })
      const model =
        protocol === 'anthropic-messages'
          ? createAnthropic({ apiKey, fetch })('a-model')
          : protocol === 'openai-responses'
            ? openai.responses('a-model')
            : openai.chat('a-model')
      return drained(streamText({ model, prompt }).fullStream)
    },
  },
]

async function drained(stream: AsyncIterable<unknown>): Promise<number> {
  let seen = 0
  for await (const _ of stream) seen++
  return seen
}
