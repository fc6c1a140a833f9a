// A wire that Synapse does not have, in one file: Cohere's chat API (v2). A wire only needs encode and decode; folding,
// switching, the log and the loop work as for every other. Here a recorded answer replaces the server.

import {
  defineWire,
  openSynapse,
  type Decoder,
  type JsonObject,
  type Message,
  type Part,
  type ProviderRow,
  type ReplyEvent,
  type StopReason,
  type ToolSpec,
} from 'synapse'

export const cohere = defineWire({
  id: 'cohere-chat',
  framing: { kind: 'sse' },

  encode({ system, messages, tools }, { model, options }) {
    const head = system.length > 0 ? [{ role: 'system', content: textOf(system) }] : []
    return {
      path: '/v2/chat',
      body: {
        model,
        stream: true,
        messages: [...head, ...messages.flatMap(encodeMessage)],
        ...(tools.length > 0 && { tools: tools.map(encodeTool) }),
        ...(options.maxOutput !== undefined && { max_tokens: options.maxOutput }),
        ...(options.temperature !== undefined && { temperature: options.temperature }),
      },
      notes: [],
      toolNames: {},
    }
  },

  decoder(origin, { callId } = {}): Decoder {
    const parts: Part[] = []
    let [started, done, calls] = [false, false, 0]
    const argumentsOf: string[] = []

    const open = (part: Part): ReplyEvent[] => [{ type: 'part-start', index: parts.push(part) - 1, part }]
    const close = (index: number): ReplyEvent[] => {
      const part = parts[index]
      if (part?.type === 'tool-call') part.input = JSON.parse(argumentsOf[index] || '{}') as JsonObject
      return part ? [{ type: 'part-end', index, part }] : []
    }

    return {
      get done() {
        return done
      },
      push(chunk) {
        const { type, delta, id } = chunk as unknown as CohereEvent
        const events: ReplyEvent[] = []
        if (!started) events.push({ type: 'reply-start', origin: { ...origin, ...(id && { replyId: id }) } })
        started = true
        const last = parts.length - 1
        const { content, tool_calls: call } = delta?.message ?? {}
        if (type === 'content-start') events.push(...open({ type: 'text', text: '' }))
        else if (type === 'content-delta' && content?.text) {
          const part = parts[last]
          if (part?.type === 'text') part.text += content.text
          events.push({ type: 'part-delta', index: last, text: content.text })
        } else if (type === 'tool-call-start' && call) {
          const alias = call.id ?? `call-${calls}`
          const made = callId?.(calls, alias) ?? alias
          calls++
          events.push(...open({ type: 'tool-call', callId: made, alias, name: call.function.name ?? '', input: {} }))
        } else if (type === 'tool-call-delta' && call) {
          argumentsOf[last] = (argumentsOf[last] ?? '') + call.function.arguments
          events.push({ type: 'part-delta', index: last, text: call.function.arguments })
        } else if (type === 'content-end' || type === 'tool-call-end') events.push(...close(last))
        else if (type === 'message-end') {
          done = true
          const { input_tokens: input = 0, output_tokens: output = 0 } = delta?.usage?.tokens ?? {}
          const reason = reasons[delta?.finish_reason ?? ''] ?? 'done'
          const usage = { input, output, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
          events.push({ type: 'reply-end', origin, stop: { reason }, native: [], usage })
        }
        return events
      },
      end(cause) {
        if (done) return []
        const failure = cause && 'failure' in cause ? { failure: cause.failure } : {}
        return [{ type: 'reply-end', origin, stop: { reason: cause?.reason ?? 'interrupted' }, native: [], ...failure }]
      },
    }
  },
})

interface CohereEvent {
  type: string
  id?: string
  delta?: { message?: CohereMessage; finish_reason?: string; usage?: { tokens?: Record<string, number> } }
}

interface CohereMessage {
  content?: { text?: string }
  tool_calls?: { id?: string; function: { name?: string; arguments: string } }
}

const reasons: Record<string, StopReason> = { TOOL_CALL: 'tool-calls', MAX_TOKENS: 'length' }

function encodeTool({ name, description = '', input }: ToolSpec): JsonObject {
  return { type: 'function', function: { name, description, parameters: input } }
}

function encodeMessage(message: Message): JsonObject[] {
  if (message.role === 'tool') {
    return message.parts.map(({ callId, output }) => ({ role: 'tool', tool_call_id: callId, content: textOf(output) }))
  }
  const calls = message.role === 'assistant' ? message.parts.filter((part) => part.type === 'tool-call') : []
  const tool_calls = calls.map(({ callId, name, input }) => ({
    id: callId,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }))
  return [{ role: message.role, content: textOf(message.parts), ...(calls.length > 0 && { tool_calls }) }]
}

function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

const recorded = [
  { type: 'message-start', id: 'r1' },
  { type: 'content-start' },
  { type: 'content-delta', delta: { message: { content: { text: 'Hello from ' } } } },
  { type: 'content-delta', delta: { message: { content: { text: 'a wire of your own.' } } } },
  { type: 'content-end' },
  { type: 'message-end', delta: { finish_reason: 'COMPLETE', usage: { tokens: { input_tokens: 9 } } } },
]

const stream = recorded.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
const headers = { 'content-type': 'text/event-stream' }
const row: ProviderRow = {
  id: 'cohere',
  name: 'Cohere',
  wires: [{ protocol: 'cohere-chat', baseUrl: 'https://api.cohere.com', caching: 'none' }],
  keyVariables: ['COHERE_API_KEY'],
  auth: { header: 'authorization', prefix: 'Bearer ' },
}
const transport = { fetch: async () => new Response(stream, { headers }) }
const synapse = await openSynapse({ wires: [cohere], rows: [row], keys: { cohere: 'a-key' }, transport })
const chat = await synapse.start({ model: 'cohere/command-a-03-2025' })
console.log(await chat.send('Hello!').text(), (await chat.usage()).input)
await synapse.close()
