// Tools that the provider runs: declared as in its own client, next to other tools; elsewhere left out or replaced.

import assert from 'node:assert/strict'
import type Anthropic from '@anthropic-ai/sdk'
import type { Tool as GeminiTool } from '@google/genai'
import type OpenAI from 'openai'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { openSynapse, prepare, refuse, replay, type Message, type Options } from '../../src/index.ts'
import { createEmulator } from '../../src/testing.ts'
import { corpusFiles, noCorpus } from '../corpus.ts'

const serverTools: Options['serverTools'] = [
  { kind: 'web-search' },
  { kind: 'code-execution' },
  { kind: 'file-search', stores: ['s1'] },
  { kind: 'mcp', name: 'docs', url: 'https://mcp.example/mcp', only: ['find'] },
]
const messages: Message[] = [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }]
const clock = { name: 'clock', input: { type: 'object', properties: {} } }
const prepared = (provider: string, more: { protocol?: string; tools?: (typeof clock)[] } = {}) =>
  prepare({ provider, messages, tools: [clock], options: { serverTools }, ...more })

/** The elements of `tools` but the own ones. */
function declared({ body }: ReturnType<typeof prepare>) {
  assert.ok(Array.isArray(body.tools))
  return body.tools.filter((tool) => !JSON.stringify(tool).includes('"clock"'))
}

test('OpenAI: as in its client, next to other tools', () => {
  const expected: OpenAI.Responses.Tool[] = [
    { type: 'web_search' },
    { type: 'code_interpreter', container: { type: 'auto' } },
    { type: 'file_search', vector_store_ids: ['s1'] },
    {
      type: 'mcp',
      server_label: 'docs',
      server_url: 'https://mcp.example/mcp',
      require_approval: 'never',
      allowed_tools: ['find'],
    },
  ]
  const made = prepared('openai')
  assert.deepEqual(declared(made), expected)
  assert.equal((made.body.tools as unknown[]).length, 5)
  assert.deepEqual(refuse(made.protocol, made.body, { provider: 'openai' }), [])
})

test('Anthropic: three of them, the servers in a separate field, and a note about the fourth', () => {
  const expected: Anthropic.Beta.BetaToolUnion[] = [
    { type: 'web_search_20250305', name: 'web_search' },
    { type: 'code_execution_20250825', name: 'code_execution' },
    {
      type: 'mcp_toolset',
      mcp_server_name: 'docs',
      default_config: { enabled: false },
      configs: { find: { enabled: true } },
    },
  ]
  const servers: Anthropic.Beta.BetaRequestMCPServerURLDefinition[] = [
    { type: 'url', name: 'docs', url: 'https://mcp.example/mcp' },
  ]
  const made = prepared('anthropic')
  assert.deepEqual(declared(made), expected)
  assert.deepEqual(made.body.mcp_servers, servers)
  assert.match(made.headers['anthropic-beta'] ?? '', /mcp-client/)
  assert.deepEqual(refuse(made.protocol, made.body, { provider: 'anthropic' }), [])
  assert.match(JSON.stringify(made.notes), /server tool file-search.*anthropic has none on anthropic-messages/)
})

test('Google: on both of its wires', () => {
  const expected: GeminiTool[] = [
    { googleSearch: {} },
    { codeExecution: {} },
    { fileSearch: { fileSearchStoreNames: ['s1'] } },
  ]
  assert.deepEqual(declared(prepared('google')), expected)
  const types = declared(prepared('google', { protocol: 'gemini-interactions' })).map((tool) => Object(tool).type)
  assert.deepEqual(types, ['google_search', 'code_execution', 'file_search', 'mcp_server'])
})

test('if the provider has none, your own tool of the name replaces it; if it has one, that one is used', () => {
  const own = { ...clock, name: 'web_search' }
  const elsewhere = prepared('mistral', { tools: [own] })
  assert.match(JSON.stringify(elsewhere.body.tools), /"web_search"/)
  assert.match(JSON.stringify(elsewhere.notes), /the tool web_search replaces it/)
  const here = prepared('openai', { tools: [own] })
  assert.equal(JSON.stringify(here.body.tools).match(/"web_search"/g)?.length, 1)
  assert.match(JSON.stringify(here.notes), /tool web_search.*the provider runs its own/)
})

