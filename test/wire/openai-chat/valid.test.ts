// Any history at all, on every kind of host that speaks this wire: what is written is not refused (P2), and a longer
// history keeps what was sent before it (P4).

import assert from 'node:assert/strict'
import test from 'node:test'
import fc from '../../property.ts'
import { pair } from '../../../src/context/pair.ts'
import type { ToolSpec } from '../../../src/core/context.ts'
import type { JsonObject } from '../../../src/core/json.ts'
import type { Message, Reply } from '../../../src/core/message.ts'
import { openaiChat } from '../../../src/wires/openai-chat/index.ts'
import { anyHistory, loopHistory } from '../../arbitrary.ts'
import { context, decoded, sent, target, type Wanted } from './target.ts'

const tools: ToolSpec[] = [
  { name: 'clock', input: { type: 'object', properties: { zone: { type: 'string' } } } },
  { name: 'fs.read file', input: { type: 'object', properties: {} } },
]

const hosts: Record<string, Wanted> = {
  'OpenAI, before reasoning': { provider: 'openai', model: 'gpt-4o' },
  'OpenAI GPT-5.6': {
    provider: 'openai',
    model: 'gpt-5.6',
    options: { effort: 'high', maxOutput: 100, temperature: 0.2, cacheKey: 'k'.repeat(100) },
    quirks: { cacheKey: true },
    capabilities: {
      sampling: false,
      efforts: ['none', 'low', 'medium', 'high', 'xhigh'],
      effortWithTools: 'none',
      systemRole: 'developer',
      cacheMarks: true,
    },
  },
  DeepSeek: {
    provider: 'deepseek',
    model: 'deepseek-v4-flash',
    options: { effort: 'medium' },
    quirks: { reasoningField: 'reasoning_content', echoReasoning: 'tool-turns', thinkingSwitch: true },
    capabilities: { efforts: ['low', 'high', 'max'], resultMedia: ['image/*'] },
  },
  'DeepSeek R1 elsewhere': {
    provider: 'deepseek',
    model: 'deepseek-r1',
    quirks: { alternate: true, stringContent: true },
    capabilities: { tools: false, prefill: false, media: [] },
  },
  OpenRouter: {
    provider: 'openrouter',
    model: 'anthropic/claude',
    quirks: { reasoningField: 'reasoning_details', echoReasoning: 'always', cacheControl: true },
    capabilities: { cacheMarks: true, resultMedia: ['image/*'] },
  },
  Groq: {
    provider: 'groq',
    model: 'openai/gpt-oss-120b',
    quirks: { reasoningField: 'reasoning', echoReasoning: 'always' },
  },
  Cerebras: { provider: 'cerebras', model: 'zai-glm-4.7', quirks: { stringContent: true } },
  Moonshot: {
    provider: 'moonshot',
    model: 'kimi-k2.6',
    quirks: { reasoningField: 'reasoning_content', echoReasoning: 'tool-turns' },
  },
  Qwen: { provider: 'qwen', model: 'qwen3-max' },
  xAI: { provider: 'xai', model: 'grok-4' },
  'Ollama /v1': {
    provider: 'ollama',
    model: 'qwen3',
    quirks: { noToolChoice: true },
    options: { toolChoice: 'required' },
    capabilities: { mediaUrls: false },
  },
  vLLM: { provider: 'vllm', model: 'llama', quirks: { alternate: true, bridgeAfterTool: true } },
  'llama.cpp': { provider: 'llama.cpp', model: 'llama', quirks: { stringContent: true, alternate: true } },
  'a host that refuses tool history': {
    provider: 'elsewhere',
    model: 'm',
    quirks: { toolMessages: 'text', alternate: true },
  },
}

/** Replies of this very host, as it would have written them, among those from elsewhere. */
function owned(messages: readonly Message[], wanted: Wanted): Message[] {
  return messages.map((message, i): Message => {
    if (message.role !== 'assistant' || i % 2 === 0) return message
    const profile = { model: wanted.model ?? '', replyId: `r${i}`, createdAt: 1, usage }
    const origin = { protocol: 'openai-chat', provider: wanted.provider ?? '', model: wanted.model ?? '' }
    const chunks = openaiChat.split(openaiChat.whole(message, profile), 5)
    return decoded(chunks, { origin }).reply satisfies Reply
  })
}

const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 }

for (const [name, wanted] of Object.entries(hosts)) {
  test(`no history is refused by ${name}`, () => {
    fc.assert(
      fc.property(anyHistory, fc.boolean(), (history, withTools) => {
        const { messages } = pair(owned(history, wanted))
        const { body } = sent(messages, wanted, {
          tools: withTools ? tools : [],
          cacheAfter: [-1, messages.length - 1],
        })
        assert.deepEqual(openaiChat.refuse(body, { ...(wanted.provider && { provider: wanted.provider }) }), [])
      }),
    )
  })

  if (wanted.quirks?.alternate) {
    test(`user and assistant alternate for ${name}, after one system message`, () => {
      fc.assert(
        fc.property(anyHistory, (history) => {
          const { messages } = pair(history)
          const roles = (sent(messages, wanted).messages as JsonObject[]).map((message) => String(message.role))
          assert.doesNotMatch(roles.join(' '), /user user|assistant assistant/)
          assert.notEqual(
            roles.find((role) => role !== 'system'),
            'assistant',
          )
          assert.ok(roles.lastIndexOf('system') <= 0)
        }),
      )
    })
  }

  test(`a longer history keeps what was sent before it to ${name}`, () => {
    fc.assert(
      fc.property(loopHistory, (messages) => {
        let before: string[] = []
        for (const [cut, message] of messages.entries()) {
          if (message.role !== 'assistant') continue
          const { body } = openaiChat.encode(context(messages.slice(0, cut), { tools }), target(wanted))
          const after = (body.messages as JsonObject[]).map((sentMessage) => JSON.stringify(sentMessage))
          assert.deepEqual(after.slice(0, before.length), before)
          before = settled(after, messages[cut - 1])
        }
      }),
    )
  })

  /** What nothing that follows can change: additions at the end and what a neighbour may join are left out. */
  function settled(bodies: string[], last: Message | undefined): string[] {
    if (wanted.capabilities?.prefill === false) return bodies.slice(0, -2)
    return wanted.quirks?.alternate || last?.role === 'assistant' ? bodies.slice(0, -1) : bodies
  }
}
