// Custom wires and state: registered in code, in synapse.yaml by module, and on a provider's row.

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import {
  defineTool,
  defineWire,
  openSynapse,
  readTranscript,
  type JsonObject,
  type ProviderRow,
} from '../../src/index.ts'
import { createEmulator } from '../../src/testing.ts'
import { newHome } from '../cli/command-line.ts'

/** Lines of JSON: `{ text }`, `{ call, input }` and `{ end }`. */
const source = `{
  id: 'lines',
  framing: { kind: 'ndjson' },
  encode: ({ system, messages }, { model }) => ({
    path: '/talk',
    body: { model, system, messages },
    notes: [],
    toolNames: {},
  }),
  decoder(origin, { callId } = {}) {
    let [index, done] = [0, false]
    const part = (part) => [{ type: 'part-start', index, part }, { type: 'part-end', index: index++, part }]
    return {
      get done() { return done },
      push(chunk) {
        const events = index === 0 ? [{ type: 'reply-start', origin }] : []
        if (chunk.text) return [...events, ...part({ type: 'text', text: chunk.text })]
        if (chunk.call) return [...events, ...part({ type: 'tool-call', callId: callId?.(0) ?? 'c', name: chunk.call, input: chunk.input })]
        done = true
        return [{ type: 'reply-end', origin, stop: { reason: chunk.end }, native: [] }]
      },
      end: () => done ? [] : [{ type: 'reply-end', origin, stop: { reason: 'interrupted' }, native: [] }],
    }
  },
}`
// oxlint-disable-next-line typescript/no-implied-eval -- the wire is the text of a file of a user
const lines = defineWire(new Function(`return ${source}`)() as Parameters<typeof defineWire>[0])

const row = (protocol: string, more: object = {}): ProviderRow => ({
  id: 'mine',
  name: 'Mine',
  wires: [{ protocol, baseUrl: 'https://mine.invalid', caching: 'none', ...more }],
  keyVariables: [],
  auth: { header: 'authorization' },
  keyOptional: true,
  defaultModel: 'm',
})

const ndjson = (...chunks: JsonObject[]) =>
  new Response(chunks.map((chunk) => `${JSON.stringify(chunk)}\n`).join(''), {
    headers: { 'content-type': 'application/x-ndjson' },
  })

test('a custom wire calls tools, and its conversation continues at another provider', async () => {
  const emulator = createEmulator()
  const bodies: string[] = []
  const fetch: typeof globalThis.fetch = async (url, init) => {
    if (!String(url).startsWith('https://mine.invalid')) {
      return emulator.fetch(String(url).replace('https://api.anthropic.com', 'http://emulator.invalid/anthropic'), init)
    }
    bodies.push(await new Response(init?.body).text())
    return bodies.length === 1
      ? ndjson({ call: 'add', input: { a: 1, b: 2 } }, { end: 'tool-calls' })
      : ndjson({ text: 'It is 3.' }, { end: 'done' })
  }
  const add = defineTool<{ a: number; b: number }>({
    name: 'add',
    input: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
    run: ({ a, b }) => a + b,
  })
  const synapse = await openSynapse({
    wires: [lines],
    rows: [row('lines')],
    keys: { anthropic: 'k' },
    transport: { fetch },
  })
  const chat = await synapse.start({ model: 'mine', tools: [add] })
  assert.equal(await chat.send('1 + 2?').text(), 'It is 3.')
  assert.match(bodies[1] ?? '', /"type":"tool-result".*"text":"3"/)
  const end = await chat.send('What did I ask?', { model: 'anthropic' }).ended
  assert.equal(end.outcome, 'done', end.failure?.message)
})

test('a wire in synapse.yaml is loaded from its module, and a module without it is a sentence', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'synapse-wire-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'wire.mjs'), `export const wire = ${source}`)
  writeFileSync(join(folder, 'other.mjs'), 'export const wire = {}')
  const entry = (module: string) =>
    `providers: [{ id: mine, protocol: lines, module: ./${module}, baseUrl: "https://mine.invalid", defaultModel: m }]`
  const asked = async (module: string) => {
    const config = join(folder, `${module}.yaml`)
    writeFileSync(config, entry(module))
    const fetch = async () => ndjson({ text: 'Hi.' }, { end: 'done' })
    const synapse = await openSynapse({ config, transport: { fetch } })
    return (await synapse.start({ model: 'mine' })).send('Hello').text()
  }
  assert.equal(await asked('wire.mjs'), 'Hi.')
  await assert.rejects(asked('other.mjs'), /exports no wire with the id "lines"/)
})

