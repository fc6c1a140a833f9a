// Official clients of the clouds, unchanged, against the emulator: a question, a stream and a tool loop.

import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/core/json.ts'
import { serveEmulator, type ServedEmulator } from '../../src/testing.ts'
import { serving } from '../server/serving.ts'
import { cloudSdk } from './cloud-sdks.ts'

const parameters = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
}
const question = 'What is 17 + 25?'
const aws = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'an-example', sessionToken: 'a-session' }

async function emulating(t: TestContext): Promise<ServedEmulator> {
  const emulator = await serveEmulator()
  t.after(async () => {
    const refused = emulator.requests.filter(({ status }) => status >= 400)
    await emulator.close()
    assert.deepEqual(
      refused.map(({ path, status }) => `${path} ${status}`),
      [],
    )
  })
  return emulator
}

interface Bedrock {
  BedrockRuntimeClient: new (options: object) => {
    send(
      command: object,
    ): Promise<{ output?: { message: { content: JsonObject[] } }; stream: AsyncIterable<JsonObject> }>
  }
  ConverseCommand: new (input: object) => object
  ConverseStreamCommand: new (input: object) => object
  CountTokensCommand: new (input: object) => object
}

describe('@aws-sdk/client-bedrock-runtime', () => {
  const modelId = 'us.amazon.nova-2-lite-v1:0'
  const ask = { modelId, messages: [{ role: 'user', content: [{ text: question }] }] }
  const toolConfig = { tools: [{ toolSpec: { name: 'add', inputSchema: { json: parameters } } }] }

  async function client(t: TestContext) {
    const sdk = await cloudSdk<Bedrock>('@aws-sdk/client-bedrock-runtime')
    const { NodeHttpHandler } = await cloudSdk<{ NodeHttpHandler: new () => object }>('@smithy/node-http-handler')
    const { url } = await emulating(t)
    const requestHandler = new NodeHttpHandler()
    const options = {
      region: 'us-east-1',
      endpoint: `${url}/bedrock`,
      credentials: aws,
      requestHandler,
      maxAttempts: 1,
    }
    return { sdk, bedrock: new sdk.BedrockRuntimeClient(options) }
  }

  test('answers a tool loop of Converse', async (t) => {
    const { sdk, bedrock } = await client(t)
    const first = await bedrock.send(new sdk.ConverseCommand({ ...ask, toolConfig }))
    const message = first.output?.message
    const call = message?.content.find((block) => block.toolUse)?.toolUse as JsonObject
    assert.deepEqual(call.input, { a: 17, b: 25 })
    const result = { toolUseId: call.toolUseId, content: [{ text: '42' }] }
    const messages = [...ask.messages, message, { role: 'user', content: [{ toolResult: result }] }]
    const second = await bedrock.send(new sdk.ConverseCommand({ modelId, messages, toolConfig }))
    assert.match(JSON.stringify(second.output?.message.content), /42/)
  })

  test('reads a stream of Converse with its checksums', async (t) => {
    const { sdk, bedrock } = await client(t)
    const { stream } = await bedrock.send(new sdk.ConverseStreamCommand(ask))
    const events: JsonObject[] = []
    for await (const event of stream) events.push(event)
    assert.match(textUnder(events, 'text'), /17 \+ 25 = 42/)
    assert.ok(events.at(-1)?.metadata)
  })

  test('counts tokens', async (t) => {
    const { sdk, bedrock } = await client(t)
    const input = { converse: { messages: ask.messages } }
    const counted = await bedrock.send(new sdk.CountTokensCommand({ modelId: 'amazon.nova-2-lite-v1:0', input }))
    assert.ok(Number((counted as unknown as JsonObject).inputTokens) > 0)
  })
})

/** All texts under a key, joined. */
function textUnder(value: unknown, key: string): string {
  const found: string[] = []
  JSON.stringify(value, (name, inner: unknown) => {
    if (name === key && typeof inner === 'string') found.push(inner)
    return inner
  })
  return found.join('')
}

interface Claude {
  messages: {
    create(body: object): Promise<{ content: JsonObject[] }>
    stream(body: object): { finalMessage(): Promise<{ content: JsonObject[] }> }
  }
}

type ClaudeClient = new (options: object) => Claude

