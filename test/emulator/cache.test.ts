import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json, JsonObject } from '../../src/core/json.ts'
import { createPromptCache } from '../../src/emulator/cache.ts'
import { cacheRulesFor } from '../../src/emulator/cache-rules.ts'
import { loadService, wireIds } from '../../src/wires/list.ts'
import type { Charge } from '../../src/wires/service.ts'
import { promptTokens, type Prompt, estimateTokens } from '../../src/wires/shared/prompt.ts'

const services = new Map(await Promise.all(wireIds.map(async (id) => [id, await loadService(id)] as const)))

function promptOf(protocol: string, body: JsonObject): Prompt {
  return (services.get(protocol) ?? assert.fail(protocol)).prompt(body)
}

const minute = 60_000

/** A cache and a clock: each request says when it comes. */
function cacheOf(provider: string, model: string, protocol: string) {
  const cache = createPromptCache()
  const rules = cacheRulesFor(provider, model)
  return {
    send: (body: JsonObject, at = 0): Charge => cache.charge('me', promptOf(protocol, body), rules, at),
    answered: (body: JsonObject, at = 0) => cache.answered('me', promptOf(protocol, body), rules, at),
  }
}

const words = (tokens: number, letter = 'x') => letter.repeat(tokens * 4)
const say = (tokens: number, letter?: string): Json => ({ role: 'user', content: words(tokens, letter) })
const reply = (tokens: number): Json => ({ role: 'assistant', content: words(tokens, 'r') })
const chat = (...messages: Json[]): JsonObject => ({ model: 'm', messages })
const size = (body: JsonObject, protocol = 'openai-chat') => promptTokens(promptOf(protocol, body), estimateTokens)

describe('the same growing conversation, on every automatic cache', () => {
  const first = chat(say(5000))
  const second = chat(say(5000), reply(300), say(100))
  const shared = size(first)
  const table: [provider: string, model: string, read: number][] = [
    ['openai', 'gpt-4o', Math.floor(shared / 128) * 128],
    ['xai', 'grok-4.7', Math.floor(shared / 128) * 128],
    ['deepseek', 'deepseek-v4-flash', Math.floor(shared / 64) * 64],
    ['mistral', 'mistral-medium-latest', Math.floor(shared / 64) * 64],
    ['google', 'gemini-3.8-flash', shared],
    ['google', 'gemini-2.5-flash', shared],
    ['groq', 'openai/gpt-oss-120b', Math.floor(shared / 128) * 128],
    ['openai', 'gpt-5.6', shared],
    ['openrouter', 'openai/gpt-5.6', shared],
    ['openrouter', 'deepseek/deepseek-v4-pro', Math.floor(shared / 64) * 64],
    ['llama.cpp', 'any', shared],
    ['together', 'any', 0],
    ['vllm', 'any', 0],
  ]
  for (const [provider, model, read] of table) {
    test(`${provider} ${model} reads ${read} of the second request from the cache`, () => {
      const { send } = cacheOf(provider, model, 'openai-chat')
      assert.equal(send(first).read, 0)
      const charge = send(second, 1000)
      assert.equal(charge.input, size(second))
      assert.equal(charge.read, read)
    })
  }
})

describe('what breaks a prefix', () => {
  const { send } = cacheOf('openai', 'gpt-4o', 'openai-chat')
  const tools = [{ type: 'function', function: { name: 'a', parameters: {} } }]
  const base = { ...chat(say(3000), reply(10), say(10)), tools }
  send(base)
  const read = (body: JsonObject) => send(body).read

  test('nothing does: the same request again is read whole', () => assert.ok(read(base) >= 2944))
  test('another tool, which comes before everything', () =>
    assert.equal(read({ ...base, tools: [...tools, { type: 'function', function: { name: 'b' } }] }), 0))
  test('another first message', () =>
    assert.equal(read({ ...base, messages: [say(3000, 'y'), reply(10), say(10)] }), 0))
  test('another effort', () => assert.equal(read({ ...base, reasoning_effort: 'low' }), 0))
  test('a later message breaks only what follows it', () =>
    assert.ok(read({ ...base, messages: [say(3000), reply(11), say(10)] }) >= 2944))
  test('a long text that changes at its end shares its beginning', () => {
    const body = { ...base, messages: [{ role: 'user', content: `${words(2900)}end` }] }
    const found = read(body)
    assert.ok(found >= 2816 && found < 3000, String(found))
  })
  test('a text block says the same as a string', () => {
    const messages = [{ role: 'user', content: [{ type: 'text', text: words(3000) }] }, reply(10), say(10)]
    assert.ok(read({ ...base, messages }) >= 2944)
  })
})

