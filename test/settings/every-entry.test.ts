// The same settings through every way in: code, files, requests, flags and the AI SDK accept the same and refuse the rest
// with the same sentence.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { readOptions as readCallOptions } from '../../src/ai-sdk/read-options.ts'
import { synapseModel } from '../../src/ai-sdk.ts'
import { readAgent } from '../../src/agents/read.ts'
import { readOptions, readPolicy } from '../../src/cli/run-options.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Json, JsonObject } from '../../src/core/json.ts'
import { createProvider, openSynapse, prepare, type RunSettings, type SynapseOptions } from '../../src/index.ts'
import { connectionFields } from '../../src/settings/schema.ts'
import { newFolder } from '../config/folder.ts'
import { serving } from '../server/serving.ts'

/** Settings, and the line that says what is wrong with them; without one they are valid. */
type Row = [settings: JsonObject, problem?: string]

const presets = 'one of economy, classic, full, small, or a map of keys and values'
const efforts = 'none, minimal, low, medium, high, xhigh, max'

const policies: Row[] = [
  [{ policy: 'economy' }],
  [{ policy: 'small' }],
  [{ policy: {} }],
  [{ policy: { preset: 'economy', maxToolTurns: 3 } }],
  [{ policy: { maxToolTurns: 0 } }],
  [{ policy: { maxToolTurns: null, maxMessages: null, maxTokens: null } }],
  [{ policy: { maxMessages: 20, maxTokens: 4000, step: 5 } }],
  [{ policy: { fold: 'provider', rhythm: 'economy' } }],
  [{ policy: { usable: 0.8, floor: 0.3, atLimit: 'cut', assumedWindow: 8192 } }],
  [{ policy: { pinned: 'The rules of the house.', state: 'auto' } }],
  [{ policy: { compaction: { prompt: 'Be brief.', budget: 500, keep: 0, every: 8, native: false, at: 50_000 } } }],
  [{ policy: 'cheap' }, `policy: must be ${presets}, not "cheap"`],
  [{ policy: 3 }, `policy: must be ${presets}, not 3`],
  [{ policy: ['economy'] }, `policy: must be ${presets}, not a list`],
  [{ policy: { maxToolTruns: 3 } }, 'policy.maxToolTruns: unknown key "maxToolTruns"; did you mean maxToolTurns?'],
  [{ policy: { MaxMessages: 3 } }, 'policy.MaxMessages: unknown key "MaxMessages"; did you mean maxMessages?'],
  [{ policy: { maxToolTurns: -1 } }, 'policy.maxToolTurns: must be at least 0, not -1'],
  [{ policy: { maxMessages: 0 } }, 'policy.maxMessages: must be at least 1, not 0'],
  [{ policy: { maxMessages: 'lots' } }, 'policy.maxMessages: must be a whole number, or null, not "lots"'],
  [{ policy: { maxTokens: 1.5 } }, 'policy.maxTokens: must be a whole number, or null, not 1.5'],
  [{ policy: { step: 0 } }, 'policy.step: must be at least 1, not 0'],
  [{ policy: { usable: 0 } }, 'policy.usable: must be more than 0, not 0'],
  [{ policy: { floor: 1.1 } }, 'policy.floor: must be at most 1, not 1.1'],
  [{ policy: { fold: 'zip' } }, 'policy.fold: unknown value "zip"; known are stub, results, remove, provider'],
  [{ policy: { state: true } }, 'policy.state: must be text, not true'],
  [{ policy: { pinned: 5 } }, 'policy.pinned: must be text, not 5'],
  [{ policy: { preset: 'cheap' } }, 'policy.preset: unknown value "cheap"; known are economy, classic, full, small'],
  [{ policy: { assumedWindow: 100 } }, 'policy.assumedWindow: must be at least 256, not 100'],
  [{ policy: { compaction: { keep: -1 } } }, 'policy.compaction.keep: must be at least 0, not -1'],
  [{ policy: { compaction: { evry: 2 } } }, 'policy.compaction.evry: unknown key "evry"; did you mean every?'],
  [{ policy: { compaction: 'yes' } }, 'policy.compaction: must be a map of keys and values, not "yes"'],
]

