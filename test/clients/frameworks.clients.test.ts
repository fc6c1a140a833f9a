// Frameworks over official SDKs, unchanged, through the doors: the AI SDK, LangChain and the agents SDK of OpenAI run their
// tool loops with a model of another provider.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as z from 'zod'
import { serving } from '../server/serving.ts'
import { installedSdk } from './installed-sdks.ts'

const packages = {
  '@ai-sdk/anthropic': '4.0.102',
  '@ai-sdk/google': '4.0.117',
  '@ai-sdk/mistral': '4.0.81',
  '@ai-sdk/openai': '4.0.114',
  '@langchain/anthropic': '1.5.11',
  '@langchain/core': '1.2.13',
  '@langchain/ollama': '1.3.0',
  '@langchain/openai': '1.6.0',
  '@openai/agents': '0.20.0',
  ai: '7.0.169',
}

const load = <Sdk>(name: keyof typeof packages): Promise<Sdk> => installedSdk<Sdk>('frameworks', packages, name)

const numbers = z.object({ a: z.number(), b: z.number() })
type Numbers = z.infer<typeof numbers>
const question = 'What is 17 + 25?'
const timeout = 400_000
const models = ['anthropic/claude-opus-5', 'openai/gpt-5.6', 'mistral/mistral-large-latest']

interface AiSdk {
  generateText(options: object): Promise<{ text: string; steps: unknown[]; usage: { inputTokens?: number } }>
  streamText(options: object): { text: PromiseLike<string>; steps: PromiseLike<unknown[]> }
  tool(options: object): unknown
  stepCountIs(count: number): unknown
}
type AiModel = (model: string) => unknown

describe('the AI SDK', () => {
  const providers: Record<string, (url: string) => Promise<AiModel>> = {
    async openai(url) {
      const { createOpenAI } = await load<{ createOpenAI(o: object): { responses: AiModel } }>('@ai-sdk/openai')
      return createOpenAI({ apiKey: 'any', baseURL: `${url}/v1` }).responses
    },
    async 'openai chat'(url) {
      const { createOpenAI } = await load<{ createOpenAI(o: object): { chat: AiModel } }>('@ai-sdk/openai')
      return createOpenAI({ apiKey: 'any', baseURL: `${url}/v1` }).chat
    },
    async anthropic(url) {
      const { createAnthropic } = await load<{ createAnthropic(o: object): AiModel }>('@ai-sdk/anthropic')
      return createAnthropic({ apiKey: 'any', baseURL: `${url}/v1` })
    },
    async google(url) {
      const sdk = await load<{ createGoogleGenerativeAI(o: object): AiModel }>('@ai-sdk/google')
      return sdk.createGoogleGenerativeAI({ apiKey: 'any', baseURL: `${url}/v1beta` })
    },
    async mistral(url) {
      const { createMistral } = await load<{ createMistral(o: object): AiModel }>('@ai-sdk/mistral')
      return createMistral({ apiKey: 'any', baseURL: `${url}/mistral/v1` })
    },
  }

  for (const [name, provider] of Object.entries(providers)) {
    for (const model of models) {
      test(`${name} over ${model}`, { timeout }, async (t) => {
        const { url, store, emulator } = await serving(t, { doorModel: { model, always: true } })
        const { generateText, streamText, tool, stepCountIs } = await load<AiSdk>('ai')
        const add = tool({
          description: 'Adds two numbers.',
          inputSchema: numbers,
          execute: ({ a, b }: Numbers) => a + b,
        })
        const options = {
          model: (await provider(url))('gpt-5.4'),
          tools: { add },
          stopWhen: stepCountIs(4),
          prompt: question,
        }
        const whole = await generateText(options)
        assert.match(whole.text, /42/)
        assert.equal(whole.steps.length, 2)
        assert.ok((whole.usage.inputTokens ?? 0) > 0)
        const streamed = streamText({ ...options, prompt: `Again: ${question}` })
        assert.match(await streamed.text, /42/)
        assert.equal((await streamed.steps).length, 2)
        assert.equal((await store.conversations('local')).items.length, 2)
        assert.ok(emulator.requests.every(({ status }) => status === 200))
      })
    }
  }
})

interface Message {
  content: unknown
  tool_calls?: { id?: string; name: string; args: Numbers }[]
}
interface ChatModel {
  bindTools(tools: unknown[]): {
    invoke(messages: unknown[]): Promise<Message>
    stream(messages: unknown[]): Promise<AsyncIterable<Message>>
  }
}

/** A text, or blocks of which some have one. */
function wordsIn(content: unknown): string {
  if (typeof content === 'string') return content
  return Array.isArray(content) ? content.map(({ text = '' }: { text?: string }) => text).join('') : ''
}

