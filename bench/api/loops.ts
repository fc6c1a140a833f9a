// One loop with a tool from the question to the answer, as users of each library write it.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { look, lookSchema, type LookInput } from './look.ts'

export interface Loop {
  /** One loop in a new conversation. */
  run(): Promise<void>
  /** The events of steps, for those who look at one step. */
  close?(): Promise<void>
}

const description = 'Looks something up.'
const question = 'Look until you know.'
/** More than any loop of the bench takes. */
const mostSteps = 1000

export const handWritten = 'hand-written `fetch` loop'

/** By the name of the contender; `url` is the base URL of the upstream. */
export const loops: Record<string, (url: string) => Promise<Loop>> = {
  [handWritten]: async (url) => ({ run: () => byHand(url) }),
  'Synapse, memory': (url) => synapse(url, false),
  'Synapse, SQLite': (url) => synapse(url, true),
  'OpenAI SDK `runTools`': async (url) => {
    const { default: OpenAI } = await import('openai')
    const client = new OpenAI({ apiKey: 'none', baseURL: url })
    return {
      async run() {
        const runner = client.chat.completions.runTools(
          {
            model: 'gpt-4o',
            stream: true,
            messages: [{ role: 'user', content: question }],
            tools: [
              {
                type: 'function',
                function: {
                  name: 'look',
                  description,
                  parameters: lookSchema as unknown as Record<string, unknown>,
                  parse: (text: string) => JSON.parse(text) as LookInput,
                  function: look,
                },
              },
            ],
          },
          { maxChatCompletions: mostSteps },
        )
        await runner.finalContent()
      },
    }
  },
  'AI SDK `streamText`': async (url) => {
    const { createOpenAI } = await import('@ai-sdk/openai')
    const { jsonSchema, stepCountIs, streamText, tool } = await import('ai')
    const model = createOpenAI({ apiKey: 'none', baseURL: url }).chat('gpt-4o')
    const tools = {
      look: tool({
        description,
        inputSchema: jsonSchema<LookInput>(lookSchema as never),
        execute: async (input: LookInput) => look(input),
      }),
    }
    return {
      async run() {
        const { fullStream } = streamText({ model, prompt: question, tools, stopWhen: stepCountIs(mostSteps) })
        for await (const _ of fullStream);
      },
    }
  },
  'LangChain `stream`': async (url) => {
    const { ChatOpenAI } = await import('@langchain/openai')
    const { HumanMessage, ToolMessage } = await import('@langchain/core/messages')
    const parameters = lookSchema
    const model = new ChatOpenAI({ apiKey: 'none', model: 'gpt-4o', configuration: { baseURL: url } }).bindTools([
      { type: 'function', function: { name: 'look', description, parameters } },
    ])
    return {
      async run() {
        const messages: Parameters<typeof model.stream>[0] & object[] = [new HumanMessage(question)]
        for (;;) {
          let reply: Awaited<ReturnType<typeof model.invoke>> | undefined
          for await (const chunk of await model.stream(messages)) reply = reply ? reply.concat(chunk) : chunk
          if (!reply) return
          messages.push(reply)
          const calls = reply.tool_calls ?? []
          if (calls.length === 0) return
          for (const { id = '', args } of calls)
            messages.push(new ToolMessage({ content: look(args as LookInput), tool_call_id: id }))
        }
      },
    }
  },
  'pi-ai `stream`': async (url) => {
    const { stream, Type } = await import('@earendil-works/pi-ai/compat')
    const tools = [
      { name: 'look', description, parameters: Type.Object({ number: Type.Number(), size: Type.Number() }) },
    ]
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
    const model = {
      api: 'openai-completions' as const,
      provider: 'openai',
      id: 'gpt-4o',
      name: 'gpt-4o',
      baseUrl: url,
      reasoning: false,
      input: ['text' as const],
      cost,
      contextWindow: 200_000,
      maxTokens: 8192,
    }
    return {
      async run() {
        const messages: Parameters<typeof stream>[1]['messages'] = [{ role: 'user', content: question, timestamp: 0 }]
        for (;;) {
          const events = stream(model, { messages, tools }, { apiKey: 'none' })
          for await (const _ of events);
          const reply = await events.result()
          if (reply.stopReason === 'error') throw new Error(reply.errorMessage)
          messages.push(reply)
          const calls = reply.content.filter((part) => part.type === 'toolCall')
          if (calls.length === 0) return
          for (const { id, name, arguments: args } of calls) {
            const content = [{ type: 'text' as const, text: look(args as unknown as LookInput) }]
            messages.push({ role: 'toolResult', toolCallId: id, toolName: name, content, isError: false, timestamp: 0 })
          }
        }
      },
    }
  },
}

async function synapse(url: string, durable: boolean): Promise<Loop> {
  const { defineTool, openSynapse } = await import('../built.ts')
  const folder = durable ? mkdtempSync(join(tmpdir(), 'synapse-bench-')) : undefined
  const opened = await openSynapse({
    ...(folder !== undefined && { store: join(folder, 'log.db') }),
    keys: { openai: 'none' },
    baseUrls: { openai: url },
  })
  const tool = defineTool({
    name: 'look',
    description,
    input: lookSchema as never,
    run: async (input: unknown) => look(input as LookInput),
  })
  return {
    async run() {
      const chat = await opened.start({
        model: 'openai/gpt-4o',
        protocol: 'openai-chat',
        tools: [tool],
        maxSteps: mostSteps,
      })
      const { outcome, failure } = await chat.send(question).ended
      if (outcome !== 'done') throw new Error(failure?.message ?? outcome)
    },
    async close() {
      await opened.close()
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface ByHand {
  role: string
  content: string | null
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
  tool_call_id?: string
}

/** The least that streams, calls a tool and remembers, on one provider, with no failure looked at. */
async function byHand(url: string): Promise<void> {
  const tools = [{ type: 'function', function: { name: 'look', description, parameters: lookSchema } }]
  const messages: ByHand[] = [{ role: 'user', content: question }]
  for (;;) {
    const response = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer none' },
      body: JSON.stringify({ model: 'gpt-4o', stream: true, messages, tools }),
    })
    const reply = await replyIn(response)
    messages.push(reply)
    if (!reply.tool_calls) return
    for (const { id, function: called } of reply.tool_calls) {
      messages.push({ role: 'tool', tool_call_id: id, content: look(JSON.parse(called.arguments) as LookInput) })
    }
  }
}

async function replyIn({ body }: Response): Promise<ByHand> {
  const reply: ByHand = { role: 'assistant', content: null }
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of body ?? []) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (!line.startsWith('data: {')) continue
      const { choices } = JSON.parse(line.slice(6)) as { choices: { delta: Partial<ByHand> }[] }
      const delta = choices[0]?.delta
      if (delta?.content) reply.content = (reply.content ?? '') + delta.content
      for (const piece of delta?.tool_calls ?? []) {
        reply.tool_calls ??= []
        if (piece.id) reply.tool_calls.push(piece)
        else (reply.tool_calls.at(-1) as typeof piece).function.arguments += piece.function.arguments
      }
    }
  }
  return reply
}