const options: Row[] = [
  [{ options: { maxOutput: 321 } }],
  [{ options: { temperature: 0 } }],
  [{ options: { topP: 1 } }],
  [{ options: { topK: 40 } }],
  [{ options: { seed: 7 } }],
  [{ options: { presencePenalty: -2 } }],
  [{ options: { frequencyPenalty: 0.5 } }],
  [{ options: { stop: ['END'] } }],
  [{ options: { effort: 'xhigh' } }],
  [{ options: { toolChoice: 'required' } }],
  [{ options: { toolChoice: { tool: 'clock' } } }],
  [{ options: { parallelTools: false } }],
  [{ options: { answerSchema: { type: 'object', properties: {} } } }],
  [{ options: { cacheTtl: '1h' } }],
  [{ options: { store: false } }],
  [{ options: { stream: true } }],
  [{ options: { maxOutput: 0 } }, 'options.maxOutput: must be at least 1, not 0'],
  [{ options: { maxOutput: 1.5 } }, 'options.maxOutput: must be a whole number, not 1.5'],
  [{ options: { temperature: 'hot' } }, 'options.temperature: must be a number, not "hot"'],
  [{ options: { temperature: 2.5 } }, 'options.temperature: must be at most 2, not 2.5'],
  [{ options: { temprature: 1 } }, 'options.temprature: unknown key "temprature"; did you mean temperature?'],
  [{ options: { topP: -0.1 } }, 'options.topP: must be at least 0, not -0.1'],
  [{ options: { topK: 0 } }, 'options.topK: must be at least 1, not 0'],
  [{ options: { seed: 0.5 } }, 'options.seed: must be a whole number, not 0.5'],
  [{ options: { presencePenalty: 3 } }, 'options.presencePenalty: must be at most 2, not 3'],
  [{ options: { frequencyPenalty: -3 } }, 'options.frequencyPenalty: must be at least -2, not -3'],
  [{ options: { effort: 'huge' } }, `options.effort: unknown value "huge"; known are ${efforts}`],
  [{ options: { stop: [''] } }, 'options.stop.0: must have at least 1 character'],
  [{ options: { parallelTools: 'maybe' } }, 'options.parallelTools: must be true or false, not "maybe"'],
  [{ options: { answerSchema: [] } }, 'options.answerSchema: must be a map of keys and values, not a list'],
  [{ options: { cacheTtl: '2h' } }, 'options.cacheTtl: unknown value "2h"; known are 5m, 1h'],
]

const others: Row[] = [
  [{ system: 'Be brief.' }],
  [{ protocol: 'anthropic-messages' }],
  [{ maxSteps: 7 }],
  [{ guards: { repeats: false, timeoutMs: 60_000, outputSize: 1000 } }],
  [{ budget: { run: { usd: 0.5 }, conversation: { tokens: 100_000 } } }],
  [{ route: { tools: 'openai/gpt-5.6', answer: 'anthropic/claude-opus-5' } }],
  [{ fallback: ['openai/gpt-5.6', { model: 'google', on: ['overloaded'] }] }],
  [{ system: ['Be brief.'] }, 'system: must be text, not a list'],
  [{ sytem: 'Be brief.' }, 'sytem: unknown key "sytem"; did you mean system?'],
  [{ maxSteps: 0 }, 'maxSteps: must be at least 1, not 0'],
  [{ maxSteps: 10_001 }, 'maxSteps: must be at most 10000, not 10001'],
  [{ maxSteps: '7' }, 'maxSteps: must be a whole number, not "7"'],
  [{ guards: { repeats: 0 } }, 'guards.repeats: must be at least 1, not 0'],
  [{ guards: { repeats: true } }, 'guards.repeats: must be a whole number, or false, not true'],
  [
    { guards: { timeMs: 50 } },
    'guards.timeMs: unknown key "timeMs"; known are repeats, timeoutMs, outputSize, callsPerReply, concurrentTools, resultSize, replySize',
  ],
  [{ budget: { run: { usd: 0 } } }, 'budget.run.usd: must be more than 0, not 0'],
  [{ budget: { rnu: {} } }, 'budget.rnu: unknown key "rnu"; did you mean run?'],
  [
    { route: { answer: 'no model' } },
    'route.answer: is not a model; write provider/model, such as anthropic/claude-opus-5',
  ],
  [{ fallback: 'openai' }, 'fallback: must be a list, not "openai"'],
  [{ fallback: [{ on: ['timeout'] }] }, 'fallback.0.model: is missing'],
  [{ fallback: [{ model: 'openai', on: [] }] }, 'fallback.0.on: must have at least 1 item'],
]