describe('LangChain', () => {
  const providers: Record<string, (url: string) => Promise<ChatModel>> = {
    async openai(url) {
      const { ChatOpenAI } = await load<{ ChatOpenAI: new (o: object) => ChatModel }>('@langchain/openai')
      return new ChatOpenAI({ model: 'gpt-5.4', apiKey: 'any', configuration: { baseURL: `${url}/v1` } })
    },
    async 'openai responses'(url) {
      const { ChatOpenAI } = await load<{ ChatOpenAI: new (o: object) => ChatModel }>('@langchain/openai')
      const configuration = { baseURL: `${url}/v1` }
      return new ChatOpenAI({ model: 'gpt-5.4', apiKey: 'any', useResponsesApi: true, configuration })
    },
    async anthropic(url) {
      const { ChatAnthropic } = await load<{ ChatAnthropic: new (o: object) => ChatModel }>('@langchain/anthropic')
      return new ChatAnthropic({ model: 'claude-sonnet-4-5', apiKey: 'any', anthropicApiUrl: url })
    },
    async ollama(url) {
      const { ChatOllama } = await load<{ ChatOllama: new (o: object) => ChatModel }>('@langchain/ollama')
      return new ChatOllama({ model: 'llama3.2', baseUrl: `${url}/ollama` })
    },
  }

  for (const [name, provider] of Object.entries(providers)) {
    for (const model of models) {
      test(`${name} over ${model}`, { timeout }, async (t) => {
        const { url, store, emulator } = await serving(t, { doorModel: { model, always: true } })
        const schema = z.toJSONSchema(numbers)
        const tools = [
          { type: 'function', function: { name: 'add', description: 'Adds two numbers.', parameters: schema } },
        ]
        const chat = (await provider(url)).bindTools(tools)
        const messages: unknown[] = [{ role: 'user', content: question }]
        const first = await chat.invoke(messages)
        const [call] = first.tool_calls ?? []
        assert.deepEqual(call?.args, { a: 17, b: 25 })
        messages.push(first, { role: 'tool', tool_call_id: call?.id, name: 'add', content: '42' })
        let text = ''
        for await (const { content } of await chat.stream(messages)) text += wordsIn(content)
        assert.match(text, /42/)
        const [conversation, ...others] = (await store.conversations('local')).items
        assert.deepEqual([conversation?.entries, others], [4, []])
        assert.ok(emulator.requests.every(({ status }) => status === 200))
      })
    }
  }
})

interface Agents {
  Agent: new (options: object) => unknown
  OpenAIProvider: new (options: object) => unknown
  Runner: new (options: object) => { run(agent: unknown, input: string, options?: object): Promise<Result> }
  OpenAIConversationsSession: new (options: object) => {
    getSessionId(): Promise<string>
    getItems(): Promise<{ role?: string }[]>
  }
  tool(options: object): unknown
  shellTool(options: object): unknown
  applyPatchTool(options: object): unknown
  computerTool(options: object): unknown
  applyDiff(input: string, diff: string, mode?: 'create'): string
  setTracingDisabled(value: boolean): void
}
interface Result {
  finalOutput: unknown
  lastResponseId?: string
  /** Of a streamed run. */
  completed?: Promise<void>
}

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** The tools that the SDK runs, on `files` and a screen of one pixel; `done`: what they were asked to do. */
function clientTools(sdk: Agents, done: unknown[], files: Map<string, string>): unknown[] {
  const outcome = { type: 'exit', exitCode: 0 }
  const shell = {
    run(action: { commands: string[] }) {
      done.push(action)
      return Promise.resolve({ output: action.commands.map((stdout) => ({ stdout, stderr: '', outcome })) })
    },
  }
  interface Operation {
    path: string
    diff: string
  }
  const editor = {
    createFile({ path, diff }: Operation) {
      files.set(path, sdk.applyDiff('', diff, 'create'))
      return Promise.resolve({ status: 'completed', output: `Created ${path}` })
    },
    updateFile({ path, diff }: Operation) {
      files.set(path, sdk.applyDiff(files.get(path) ?? '', diff))
      return Promise.resolve({ status: 'completed', output: `Updated ${path}` })
    },
    deleteFile({ path }: Operation) {
      files.delete(path)
      return Promise.resolve({ status: 'completed' })
    },
  }
  const names = ['click', 'doubleClick', 'scroll', 'type', 'wait', 'move', 'keypress', 'drag']
  const act =
    (name: string) =>
    (...given: unknown[]) =>
      void done.push([name, ...given.slice(0, name === 'click' ? 3 : 1)])
  const computer = { screenshot: () => pixel, ...Object.fromEntries(names.map((name) => [name, act(name)])) }
  return [sdk.shellTool({ shell }), sdk.applyPatchTool({ editor }), sdk.computerTool({ computer })]
}

