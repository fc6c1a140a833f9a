// Tools that the provider of a client's API would run itself, at another provider: its own tool of the kind, a tool of an MCP
// server that the configuration names, or none with a note. The MCP server is the official one for tests, unchanged.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import test, { type TestContext } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { openToolbox } from '../../src/agents/toolbox.ts'
import { loadConfig } from '../../src/config/load.ts'
import { isObject, type Json } from '../../src/core/json.ts'
import { newFolder } from '../config/folder.ts'
import { packaged } from '../mcp/using.ts'
import { serving, type Serving } from '../server/serving.ts'

const question = 'What is 17 + 25?'
const codeInterpreter = { type: 'code_interpreter' as const, container: { type: 'auto' as const } }

/** The tool that adds is served for code. */
async function withServedTool(t: TestContext): Promise<Serving> {
  const folder = newFolder(t, {})
  const { command, args } = packaged('server-everything') as { command: string; args: string[] }
  const file = join(folder, 'synapse.yaml')
  const lines = [
    `mcpServers: { everything: ${JSON.stringify({ command, args })} }`,
    'serverTools: { code-execution: everything__get-sum }',
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  const config = loadConfig({ file })
  return serving(t, { toolbox: () => openToolbox({ config }), serverTools: config?.serverTools ?? {} })
}

const clientOf = ({ url }: Serving) => new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })

/** The tools of the first request to a provider. */
function toolsSent({ emulator }: Serving): Json | undefined {
  const body = emulator.requests[0]?.body
  return isObject(body) ? body.tools : undefined
}

test('a tool of an MCP server answers in place of a tool that the provider lacks, unseen by the client', async (t) => {
  const server = await withServedTool(t)
  const openai = clientOf(server)
  const own = { type: 'function' as const, name: 'clock', parameters: { type: 'object' }, strict: false }
  const request = { model: 'mistral/mistral-large-latest', tools: [own, codeInterpreter], input: question }
  const answer = await openai.responses.create(request)
  assert.match(answer.output_text, /42/)
  assert.deepEqual(
    answer.output.map(({ type }) => type),
    ['message'],
  )
  const [conversation] = (await server.store.conversations('local')).items
  const path = await server.store.history('local', conversation?.head ?? '')
  assert.deepEqual(
    path.map(({ message }) => message.role),
    ['user', 'assistant', 'tool', 'assistant'],
  )
  const [exchange] = (await server.store.exchanges('local', conversation?.id ?? '')).items
  assert.ok(exchange?.notes.some(({ what }) => what === 'server tool code-execution to the tool everything__get-sum'))

  const streamed = openai.responses.stream({ ...request, input: 'What is 20 + 30?', previous_response_id: answer.id })
  const types = new Set<string>()
  for await (const { type } of streamed) types.add(type)
  assert.match((await streamed.finalResponse()).output_text, /50/)
  assert.ok(!types.has('response.function_call_arguments.delta'))
  const items = await openai.responses.inputItems.list(answer.id)
  assert.deepEqual(
    items.data.map(({ type }) => type),
    ['message'],
  )
  assert.equal((await server.store.conversations('local')).items.length, 1)
})

test('a provider with a tool of the kind gets its own', async (t) => {
  const server = await withServedTool(t)
  await clientOf(server).responses.create({
    model: 'anthropic/claude-opus-5',
    tools: [codeInterpreter, { type: 'web_search', filters: { allowed_domains: ['example.org'] } }],
    input: 'Hello',
  })
  assert.deepEqual(toolsSent(server), [
    { type: 'code_execution_20250825', name: 'code_execution' },
    { type: 'web_search_20250305', name: 'web_search', allowed_domains: ['example.org'] },
  ])
  const anthropic = new Anthropic({ apiKey: 'any', baseURL: server.url, maxRetries: 0 })
  const searching = anthropic.messages.create({
    model: 'google/gemini-3-flash-preview',
    max_tokens: 500,
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    messages: [{ role: 'user', content: 'Hello' }],
  })
  const { response } = await searching.withResponse()
  const { notes } = (await server.store.exchange('local', response.headers.get('x-synapse-exchange') ?? '')) ?? {}
  assert.deepEqual(
    notes?.filter(({ kind }) => kind === 'dropped'),
    [],
  )
  const body = JSON.stringify(server.emulator.requests.at(-1)?.body)
  assert.match(body, /"googleSearch":\{\}|"type":"google_search"/)
})

test('a tool that nothing can run is left out with a note', async (t) => {
  const server = await serving(t)
  const answered = await clientOf(server)
    .responses.create({
      model: 'mistral/mistral-large-latest',
      tools: [codeInterpreter, { type: 'file_search', vector_store_ids: ['vs_1'] }, { type: 'image_generation' }],
      input: question,
    })
    .withResponse()
  assert.equal(answered.response.headers.get('x-synapse-notes'), '3')
  assert.equal(toolsSent(server), undefined)
  const exchange = await server.store.exchange('local', answered.response.headers.get('x-synapse-exchange') ?? '')
  assert.deepEqual(
    exchange?.notes.filter(({ kind }) => kind === 'dropped').map(({ what }) => what),
    ['tool of type image_generation', 'server tool file-search', 'server tool code-execution'],
  )
})

test('an unavailable MCP server loses its tool, and not the answer', async (t) => {
  const server = await serving(t, {
    toolbox: () => openToolbox({}),
    serverTools: { 'code-execution': 'nowhere__run' },
  })
  const answer = await clientOf(server).responses.create({
    model: 'mistral/mistral-large-latest',
    tools: [codeInterpreter],
    input: question,
  })
  assert.ok(answer.output_text.length > 0)
})