test('the result of a server tool stays in the log, and is text at another provider', async () => {
  const emulator = createEmulator({
    reply: ({ provider }) =>
      provider === 'google'
        ? {
            parts: [
              {
                type: 'server-tool',
                name: 'code_execution',
                input: { code: 'print(6 * 7)' },
                output: { output: '42' },
              },
              { type: 'text', text: 'It is 42.' },
            ],
          }
        : undefined,
  })
  const synapse = await openSynapse({ offline: emulator })
  const chat = await synapse.start({ model: 'google', options: { serverTools: [{ kind: 'code-execution' }] } })
  await chat.send('What is 6 * 7?').ended
  const reply = (await chat.history()).at(-1)?.message
  assert.ok(reply?.role === 'assistant' && reply.parts.some((part) => part.type === 'server-tool'))
  const { body } = await chat.inspect({ model: 'mistral' })
  assert.match(JSON.stringify(body), /print\(6 \* 7\)/)
  assert.equal((await chat.send('Thanks.', { model: 'mistral' }).ended).outcome, 'done')
  // They are stored with the conversation.
  const again = await synapse.open(chat.id)
  assert.match(JSON.stringify((await again.inspect()).body.tools), /codeExecution/)
})

const elsewhere = ['openai', 'anthropic', 'google', 'mistral', 'deepseek', 'cohere', 'bedrock']

test('the sources that an answer cites are named once each in its text at every other provider', () => {
  const cited: Message = {
    role: 'assistant',
    parts: [
      {
        type: 'server-tool',
        name: 'web_search',
        input: { query: 'tea' },
        output: [{ url: 'https://a.example', encrypted_content: 'c2VjcmV0' }],
      },
      {
        type: 'text',
        text: 'Tea is hot.',
        citations: [
          { type: 'url_citation', url: 'https://a.example', title: 'On\ntea' },
          { type: 'url_citation', url: 'https://a.example' },
          { groundingChunks: [{ web: { uri: 'https://b.example', title: 'B' } }] },
          { type: 'char_location', document_title: 'leaves.pdf', cited_text: 'hot' },
          'https://c.example',
        ],
      },
    ],
    native: [],
    origin: { protocol: 'openai-responses', provider: 'xai', model: 'grok-4.5' },
    stop: { reason: 'done' },
  }
  const list = '[Sources]\n- On tea: https://a.example\n- B: https://b.example\n- leaves.pdf\n- https://c.example'
  for (const provider of elsewhere) {
    const made = prepare({ provider, messages: [...messages, cited, ...messages] })
    const body = JSON.stringify(made.body)
    assert.ok(body.includes(JSON.stringify(`Tea is hot.\n\n${list}`).slice(1, -1)), provider)
    assert.ok(!body.includes('c2VjcmV0'), provider)
    assert.match(JSON.stringify(made.notes), /citations to a list of sources in the text/)
    assert.deepEqual(refuse(made.protocol, made.body, { provider }), [], provider)
  }
})

// Recorded replies of the services themselves, with the query and a page that each of them names.
const recorded = [
  [
    'anthropic',
    'anthropic-messages',
    'anthropic-messages/pydantic-ai--*web_search_tool_stream.0*',
    'top world news',
    'https://abcnews.go.com/',
  ],
  [
    'openai',
    'openai-responses',
    'openai-responses/vercel--openai-web-search-tool.1.json',
    'query',
    'https://vercel.com/blog/series-f',
  ],
  [
    'google',
    'gemini-interactions',
    'gemini-interactions/vercel--google-search.json',
    'queries',
    'grounding-api-redirect',
  ],
] as const

for (const [home, protocol, file, query, source] of recorded) {
  test(`a recorded web search of ${home} and its sources are read by every other provider`, { skip: noCorpus }, () => {
    const [path = ''] = corpusFiles(`streams/${file}`)
    const text = readFileSync(path, 'utf8')
    const { response } = JSON.parse(text) as { response?: { body: string } }
    const { reply } = replay(protocol, response?.body ?? text)
    // Bedrock hosts Claude too, which gets its own replies back as they came.
    for (const provider of elsewhere.filter((id) => id !== home && id !== 'bedrock')) {
      const { body, notes } = prepare({ provider, messages: [...messages, reply, ...messages] })
      const sent = JSON.stringify(body)
      assert.ok(new RegExp(`\\[Tool Call\\] \\w*search .*${query}`).test(sent), provider)
      assert.ok(sent.slice(sent.indexOf('[Sources]')).includes(source), provider)
      assert.ok(!/encrypted_content\\"|encrypted_index|search_suggestions/.test(sent), provider)
      const lost = notes.filter(({ kind, what }) => kind === 'dropped' && /citation|search/.test(what))
      assert.deepEqual(lost, [], provider)
    }
  })
}