test('nothing of a wire’s module runs before its folder is trusted, nor after it has changed', async (t: TestContext) => {
  const { folder, synapse, trust } = newHome(t)
  const bad = (mark: string) =>
    `import { writeFileSync } from 'node:fs'; writeFileSync('${join(folder, mark)}', ''); export const wire = ${source}`
  writeFileSync(join(folder, 'wire.mjs'), bad('one'))
  writeFileSync(
    join(folder, 'synapse.yaml'),
    'providers: [{ id: mine, protocol: lines, module: ./wire.mjs, baseUrl: "http://127.0.0.1:9", defaultModel: m }]',
  )
  const first = await synapse(['-m', 'mine', 'Hi'])
  assert.equal(first.code, 2, first.err)
  assert.equal(existsSync(join(folder, 'one')), false)
  const shown = await synapse(['trust'])
  assert.match(shown.err, /imports .*wire\.mjs into this process \(provider mine\)/)
  await trust()
  await synapse(['-m', 'mine', 'Hi'])
  assert.equal(existsSync(join(folder, 'one')), true)
  writeFileSync(join(folder, 'wire.mjs'), bad('two'))
  const changed = await synapse(['-m', 'mine', 'Hi'])
  assert.match(changed.err, /changed since it was trusted/)
  assert.equal(existsSync(join(folder, 'two')), false)
})

test('a store accepts no module, but state and tool messages as text', async (t) => {
  const { folder, synapse } = newHome(t)
  writeFileSync(join(folder, 'row.yaml'), 'protocol: lines\nmodule: ./wire.mjs\nbaseUrl: http://127.0.0.1:9\n')
  const refused = await synapse(['providers', 'configure', 'mine', '--row', 'row.yaml'])
  assert.match(refused.err, /may only be named in synapse.yaml/)
  const flags = ['--tool-messages', 'text', '--state-field', 'conversation_id', '--state-id-path', 'conversation.id']
  const configured = await synapse(['providers', 'configure', 'mine', '--base-url', 'http://127.0.0.1:9/v1', ...flags])
  assert.equal(configured.code, 0, configured.err)
  const listed = JSON.parse((await synapse(['providers', '--json'])).out) as { provider: string; state: string }[]
  assert.equal(listed.find(({ provider }) => provider === 'mine')?.state, 'conversation')
})

/** A host that answers every request with the id of its conversation. */
function rememberingHost() {
  const bodies: JsonObject[] = []
  const fetch: typeof globalThis.fetch = async (_, init) => {
    bodies.push(JSON.parse(await new Response(init?.body).text()) as JsonObject)
    const chunk = {
      id: 'r',
      conversation: { id: 'conv-7' },
      choices: [{ delta: { content: 'Yes.' }, finish_reason: 'stop' }],
    }
    return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, {
      headers: { 'content-type': 'text/event-stream' },
    })
  }
  return { bodies, fetch }
}

test('state and tool messages as text of a row are read from synapse.yaml', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'synapse-state-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const config = join(folder, 'synapse.yaml')
  const entry = {
    id: 'mine',
    protocol: 'openai-chat',
    baseUrl: 'https://mine.invalid/v1',
    defaultModel: 'm',
    quirks: { toolMessages: 'text' },
    state: { kind: 'conversation', field: 'conversation_id', idPath: 'conversation.id' },
  }
  writeFileSync(config, JSON.stringify({ providers: [entry] }))
  const { bodies, fetch } = rememberingHost()
  const synapse = await openSynapse({ config, transport: { fetch } })
  const { messages } = readTranscript([
    { role: 'user', content: 'What time is it?' },
    { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'clock', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'c', content: 'noon' },
  ])
  const chat = await synapse.start({ model: 'mine', policy: { state: 'auto' }, messages })
  await chat.send('One?').ended
  await chat.send('Two?').ended
  const [first, second] = bodies
  const told = ((first?.messages ?? []) as JsonObject[]).map(({ role, content }) => [role, content])
  assert.deepEqual(told.slice(1, 3), [
    ['assistant', '[Tool Call] clock {}'],
    ['user', '[Tool Result] clock: noon'],
  ])
  assert.equal(second?.conversation_id, 'conv-7')
  assert.equal(((second.messages ?? []) as JsonObject[]).length, 1)
})

test('a host that remembers conversations gets its id back, and only what is new', async () => {
  const { bodies, fetch } = rememberingHost()
  const state = {
    kind: 'conversation' as const,
    field: 'session.conversation_id',
    idPath: 'conversation.id',
    lifetimeMs: 60_000,
    resend: ['system' as const],
    branches: true,
  }
  const synapse = await openSynapse({ rows: [row('openai-chat', { state })], transport: { fetch } })
  const chat = await synapse.start({ model: 'mine', system: 'Be brief.', policy: { state: 'auto' } })
  await chat.send('One?').ended
  await chat.send('Two?').ended
  const second = bodies[1] ?? {}
  assert.deepEqual(second.session, { conversation_id: 'conv-7' })
  assert.deepEqual(
    (second.messages as JsonObject[]).map(({ role, content }) => [role, content]),
    [
      ['system', 'Be brief.'],
      ['user', 'Two?'],
    ],
  )
  const [held] = (await chat.info()).state
  assert.deepEqual([held?.provider, held?.kind, held?.ref], ['mine', 'conversation', 'conv-7'])
})

test('one setting makes Gemini stateful', async () => {
  const synapse = await openSynapse({ offline: true })
  const chat = await synapse.start({ model: 'google', policy: { state: 'auto' } })
  await chat.send('My name is Ada.').ended
  const { protocol, body } = await chat.inspect()
  const [held] = (await chat.info()).state
  assert.deepEqual([protocol, held?.kind], ['gemini-interactions', 'interaction'])
  assert.equal(body.previous_interaction_id, held?.ref)
})