const claudes: [name: string, model: string, open: (url: string) => Promise<Claude>][] = [
  [
    '@anthropic-ai/bedrock-sdk',
    'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    async (url) => {
      const { AnthropicBedrock } = await cloudSdk<{ AnthropicBedrock: ClaudeClient }>('@anthropic-ai/bedrock-sdk')
      const keys = { awsAccessKey: aws.accessKeyId, awsSecretKey: aws.secretAccessKey, awsSessionToken: 'a-session' }
      return new AnthropicBedrock({ baseURL: `${url}/bedrock-invoke`, awsRegion: 'us-east-1', ...keys, maxRetries: 0 })
    },
  ],
  [
    '@anthropic-ai/bedrock-sdk with a key',
    'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    async (url) => {
      const { AnthropicBedrock } = await cloudSdk<{ AnthropicBedrock: ClaudeClient }>('@anthropic-ai/bedrock-sdk')
      return new AnthropicBedrock({
        baseURL: `${url}/bedrock-invoke`,
        awsRegion: 'us-east-1',
        apiKey: 'any',
        maxRetries: 0,
      })
    },
  ],
  [
    '@anthropic-ai/vertex-sdk',
    'claude-sonnet-4-5@20250929',
    async (url) => {
      const { AnthropicVertex } = await cloudSdk<{ AnthropicVertex: ClaudeClient }>('@anthropic-ai/vertex-sdk')
      const authClient = { projectId: 'p', getRequestHeaders: async () => new Headers({ authorization: 'Bearer any' }) }
      return new AnthropicVertex({
        baseURL: `${url}/vertex/v1`,
        projectId: 'p',
        region: 'global',
        authClient,
        maxRetries: 0,
      })
    },
  ],
  [
    '@anthropic-ai/foundry-sdk',
    'claude-opus-5',
    async (url) => {
      const sdk = await cloudSdk<{ AnthropicFoundry: ClaudeClient }>('@anthropic-ai/foundry-sdk')
      return new sdk.AnthropicFoundry({ baseURL: `${url}/foundry/anthropic/`, apiKey: 'any', maxRetries: 0 })
    },
  ],
  [
    '@anthropic-ai/aws-sdk',
    'claude-opus-5',
    async (url) => {
      const sdk = await cloudSdk<{ AnthropicAws: ClaudeClient }>('@anthropic-ai/aws-sdk')
      const where = { baseURL: `${url}/claude-aws`, awsRegion: 'us-east-1', workspaceId: 'w' }
      return new sdk.AnthropicAws({ ...where, apiKey: 'any', maxRetries: 0 })
    },
  ],
]

for (const [name, model, open] of claudes) {
  describe(name, () => {
    const body = { model, max_tokens: 100, messages: [{ role: 'user', content: question }] }

    test('answers a tool loop', async (t) => {
      const claude = await open((await emulating(t)).url)
      const tools = [{ name: 'add', input_schema: parameters }]
      const first = await claude.messages.create({ ...body, tools })
      const call = first.content.find(({ type }) => type === 'tool_use')
      assert.deepEqual(call?.input, { a: 17, b: 25 })
      const result = { type: 'tool_result', tool_use_id: call.id, content: '42' }
      const messages = [
        ...body.messages,
        { role: 'assistant', content: first.content },
        { role: 'user', content: [result] },
      ]
      const second = await claude.messages.create({ ...body, messages, tools })
      assert.match(textUnder(second.content, 'text'), /42/)
    })

    test('reads a stream', async (t) => {
      const claude = await open((await emulating(t)).url)
      const { content } = await claude.messages.stream(body).finalMessage()
      assert.match(textUnder(content, 'text'), /17 \+ 25 = 42/)
    })
  })
}

interface Genai {
  GoogleGenAI: new (options: object) => {
    models: {
      generateContent(request: object): Promise<{ text?: string; functionCalls?: JsonObject[] }>
      generateContentStream(request: object): Promise<AsyncIterable<{ text?: string }>>
      countTokens(request: object): Promise<{ totalTokens?: number }>
    }
  }
}