describe('the agents SDK of OpenAI', () => {
  for (const model of models) {
    for (const useResponses of [true, false]) {
      test(`${useResponses ? 'responses' : 'chat'} over ${model}`, { timeout }, async (t) => {
        const { url, emulator } = await serving(t, { doorModel: { model, always: true } })
        const sdk = await load<Agents>('@openai/agents')
        sdk.setTracingDisabled(true)
        const add = sdk.tool({
          name: 'add',
          description: 'Adds two numbers.',
          parameters: numbers,
          execute: ({ a, b }: Numbers) => String(a + b),
        })
        const agent = new sdk.Agent({ name: 'Adder', instructions: 'Add.', model: 'gpt-5.4', tools: [add] })
        const modelProvider = new sdk.OpenAIProvider({ apiKey: 'any', baseURL: `${url}/v1`, useResponses })
        const runner = new sdk.Runner({ modelProvider, tracingDisabled: true })
        const first = await runner.run(agent, question)
        assert.match(String(first.finalOutput), /42/)
        if (useResponses) {
          const next = await runner.run(agent, 'What is 20 + 30?', { previousResponseId: first.lastResponseId })
          assert.match(String(next.finalOutput), /50/)
        }
        assert.ok(emulator.requests.every(({ status }) => status === 200))
      })
    }
  }

  const anyModels = [...models, 'google/gemini-3-flash-preview', 'ollama/llama3.2', 'xai/grok-4.5']
  for (const model of anyModels) {
    for (const stream of [false, true]) {
      test(`its shell, patches and computer over ${model}${stream ? ', streamed' : ''}`, { timeout }, async (t) => {
        const { url, emulator } = await serving(t, { doorModel: { model, always: true } })
        const sdk = await load<Agents>('@openai/agents')
        sdk.setTracingDisabled(true)
        const done: unknown[] = []
        const files = new Map([['old.txt', 'one\ntwo\n']])
        const tools = clientTools(sdk, done, files)
        const agent = new sdk.Agent({ name: 'Worker', instructions: 'Work.', model: 'gpt-5.4', tools })
        const modelProvider = new sdk.OpenAIProvider({ apiKey: 'any', baseURL: `${url}/v1`, useResponses: true })
        const runner = new sdk.Runner({ modelProvider, tracingDisabled: true })
        let previousResponseId: string | undefined
        for (const [name, input] of [
          ['shell', { commands: ['ls', 'pwd'], timeout_ms: 500 }],
          ['apply_patch', { type: 'create_file', path: 'new.txt', diff: '+three\n' }],
          ['apply_patch', { type: 'update_file', path: 'old.txt', diff: '@@\n one\n-two\n+2\n' }],
          [
            'computer',
            {
              actions: [
                { type: 'click', button: 'right', x: 3, y: 4 },
                { type: 'keypress', keys: ['A'] },
              ],
            },
          ],
        ] as const) {
          const asked = `use the tool ${name} with ${JSON.stringify(input)}`
          const options = { stream, ...(previousResponseId && { previousResponseId }) }
          const result = await runner.run(agent, asked, options)
          await result.completed
          assert.match(String(result.finalOutput), new RegExp(`${name} answered`))
          previousResponseId = result.lastResponseId
        }
        assert.deepEqual(done, [
          { commands: ['ls', 'pwd'], timeoutMs: 500 },
          ['click', 3, 4, 'right'],
          ['keypress', ['A']],
        ])
        assert.deepEqual(Object.fromEntries(files), { 'old.txt': 'one\n2\n', 'new.txt': 'three' })
        assert.ok(emulator.requests.every(({ status }) => status === 200))
        assert.match(JSON.stringify(emulator.requests.at(-1)?.body), /iVBORw0KGgo/)
      })
    }
  }

  test('a session is a conversation of the server, in order', { timeout }, async (t) => {
    const model = 'mistral/mistral-large-latest'
    const { url } = await serving(t, { doorModel: { model, always: true } })
    const sdk = await load<Agents>('@openai/agents')
    const modelProvider = new sdk.OpenAIProvider({ apiKey: 'any', baseURL: `${url}/v1`, useResponses: true })
    const runner = new sdk.Runner({ modelProvider, tracingDisabled: true })
    const agent = new sdk.Agent({ name: 'Friend', instructions: 'Be brief.', model: 'gpt-5.4' })
    const session = new sdk.OpenAIConversationsSession({ apiKey: 'any', baseURL: `${url}/v1` })
    await runner.run(agent, 'My name is Ada.', { session })
    const { finalOutput } = await runner.run(agent, 'What is my name?', { session })
    assert.match(String(finalOutput), /Ada/)
    const roles = (await session.getItems()).map(({ role }) => role)
    assert.deepEqual(roles, ['user', 'assistant', 'user', 'assistant'])
  })
})
