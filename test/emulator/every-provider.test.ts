// Every provider on every wire, spoken to as the product speaks to it: what is written is accepted, what comes back is
// read, and the answer is made of what was sent.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { pair } from '../../src/context/pair.ts'
import type { Effort, Options } from '../../src/settings/options.ts'
import { fold } from '../../src/core/fold.ts'
import { isObject, type Json } from '../../src/core/json.ts'
import { callsOf, textOf, type Message, type Reply } from '../../src/core/message.ts'
import type { Usage } from '../../src/core/usage.ts'
import { textIn } from '../../src/wires/shared/json-fields.ts'
import { type Endpoint, resolve } from '../../src/providers/resolve.ts'
import { readRecording } from '../../src/transport/recording.ts'
import { createEmulator, type Emulator } from '../../src/testing.ts'
import { result, user } from '../histories.ts'
import { everyTarget, someTargets, tools, type TestTarget } from '../targets.ts'
import { thorough } from '../thorough.ts'

const nameOf = (target: TestTarget) => `${target.provider} ${target.protocol} ${target.model}`

async function ask(emulator: Emulator, target: TestTarget, messages: Message[], options: Options = {}) {
  const endpoint = await resolve({ ...target, key: 'any', baseUrl: 'http://127.0.0.1/v1', env: {} })
  const { protocol, model, quirks, capabilities } = endpoint
  const stream = options.stream ?? true
  const encoded = protocol.encode(
    { system: [{ type: 'text', text: 'Be brief.' }], messages: pair(messages).messages, tools, cacheAfter: [] },
    {
      provider: target.provider,
      model,
      quirks,
      capabilities,
      options: { maxOutput: 4000, ...effort(endpoint), ...options, stream },
    },
  )
  const response = await emulator.fetch(`http://127.0.0.1/${target.provider}/v1${encoded.path}`, {
    method: 'POST',
    headers: { ...endpoint.headers, ...encoded.headers },
    body: JSON.stringify(encoded.body),
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  const isBinary = response.headers.get('content-type') === 'application/vnd.amazon.eventstream'
  const text = bytes.toString(isBinary ? 'base64' : 'utf8')
  assert.equal(response.status, 200, `${nameOf(target)}: ${text}`)
  const origin = {
    protocol: protocol.id,
    provider: target.provider,
    model,
    ...(encoded.basis && { basis: encoded.basis }),
  }
  const decoder = protocol.decoder(origin, {
    toolNames: encoded.toolNames,
    callId: (n) => `${messages.length}-${n}`,
  })
  const chunks = isBinary
    ? readRecording(protocol, text).chunks
    : stream
      ? chunksIn(text)
      : protocol.split(JSON.parse(text) as Json)
  return fold([...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()], origin)
}

/** Some effort where the model knows any, so that it reasons. */
function effort({ capabilities }: Endpoint): { effort?: Effort } {
  if (capabilities.effortWithTools) return {}
  const some = capabilities.efforts.find((one) => one !== 'none')
  return some ? { effort: some } : {}
}

function chunksIn(text: string): Json[] {
  const lines = text.split('\n').map((line) => line.replace(/^data: /, ''))
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Json)
}

async function turn(emulator: Emulator, target: TestTarget, messages: Message[], question: string): Promise<Reply> {
  messages.push(user(question))
  for (let step = 0; step < 4; step++) {
    const { reply } = await ask(emulator, target, messages)
    messages.push(reply)
    const calls = callsOf(reply)
    if (calls.length === 0) return reply
    for (const { callId, name, input } of calls) {
      messages.push(result(callId, `noon in ${isObject(input) ? textIn(input.zone) : ''}`, name))
    }
  }
  throw new Error('it continues and on')
}

describe('a tool loop with two calls at once, and a question about it', () => {
  for (const target of everyTarget) {
    test(nameOf(target), async () => {
      const emulator = createEmulator()
      const messages: Message[] = []
      const first = await turn(emulator, target, messages, 'What time is it in Paris and Tokyo?')
      assert.match(textOf(first.parts), /clock answered: noon in Europe\/Paris\nclock answered: noon in Asia\/Tokyo/)
      assert.equal(first.stop.reason, 'done')
      const second = await turn(emulator, target, messages, 'What did I say first?')
      assert.match(textOf(second.parts), /"What time is it in Paris and Tokyo\?"/)
    })
  }
})

describe('the same reply, streamed and in one piece', () => {
  for (const target of everyTarget) {
    test(nameOf(target), async () => {
      const messages = [user('Think: what time is it in Paris?')]
      const streamed = await ask(createEmulator(), target, messages, { stream: true })
      const whole = await ask(createEmulator(), target, messages, { stream: false })
      const shown = ({ parts }: Reply) =>
        parts.map((part) => (part.type === 'tool-call' ? [part.name, part.input] : part))
      assert.deepEqual(shown(streamed.reply), shown(whole.reply))
      const numbers = (usage: Usage | undefined) =>
        usage && [usage.input, usage.output, usage.cacheRead, usage.reasoning]
      assert.deepEqual(numbers(streamed.usage), numbers(whole.usage))
      assert.ok((whole.usage?.input ?? 0) > 0)
    })
  }
})

test('one conversation goes through all of them, each time with tools, and none refuses it', async () => {
  const emulator = createEmulator()
  const [first] = everyTarget
  assert.ok(first)
  const messages: Message[] = []
  await turn(emulator, first, messages, 'I like tea.')
  for (const target of [...someTargets, ...(thorough ? everyTarget.toReversed() : [])]) {
    await turn(emulator, target, messages, 'What time is it in Paris and Tokyo?')
  }
  for (const target of someTargets) {
    const last = await turn(emulator, target, [...messages], 'What did I say first?')
    assert.match(textOf(last.parts), /"I like tea\."/, nameOf(target))
  }
})

test('the provider changes between a call and its result, to every other wire', async () => {
  // Calls are continued on one target of each wire; `npm run test:all` tries all pairs.
  const targets = thorough ? everyTarget : [...new Map(everyTarget.map((one) => [one.protocol, one])).values()]
  for (const from of someTargets) {
    const emulator = createEmulator()
    const messages: Message[] = [user('What time is it in Paris?')]
    const { reply } = await ask(emulator, from, messages)
    messages.push(reply)
    for (const call of callsOf(reply)) messages.push(result(call.callId, 'noon', call.name))
    for (const to of targets) {
      const after = await ask(emulator, to, messages)
      assert.match(textOf(after.reply.parts), /answered: noon/, `${nameOf(from)} → ${nameOf(to)}`)
    }
  }
})