const rows: Row[] = [...policies, ...options, ...others]

test('there are enough of them', () => assert.ok(rows.length >= 60, String(rows.length)))

test('start, open and send', async () => {
  const synapse = await openSynapse({ offline: true })
  const chat = await synapse.start({ model: 'anthropic/claude-opus-5' })
  for (const [settings, problem] of rows) {
    const whole = { model: 'anthropic/claude-opus-5', ...settings } as RunSettings
    assert.equal(await problemOf(() => synapse.start(whole)), problem)
    assert.equal(await problemOf(() => synapse.open(chat.id, whole)), problem)
    assert.equal(await problemOf(() => chat.inspect(settings)), problem)
    const sending = async () => {
      const run = chat.send('Hello', settings)
      run.abort()
      const { failure } = await run.ended
      if (failure?.kind === 'bad-input') throw new Error(failure.message)
    }
    assert.equal(await problemOf(sending), problem)
  }
})

test('createProvider, and updateConfig of its result', async () => {
  for (const [settings, problem] of rows) {
    const made = () => createProvider({ provider: 'anthropic', offline: true, ...settings })
    assert.equal(await problemOf(made), problem)
    // There the settings of the policy are next to those of the run.
    if (settings['policy'] !== undefined) continue
    const provider = createProvider({ provider: 'anthropic', offline: true })
    assert.equal(await problemOf(() => provider.updateConfig(() => settings)), problem)
  }
})

test('prepare', async () => {
  for (const [settings, problem] of [...policies, ...options]) {
    const prepared = () => prepare({ provider: 'anthropic', messages: [], ...settings })
    assert.equal(await problemOf(prepared), problem)
  }
})

test('synapse.yaml and agents', async (t) => {
  const config = loadConfig({ cwd: newFolder(t), env: {} })
  for (const [settings, problem] of rows) {
    const agent = { name: 'helper', model: 'anthropic/claude-opus-5', ...settings }
    const folder = newFolder(t, { 'helper.yaml': JSON.stringify(agent), 'synapse.yaml': JSON.stringify(settings) })
    assert.equal(inFile(await problemOf(() => readAgent(join(folder, 'helper.yaml'), config))), problem)
    if (settings['policy'] === undefined) continue
    assert.equal(inFile(await problemOf(() => loadConfig({ file: join(folder, 'synapse.yaml') }))), problem)
  }
})

test('HTTP: a new conversation, its settings, and one run', async (t) => {
  const { api } = await serving(t)
  for (const [settings, problem] of rows) {
    const answer = await api('POST', '/api/conversations', { settings })
    assert.equal(answer.status, problem === undefined ? 201 : 400, answer.text)
    assert.equal(inBody(answer.body), problem)
    const { body } = await api('POST', '/api/conversations', {})
    const path = `/api/conversations/${String(body['id'])}`
    const changed = await api('PATCH', path, { settings })
    assert.equal(inBody(changed.body), problem)
    const run = await api('POST', `${path}/messages`, { text: 'Hello', settings })
    assert.equal(run.status, problem === undefined ? 202 : 400, run.text)
    assert.equal(inBody(run.body), problem)
  }
})

