import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { allWires } from '../../src/wires/all.ts'
import { loadWire, wireIds } from '../../src/wires/list.ts'
import { catalogue } from '../../src/providers/catalogue.ts'
import { prepare } from '../../src/index.ts'
import { parseModelRef } from '../../src/providers/model-ref.ts'
import { resolveWith } from '../../src/providers/resolve-with.ts'
import { resolve } from '../../src/providers/resolve.ts'
import { compatible, rows } from '../../src/providers/rows.ts'

const key = 'canary-key-0123456789'
/** What an account decides, for every provider that asks. */
const places = Object.fromEntries(
  rows.flatMap((row) =>
    Object.values(row.places ?? {}).flatMap((place) =>
      'from' in place ? [] : [[place.variables[0] ?? '', place.example] as const],
    ),
  ),
)
const hosts = {
  AZURE_OPENAI_ENDPOINT: 'https://mine.openai.azure.com/',
  OPENAI_COMPATIBLE_BASE_URL: 'http://box:9000',
  ...places,
}

const rejects = (wanted: Parameters<typeof resolve>[0], message: RegExp | string) =>
  assert.rejects(resolve(wanted), { name: 'SynapseError', kind: 'bad-input', message })

describe('every wire of every row', () => {
  for (const row of rows) {
    for (const wire of row.wires) {
      test(`${row.id} on ${wire.protocol} resolves, with the key in its header and nowhere else`, async () => {
        const env = { ...hosts, [row.keyVariables[0] ?? '']: key }
        const endpoint = await resolve({
          provider: row.id,
          protocol: wire.protocol,
          model: wire.defaultModel ?? row.defaultModel ?? 'm',
          env,
        })
        assert.equal(endpoint.protocol.id, wire.protocol)
        assert.equal(endpoint.provider, row)
        assert.equal(endpoint.keyVariable, row.keyVariables[0])
        const { header, prefix = '' } = wire.auth ?? row.auth
        assert.equal(endpoint.headers[header], `${prefix}${key}`)
        assert.deepEqual(new Set(Object.keys(endpoint.headers)), new Set([header, ...Object.keys(wire.headers ?? {})]))
        assert.match(endpoint.baseUrl, /^https?:\/\/[^?#]*[^/]$/)
        assert.ok(!endpoint.baseUrl.includes(key))
        assert.equal(endpoint.caching.kind, wire.caching)
        assert.equal(endpoint.state, wire.state)
        assert.equal(typeof endpoint.capabilities.tools, 'boolean')
      })
    }
  }

  test('is the same when everything is loaded already', async () => {
    const all = new Map(allWires().map((protocol) => [protocol.id, protocol]))
    const protocolOf = (id: string) => all.get(id) ?? assert.fail(id)
    const wanted = { provider: 'anthropic', keyless: true, env: {} }
    assert.deepEqual(resolveWith({ ...wanted, rows }, protocolOf, catalogue), await resolve(wanted))
  })
})

describe('protocols', () => {
  test('load one by one under their ids, and all at once the same', async () => {
    const loaded = await Promise.all(wireIds.map(loadWire))
    assert.deepEqual(
      loaded.map(({ id }) => id),
      wireIds,
    )
    assert.deepEqual(new Set(allWires()), new Set(loaded))
  })

  test('that do not exist are named in a sentence', async () => {
    await assert.rejects(loadWire('toString'), {
      kind: 'bad-input',
      message: /no protocol "toString".*openai-chat/,
    })
  })
})

describe('the key', () => {
  test('that is missing is requested by the name of its variable', () =>
    rejects(
      { provider: 'anthropic', env: {} },
      'Anthropic needs a key: set ANTHROPIC_API_KEY (keys are at https://platform.claude.com/settings/keys).',
    ))

  test('may be in one of several variables, and blank ones do not count', async () => {
    await rejects({ provider: 'google', env: { GEMINI_API_KEY: '  ' } }, /set GEMINI_API_KEY or GOOGLE_API_KEY/)
    const endpoint = await resolve({ provider: 'google', env: { GEMINI_API_KEY: ' ', GOOGLE_API_KEY: `${key}\n` } })
    assert.deepEqual(endpoint.headers, { 'x-goog-api-key': key })
    assert.equal(endpoint.keyVariable, 'GOOGLE_API_KEY')
  })

  test('that is given overrides the environment', async () => {
    const endpoint = await resolve({ provider: 'openai', key: 'given-key', env: { OPENAI_API_KEY: key } })
    assert.deepEqual(endpoint.headers, { authorization: 'Bearer given-key' })
    assert.equal(endpoint.keyVariable, undefined)
  })

  test('is not needed locally, or to only look at a request', async () => {
    assert.deepEqual((await resolve({ provider: 'ollama', model: 'm', env: {} })).headers, {})
    assert.deepEqual((await resolve({ provider: 'openai', keyless: true, env: {} })).headers, {})
  })

  test('that cannot be one is not shown', async () => {
    const broken = resolve({ provider: 'openai', env: { OPENAI_API_KEY: `${key}\nsecond line` } })
    await assert.rejects(broken, (error: Error) => {
      assert.match(error.message, /^The key in OPENAI_API_KEY has characters that no key has/)
      return !error.message.includes(key)
    })
  })
})

describe('the provider', () => {
  const wrong: [string, RegExp][] = [
    ['antropic', /^There is no provider "antropic". Did you mean anthropic\?$/],
    ['gemini', /Did you mean google\?$/],
    ['Grok', /Did you mean (xai or groq|groq or xai)\?$/],
    ['kimi', /Did you mean moonshot\?$/],
    ['llamacpp', /Did you mean llama\.cpp\?$/],
    ['gpt-5', /^There is no provider "gpt-5"\. "synapse providers" lists them; a model is written provider\/model\.$/],
    ['', /"synapse providers" lists them/],
    ['__proto__', /There is no provider/],
  ]
  for (const [id, message] of wrong) {
    test(`"${id}" does not exist, and the sentence helps`, () => rejects({ provider: id, env: {} }, message))
  }

  test('may be a custom row', async () => {
    const mine = compatible('http://box:9000/v1', 'mine', 'My box')
    const endpoint = await resolve({ provider: 'mine', model: 'a/b', rows: [...rows, mine], env: {} })
    assert.equal(endpoint.baseUrl, 'http://box:9000/v1')
    assert.equal(endpoint.model, 'a/b')
  })

  test('that does not serve a wire names those it serves', () =>
    rejects(
      { provider: 'google', protocol: 'openai-chat', key, env: {} },
      'google does not support "openai-chat". It supports gemini-generate and gemini-interactions.',
    ))

  test('without a default requires a model', () => rejects({ provider: 'ollama', env: {} }, /^Name a model for ollama/))
})

describe('the address', () => {
  const at = async (provider: string, env: Record<string, string>, protocol?: string, baseUrl?: string) =>
    (await resolve({ provider, model: 'm', key, env, ...(protocol && { protocol }), ...(baseUrl && { baseUrl }) }))
      .baseUrl

  const addresses: [string, string, string | undefined, string][] = [
    ['', 'ollama', undefined, 'http://localhost:11434'],
    ['', 'ollama', 'openai-chat', 'http://localhost:11434/v1'],
    ['0.0.0.0', 'ollama', undefined, 'http://127.0.0.1:11434'],
    ['box', 'ollama', 'openai-chat', 'http://box:11434/v1'],
    ['box:8080', 'ollama', undefined, 'http://box:8080'],
    ['http://box', 'ollama', undefined, 'http://box'],
    ['https://ollama.com/', 'ollama', 'openai-chat', 'https://ollama.com/v1'],
    ['http://box/proxy/', 'ollama', undefined, 'http://box/proxy'],
  ]
  for (const [OLLAMA_HOST, provider, protocol, expected] of addresses) {
    test(`OLLAMA_HOST="${OLLAMA_HOST}" on ${protocol ?? 'its own wire'} is ${expected}`, async () => {
      assert.equal(await at(provider, { OLLAMA_HOST }, protocol), expected)
    })
  }

  test('of Azure is the endpoint in the form of Azure', async () => {
    const env = { AZURE_OPENAI_ENDPOINT: 'https://mine.openai.azure.com/' }
    assert.equal(await at('azure-openai', env), 'https://mine.openai.azure.com/openai/v1')
    await rejects(
      { provider: 'azure-openai', key, env: {} },
      /^Azure OpenAI has no address yet: set AZURE_OPENAI_ENDPOINT/,
    )
  })

  const gateways: [string, string, string, string][] = [
    ['openai', 'OPENAI_BASE_URL', 'https://gateway.example/openai/v1', 'https://gateway.example/openai/v1'],
    ['openai', 'OPENAI_BASE_URL', 'http://127.0.0.1:4000', 'http://127.0.0.1:4000/v1'],
    ['anthropic', 'ANTHROPIC_BASE_URL', 'https://gateway.example/anthropic/', 'https://gateway.example/anthropic/v1'],
    ['anthropic', 'ANTHROPIC_BASE_URL', 'https://gateway.example/v1', 'https://gateway.example/v1'],
    ['google', 'GOOGLE_GEMINI_BASE_URL', 'https://gateway.example', 'https://gateway.example/v1beta'],
    ['groq', 'GROQ_BASE_URL', 'https://gateway.example/g', 'https://gateway.example/g/openai/v1'],
    ['together', 'TOGETHER_BASE_URL', 'https://gateway.example/t/v1', 'https://gateway.example/t/v1'],
    ['cerebras', 'CEREBRAS_BASE_URL', 'https://gateway.example/c', 'https://gateway.example/c/v1'],
  ]
  for (const [provider, variable, given, expected] of gateways) {
    test(`${variable}=${given} is read as the SDK of ${provider} reads it`, async () => {
      assert.equal(await at(provider, { [variable]: given }), expected)
    })
  }

  test('of a gateway is not trusted to keep, compact or count a conversation', async () => {
    const moved = await resolve({ provider: 'openai', key, env: { OPENAI_BASE_URL: 'https://gateway.example/v1' } })
    assert.deepEqual([moved.state, moved.compaction, moved.counting], [undefined, undefined, undefined])
    const same = await resolve({ provider: 'openai', key, env: { OPENAI_BASE_URL: 'https://api.openai.com/v1' } })
    assert.ok(same.state && same.compaction && same.counting)
  })

  test('of any compatible server is set by a variable', async () => {
    assert.equal(await at('openai-compatible', { OPENAI_COMPATIBLE_BASE_URL: 'http://box:1' }), 'http://box:1/v1')
    await rejects(
      { provider: 'openai-compatible', model: 'm', env: {} },
      /set OPENAI_COMPATIBLE_BASE_URL, or give a base URL/,
    )
  })

  test('from the caller takes precedence, with its own path', async () => {
    assert.equal(await at('openai', {}, undefined, 'http://127.0.0.1:4000/openai/'), 'http://127.0.0.1:4000/openai')
    assert.equal(await at('anthropic', {}, undefined, 'http://127.0.0.1:4000'), 'http://127.0.0.1:4000/v1')
  })

  for (const bad of ['ftp://x/', 'http://', 'not a url', 'https://user:pw@host/v1', 'https://host/v1?key=1']) {
    test(`"${bad}" is refused in a sentence`, () =>
      rejects({ provider: 'openai', key, baseUrl: bad, env: {} }, /base URL/i))
  }
})

describe('a model reference', () => {
  const refs: [string, { provider: string; model?: string }][] = [
    ['anthropic/claude-opus-5', { provider: 'anthropic', model: 'claude-opus-5' }],
    ['openrouter/anthropic/claude-sonnet-5:free', { provider: 'openrouter', model: 'anthropic/claude-sonnet-5:free' }],
    ['openai', { provider: 'openai' }],
    ['openai/', { provider: 'openai' }],
    [' ollama/qwen3:8b ', { provider: 'ollama', model: 'qwen3:8b' }],
  ]
  for (const [text, ref] of refs) {
    test(`"${text}" is read`, () => assert.deepEqual(parseModelRef(text), ref))
  }
  for (const text of ['', '  ', '/gpt-5']) {
    test(`"${text}" is refused in a sentence`, () =>
      assert.throws(() => parseModelRef(text), {
        kind: 'bad-input',
        message: /names no provider. Write provider\/model/,
      }))
  }
})

test('a model whose name leads out of the path of the provider is refused', () => {
  for (const name of ['google/../../v1/evil', 'google/..', 'google/models/../x', 'google/./x'])
    assert.throws(() => parseModelRef(name), { message: /is not the name of a model/ })
  assert.deepEqual(parseModelRef('google/a..b/c'), { provider: 'google', model: 'a..b/c' })
  assert.throws(() => prepare({ messages: [], provider: 'google', model: '../../v1/evil' }), {
    message: /is not the name of a model/,
  })
})

describe('the address of a cloud', () => {
  const at = async (provider: string, env: Record<string, string>, model?: string) =>
    (await resolve({ provider, key: 'k', env, ...(model !== undefined && { model }) })).baseUrl

  test('has the region, the project and the location of the account', async () => {
    assert.equal(
      await at('bedrock', { AWS_REGION: 'eu-central-1' }),
      'https://bedrock-runtime.eu-central-1.amazonaws.com/anthropic/v1',
    )
    assert.equal(
      await at('bedrock', { AWS_DEFAULT_REGION: 'cn-north-1' }, 'openai.gpt-oss-20b-1:0'),
      'https://bedrock-runtime.cn-north-1.amazonaws.com.cn/openai/v1',
    )
    const project = { GOOGLE_CLOUD_PROJECT: 'mine' }
    const path = '/v1beta1/projects/mine/locations'
    assert.equal(await at('vertex', project), `https://aiplatform.googleapis.com${path}/global/publishers/google`)
    for (const [GOOGLE_VERTEX_LOCATION, host] of [
      ['eu', 'aiplatform.eu.rep.googleapis.com'],
      ['europe-west4', 'europe-west4-aiplatform.googleapis.com'],
    ] as const) {
      assert.equal(
        await at('vertex', { ...project, GOOGLE_VERTEX_LOCATION }),
        `https://${host}${path}/${GOOGLE_VERTEX_LOCATION}/publishers/google`,
      )
    }
  })

  test('without them is one sentence that names the variable', async () => {
    await rejects({ provider: 'bedrock', key: 'k', env: {} }, /Amazon Bedrock needs a region of AWS: set AWS_REGION or/)
    await rejects(
      { provider: 'vertex', key: 'k', env: {} },
      /needs a project of Google Cloud: set GOOGLE_VERTEX_PROJECT/,
    )
    await rejects({ provider: 'foundry', key: 'k', env: {} }, /set ANTHROPIC_FOUNDRY_RESOURCE/)
    const env = { AWS_REGION: 'us-east-1' }
    await rejects({ provider: 'claude-aws', key: 'k', env }, /id of a workspace: set ANTHROPIC_AWS_WORKSPACE_ID/)
  })

  test('cannot be led to another host by a region', async () => {
    for (const AWS_REGION of ['evil.example/', 'x@evil.example', 'x..', 'a/b', 'a?b', '#']) {
      await rejects({ provider: 'bedrock', key: 'k', env: { AWS_REGION } }, /AWS_REGION is not a region of AWS/)
    }
  })

  test('is another one if a variable of its own tools sets it', async () => {
    const env = { AWS_REGION: 'us-east-1', AWS_ENDPOINT_URL_BEDROCK_RUNTIME: 'https://vpce-1.example' }
    assert.equal(await at('bedrock', env), 'https://vpce-1.example/anthropic/v1')
  })
})

describe('a model of Bedrock', () => {
  const env = { AWS_REGION: 'us-east-1' }
  const resolved = (model: string) => resolve({ provider: 'bedrock', key: 'k', env, model })

  test('is asked on the wire that serves it', async () => {
    for (const [model, wire] of [
      ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'anthropic-messages'],
      ['openai.gpt-oss-120b-1:0', 'openai-chat'],
      ['global.openai.gpt-5.6-sol', 'openai-responses'],
      ['xai.grok-4.6', 'openai-responses'],
    ] as const) {
      assert.equal((await resolved(model)).protocol.id, wire, model)
    }
  })

  test('has the rules of its maker, under any name', async () => {
    const old = await resolved('us.anthropic.claude-sonnet-4-5-20250929-v1:0')
    assert.deepEqual(old.capabilities.thinking, ['enabled', 'disabled'])
    assert.equal(old.capabilities.answer, 'none')
    const arn = 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/eu.anthropic.claude-opus-4-6-v1'
    assert.equal((await resolved(arn)).capabilities.forcedTool, true)
    assert.equal((await resolved('global.openai.gpt-5.6-sol')).capabilities.outputField, 'max_completion_tokens')
  })

  test('costs what its prefix costs', async () => {
    const [global, european] = await Promise.all(
      ['global', 'eu'].map(async (prefix) => (await resolved(`${prefix}.anthropic.claude-opus-5`)).price?.input ?? 0),
    )
    assert.equal(european, (global ?? 0) * 1.1)
  })

  test('is signed for where there is no key', async () => {
    const endpoint = await resolve({
      provider: 'bedrock',
      env: { ...env, AWS_ACCESS_KEY_ID: 'A', AWS_SECRET_ACCESS_KEY: 's' },
    })
    assert.deepEqual(endpoint.headers, {})
    const request = { method: 'POST', url: `${endpoint.baseUrl}/messages`, headers: {}, body: '{}' }
    const headers = await endpoint.authorize?.headers(request, () => assert.fail('nothing is asked'))
    assert.match(
      headers?.['authorization'] ?? '',
      /^AWS4-HMAC-SHA256 Credential=A\/\d{8}\/us-east-1\/bedrock\/aws4_request/,
    )
  })
})