describe('@google/genai on Vertex AI', async () => {
  const model = 'gemini-2.5-flash'
  const { GoogleGenAI } = await cloudSdk<Genai>('@google/genai')
  const { OAuth2Client } = await cloudSdk<{
    OAuth2Client: new () => { setCredentials(credentials: object): void }
  }>('google-auth-library')
  const authClient = new OAuth2Client()
  authClient.setCredentials({ access_token: 'any', expiry_date: Date.now() + 3_600_000 })
  const forms: Record<string, (url: string) => object> = {
    'by project': (url) => ({
      vertexai: true,
      project: 'p',
      location: 'global',
      googleAuthOptions: { authClient },
      httpOptions: { baseUrl: `${url}/vertex` },
    }),
    'with an express key': (url) => ({
      vertexai: true,
      apiKey: 'any',
      httpOptions: { baseUrl: `${url}/vertex-express` },
    }),
  }
  for (const [form, options] of Object.entries(forms)) {
    test(`answers, streams and counts ${form}`, async (t) => {
      const { models } = new GoogleGenAI(options((await emulating(t)).url))
      const { text } = await models.generateContent({ model, contents: question })
      assert.match(text ?? '', /17 \+ 25 = 42/)
      let streamed = ''
      for await (const chunk of await models.generateContentStream({ model, contents: question })) {
        streamed += chunk.text ?? ''
      }
      assert.match(streamed, /17 \+ 25 = 42/)
      const tools = [{ functionDeclarations: [{ name: 'add', parametersJsonSchema: parameters }] }]
      const { functionCalls } = await models.generateContent({ model, contents: question, config: { tools } })
      assert.deepEqual(functionCalls?.[0]?.args, { a: 17, b: 25 })
      assert.ok(((await models.countTokens({ model, contents: question })).totalTokens ?? 0) > 0)
    })
  }
})

interface Cohere {
  CohereClientV2: new (options: object) => {
    chat(request: object): Promise<{ message: CohereMessage; finishReason: string; usage?: JsonObject }>
    chatStream(request: object): Promise<AsyncIterable<JsonObject>>
  }
}

interface CohereMessage {
  content?: JsonObject[]
  toolCalls?: { id: string; function: { arguments: string } }[]
}

describe('cohere-ai', () => {
  const tools = [{ type: 'function', function: { name: 'add', description: 'Adds.', parameters } }]
  const asked = { role: 'user', content: question }

  async function loop(baseUrl: string, model: string): Promise<void> {
    const { CohereClientV2 } = await cloudSdk<Cohere>('cohere-ai')
    const cohere = new CohereClientV2({ token: 'any', environment: baseUrl, baseUrl })
    const first = await cohere.chat({ model, messages: [asked], tools })
    assert.equal(first.finishReason, 'TOOL_CALL')
    const [call] = first.message.toolCalls ?? []
    assert.deepEqual(JSON.parse(call?.function.arguments ?? ''), { a: 17, b: 25 })
    const result = { role: 'tool', toolCallId: call?.id, content: '42' }
    const messages = [asked, { ...first.message, role: 'assistant' }, result]
    const second = await cohere.chat({ model, messages, tools })
    assert.match(textUnder(second.message.content, 'text'), /42/)
    assert.ok(second.usage?.billedUnits)
    const events: JsonObject[] = []
    for await (const event of await cohere.chatStream({ model, messages: [asked] })) events.push(event)
    assert.match(textUnder(events, 'text'), /17 \+ 25 = 42/)
    assert.equal(events.at(-1)?.type, 'message-end')
  }

  test('answers a tool loop and streams', async (t) => {
    const { url } = await emulating(t)
    await loop(`${url}/cohere`, 'command-a-03-2025')
  })

  for (const model of ['cohere/command-a-03-2025', 'anthropic/claude-opus-5', 'openai/gpt-5.6']) {
    test(`does the same through the front door over ${model}`, async (t) => {
      const { url } = await serving(t)
      await loop(`${url}/cohere`, model)
    })
  }
})

interface Chat {
  chat: { completions: { create(body: object): Promise<{ choices: { message: { content: string } }[] }> } }
  responses: { create(body: object): Promise<{ output_text: string }> }
}

test('openai for Azure answers on both wires', async (t) => {
  const { AzureOpenAI, OpenAI } =
    await cloudSdk<Record<'AzureOpenAI' | 'OpenAI', new (options: object) => Chat>>('openai')
  const { url } = await emulating(t)
  const newer = new OpenAI({ baseURL: `${url}/azure-openai/openai/v1`, apiKey: 'any', maxRetries: 0 })
  const messages = [{ role: 'user', content: question }]
  const answer = await newer.chat.completions.create({ model: 'gpt-5.6', messages })
  assert.match(answer.choices[0]?.message.content ?? '', /42/)
  assert.match((await newer.responses.create({ model: 'gpt-5.6', input: question })).output_text, /42/)
  const older = new AzureOpenAI({
    endpoint: `${url}/azure-openai`,
    apiKey: 'any',
    apiVersion: '2024-10-21',
    maxRetries: 0,
  })
  const again = await older.chat.completions.create({ model: 'gpt-4o', messages })
  assert.match(again.choices[0]?.message.content ?? '', /42/)
})