test('flags of the command line', async () => {
  for (const [settings, problem] of options) {
    const flags = Object.entries(settings['options'] as JsonObject).map(([key, value]) => `${key}=${flagOf(value)}`)
    const read = () => assert.deepEqual(readOptions(flags), settings['options'])
    assert.equal(await problemOf(read), problem)
  }
  for (const [{ policy }, problem] of policies) {
    if (typeof policy !== 'string' && (typeof policy !== 'object' || Array.isArray(policy))) continue
    const read = () => assert.deepEqual(readPolicy(flagOf(policy)), policy)
    assert.equal(await problemOf(read), problem)
  }
})

test('the AI SDK: options of a call, and the policy of a model', async () => {
  for (const [settings, problem] of options) {
    const call = { prompt: [], providerOptions: { synapse: settings['options'] as JsonObject } }
    assert.equal(await problemOf(() => readCallOptions(call)), problem)
  }
  for (const [settings, problem] of policies) {
    assert.equal(await problemOf(() => synapseModel('anthropic', settings)), problem)
  }
})

test('settings that only code can pass are validated as well', async () => {
  const synapse = await openSynapse({ offline: true })
  const start = (settings: object) => problemOf(() => synapse.start({ model: 'anthropic', ...settings }))
  const clock = { name: 'clock', input: { type: 'object' }, run: () => '12:00' }
  assert.equal(await start({ tools: [clock], route: () => undefined, signal: new AbortController().signal }), undefined)
  assert.equal(await start({ system: undefined, options: { effort: undefined } }), undefined)
  class Clock {
    name = 'clock'
    input = {}
    run() {
      return '12:00'
    }
  }
  assert.equal(await start({ tools: [new Clock()] }), undefined)
  assert.equal(await start({ tools: [{ ...clock, input: undefined }] }), undefined)
  assert.equal(
    await start({ tools: [{ ...clock, input: 'nope' }] }),
    'tools.0.input: must be a map of keys and values, not "nope"',
  )
  assert.equal(await start({ tools: [clock, { ...clock }] }), 'tools: there are two tools named clock')
  assert.equal(await start({ tools: [{ ...clock, run: 'now' }] }), 'tools.0.run: must be a function, not "now"')
  assert.equal(await start({ signal: 5 }), 'signal: must be an object, not 5')
  assert.equal(await problemOf(() => synapse.start({} as RunSettings)), 'model: is missing')
  assert.equal(await problemOf(() => openSynapse({ ofline: true } as SynapseOptions)), ofline)
})

const ofline = 'ofline: unknown key "ofline"; did you mean offline?'

test('every option of openSynapse has its rule', () => {
  const known: Record<keyof SynapseOptions, unknown> = connectionFields
  assert.ok(Object.keys(known).length > 10)
})

test('a client cannot change the body of a request outside the options', async (t) => {
  const { api } = await serving(t)
  for (const settings of [{ options: { extra: { model: 'another' } } }, { options: { cacheKey: 'theirs' } }]) {
    const { status, text } = await api('POST', '/api/conversations', { settings })
    assert.equal(status, 400)
    assert.match(text, /unknown key/)
  }
})

async function problemOf(act: () => unknown): Promise<string | undefined> {
  try {
    await act()
    return undefined
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error
    return error instanceof Error ? error.message : String(error)
  }
}

/** Without the place in the file. */
function inFile(problem: string | undefined): string | undefined {
  return problem?.replace(/^.*\.yaml:\d+:\d+: /, '')
}

/** Without the text around it. */
function inBody(body: JsonObject): string | undefined {
  const error = body['error'] as JsonObject | undefined
  return error && /^The body is not valid: settings\.(.*)$/s.exec(String(error['message']))?.[1]
}

function flagOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