describe('limits of automatic caches', () => {
  test('a short prompt is neither cached nor found', () => {
    const { send } = cacheOf('openai', 'gpt-4o', 'openai-chat')
    send(chat(say(500)))
    assert.equal(send(chat(say(500), reply(10), say(2000))).read, 0)
  })

  test('an entry expires when it is unused for long enough, and every use prolongs it', () => {
    const { send } = cacheOf('openai', 'gpt-4o', 'openai-chat')
    const body = chat(say(2000))
    send(body, 0)
    assert.ok(send(body, 9 * minute).read > 0)
    assert.ok(send(body, 18 * minute).read > 0)
    assert.equal(send(body, 29 * minute).read, 0)
  })

  test('models, keys and cache keys do not share', () => {
    const cache = createPromptCache()
    const rules = cacheRulesFor('openai', 'gpt-4o')
    const prompt = promptOf('openai-chat', chat(say(2000)))
    cache.charge('a', prompt, rules, 0)
    assert.equal(cache.charge('b', prompt, rules, 0).read, 0)
    assert.ok(cache.charge('a', prompt, rules, 0).read > 0)
  })
})

describe('whole units (DeepSeek)', () => {
  const a = say(1000, 'a')
  test('A+B, then A+C misses, then A+D hits A', () => {
    const { send } = cacheOf('deepseek', 'deepseek-v4-flash', 'openai-chat')
    assert.equal(send(chat(a, say(100, 'b'))).read, 0)
    assert.equal(send(chat(a, say(100, 'c'))).read, 0)
    assert.equal(send(chat(a, say(100, 'd'))).read, Math.floor(size(chat(a)) / 64) * 64)
  })

  test('the end of an answer is a separate unit', () => {
    const { send, answered } = cacheOf('deepseek', 'deepseek-v4-flash', 'openai-chat')
    send(chat(a))
    answered(chat(a, reply(200)))
    assert.equal(send(chat(a, reply(200), say(10))).read, Math.floor(size(chat(a, reply(200))) / 64) * 64)
  })
})

describe('breakpoints (OpenAI from GPT-5.6 on)', () => {
  const items = (...input: Json[]): JsonObject => ({ model: 'gpt-5.6', input })
  const user = (tokens: number, rest: JsonObject = {}): Json => ({
    role: 'user',
    content: [{ type: 'input_text', text: words(tokens), ...rest }],
  })
  const bytes = (body: JsonObject) => size(body, 'openai-responses')

  test('writing costs: what is new up to the newest message is written, the rest is read', () => {
    const { send } = cacheOf('openai', 'gpt-5.6', 'openai-responses')
    const first = items(user(2000))
    const second = items(user(2000), { role: 'assistant', content: 'ok' }, user(50))
    assert.deepEqual(send(first), { input: bytes(first), read: 0, written: { '30m': bytes(first) } })
    assert.deepEqual(send(second), {
      input: bytes(second),
      read: bytes(first),
      written: { '30m': bytes(second) - bytes(first) },
    })
  })

  test('in explicit mode only marks count, and without any there is no cache at all', () => {
    const { send } = cacheOf('openai', 'gpt-5.6', 'openai-responses')
    const explicit = { prompt_cache_options: { mode: 'explicit' } }
    const unmarked = { ...items(user(2000)), ...explicit }
    send(unmarked)
    assert.deepEqual(send(unmarked), { input: bytes(unmarked), read: 0, written: {} })
    const marked = {
      ...items(user(2000, { prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } }), user(40)),
      ...explicit,
    }
    const upTo = bytes(items(user(2000)))
    assert.deepEqual(send(marked).written, { '12h': upTo })
    assert.equal(send(marked).read, upTo)
  })

  test('an entry lives for thirty minutes', () => {
    const { send } = cacheOf('openai', 'gpt-5.6', 'openai-responses')
    send(items(user(2000)), 0)
    assert.ok(send(items(user(2000)), 29 * minute).read > 0)
    assert.equal(send(items(user(2000)), 60 * minute).read, 0)
  })
})

describe('marks (Anthropic)', () => {
  const mark = (ttl?: string) => ({ cache_control: { type: 'ephemeral', ...(ttl && { ttl }) } })
  const block = (tokens: number, rest: JsonObject = {}, letter = 'x'): JsonObject => ({
    type: 'text',
    text: words(tokens, letter),
    ...rest,
  })
  const turn = (role: string, ...content: JsonObject[]): JsonObject => ({ role, content })
  const body = (messages: JsonObject[], rest: JsonObject = {}): JsonObject => ({
    model: 'claude-sonnet-5',
    messages,
    ...rest,
  })
  const bytes = (one: JsonObject) => size(one, 'anthropic-messages')
  const open = (model = 'claude-sonnet-5') => cacheOf('anthropic', model, 'anthropic-messages')

  test('without a mark nothing is written or read', () => {
    const { send } = open()
    send(body([turn('user', block(5000))]))
    assert.deepEqual(send(body([turn('user', block(5000))])), {
      input: bytes(body([turn('user', block(5000))])),
      read: 0,
      written: {},
    })
  })

  test('a mark writes everything before it, and the next request reads that and writes the rest', () => {
    const { send } = open()
    const first = body([turn('user', block(2000, mark()))])
    const second = body([turn('user', block(2000)), turn('assistant', block(50)), turn('user', block(10, mark()))])
    assert.deepEqual(send(first), { input: bytes(first), read: 0, written: { '5m': bytes(first) } })
    assert.deepEqual(send(second), {
      input: bytes(second),
      read: bytes(first),
      written: { '5m': bytes(second) - bytes(first) },
    })
  })

  test('what comes after the last mark is plain input', () => {
    const { send } = open()
    const one = body([turn('user', block(2000, mark()), block(300))])
    const charge = send(one)
    assert.equal(charge.written['5m'], bytes(body([turn('user', block(2000))])))
    assert.equal(charge.input, bytes(one))
  })

  test('a prompt under the minimum of the model is silently not cached', () => {
    for (const [model, minimum] of [
      ['claude-opus-5', 512],
      ['claude-sonnet-5', 1024],
      ['claude-opus-4-7', 2048],
      ['claude-haiku-4-5', 4096],
    ] as const) {
      const { send } = open(model)
      assert.deepEqual(send(body([turn('user', block(minimum - 40, mark()))])).written, {}, model)
      assert.notDeepEqual(send(body([turn('user', block(minimum, mark()))])).written, {}, model)
    }
  })

  test('marks for an hour and for five minutes are written at their own price', () => {
    const { send } = open()
    const system = [block(2000, mark('1h'))]
    const one = body([turn('user', block(500, mark()))], { system })
    const long = bytes(body([], { system: [block(2000)] }))
    assert.deepEqual(send(one, 0).written, { '1h': long, '5m': bytes(one) - long })
    assert.equal(send(one, 6 * minute).read, long)
  })

  test('an entry that is read stays valid, one that is not expires after its time', () => {
    const { send } = open()
    const one = body([turn('user', block(2000, mark()))])
    send(one, 0)
    assert.ok(send(one, 4 * minute).read > 0)
    assert.ok(send(one, 8 * minute).read > 0)
    assert.equal(send(one, 14 * minute).read, 0)
  })

  test('at most 20 blocks are searched, starting from the marked one', () => {
    const more = (n: number, rest: JsonObject = {}) =>
      Array.from({ length: n }, (_, i) => block(5, i === n - 1 ? rest : {}, 'y'))
    for (const [blocks, hits] of [
      [19, true],
      [20, false],
    ] as const) {
      const { send } = open()
      send(body([turn('user', block(2000, mark()))]))
      const { read } = send(body([turn('user', block(2000), ...more(blocks, mark()))]))
      assert.equal(read > 0, hits, `${blocks} blocks`)
    }
  })

  test('a second mark finds what one alone would miss', () => {
    const { send } = open()
    send(body([turn('user', block(2000, mark()))]))
    const far = Array.from({ length: 30 }, (_, i) => block(5, i === 29 ? mark() : {}, 'y'))
    assert.ok(send(body([turn('user', block(2000, mark()), ...far)])).read > 0)
  })

  test('another tool choice keeps tools and system, and loses the messages', () => {
    const { send } = open()
    const rest = { system: [block(2000, mark())], tools: [{ name: 't', input_schema: { type: 'object' } }] }
    const one = body([turn('user', block(500, mark()))], rest)
    send(one)
    const head = bytes(body([], rest))
    assert.equal(send({ ...one, tool_choice: { type: 'none' } }).read, head)
    assert.equal(send({ ...one, tools: [] }).read, 0)
  })

  test('one mark on the whole request is on its last block and moves along', () => {
    const { send } = open()
    const first = body([turn('user', block(2000))], mark())
    const second = body([turn('user', block(2000)), turn('assistant', block(5)), turn('user', block(5))], mark())
    assert.equal(send(first).written['5m'], bytes(first))
    assert.equal(send(second).read, bytes(first))
  })

  test('where blocks are cut into messages makes no difference', () => {
    const { send } = open()
    send(body([turn('user', block(2000)), turn('user', block(10, mark()))]))
    assert.ok(send(body([turn('user', block(2000), block(10, mark()))])).read > 2000)
  })
})

test('an image counts the same whatever its size', () => {
  const picture = (bytes: number): JsonObject =>
    chat({
      role: 'user',
      content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(bytes)}` } }],
    })
  assert.equal(size(picture(600)), size(picture(600_000)))
  assert.ok(size(picture(600)) > 1600)
})
