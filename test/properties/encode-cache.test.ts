// What is kept of a request for the next one changes nothing: bodies, notes and bytes are those of a first request (P4).

import assert from 'node:assert/strict'
import test from 'node:test'
import fc, { runs } from '../property.ts'
import { assemble, type RequestDraft } from '../../src/context/assemble.ts'
import { fold } from '../../src/core/fold.ts'
import type { Message, Reply } from '../../src/core/message.ts'
import { noUsage } from '../../src/core/usage.ts'
import { allWires } from '../../src/wires/all.ts'
import { bodyBytes } from '../../src/wires/shared/body-bytes.ts'
import type { Wire } from '../../src/wires/wire.ts'
import { catalogue } from '../../src/providers/catalogue.ts'
import { type Endpoint, resolveWith } from '../../src/providers/resolve-with.ts'
import { rows } from '../../src/providers/rows.ts'
import { anyHistory, loopHistory } from '../arbitrary.ts'
import { everyTarget, someTargets, tools, type TestTarget } from '../targets.ts'

const anyRequest = fc.record({
  cut: fc.nat(20),
  policy: fc.constantFrom('full', 'economy', 'classic', 'small'),
  system: fc.constantFrom('', 'Be brief.', 'Be \ud800 kind.'),
  cacheTtl: fc.constantFrom('5m', '1h'),
  withTools: fc.boolean(),
})

for (const target of someTargets) {
  const endpoint = endpointOf(target)

  test(`cached elements are what would be encoded for ${target.provider}/${target.model} on ${target.protocol}`, () => {
    fc.assert(
      fc.property(
        fc.oneof(loopHistory, anyHistory),
        fc.array(anyRequest, { minLength: 2, maxLength: 6 }),
        fc.boolean(),
        (given, requests, isOwn) => {
          const messages = isOwn ? given.map((message, i) => own(message, i, endpoint)) : given
          for (const { cut, policy, system, cacheTtl, withTools } of requests) {
            const draft = draftFor(endpoint, messages.slice(0, Math.max(1, messages.length - cut)))
            const target = { ...draft.target, options: { cacheTtl } }
            sameAsFirst({ ...draft, target, policy, system, ...(withTools && { tools }) })
          }
        },
      ),
      { numRuns: runs(120) },
    )
  })
}

test('a message that was written for one provider is written again for another, and back', () => {
  const endpoints = everyTarget.map(endpointOf)
  fc.assert(
    fc.property(
      loopHistory,
      fc.array(fc.constantFrom(...endpoints), { minLength: 2, maxLength: 8 }),
      (given, asked) => {
        for (const endpoint of asked) sameAsFirst(draftFor(endpoint, given))
      },
    ),
  )
})

test('a later message that takes the name of an earlier tool has the earlier one written again', () => {
  const named = conversation(8).map((message, index): Message => {
    const name = index < 4 ? 'fs.read file' : 'fs_read_file'
    const parts = message.parts.map((part) => ('name' in part ? { ...part, name } : part))
    return { ...message, parts } as Message
  })
  for (const endpoint of everyTarget.map(endpointOf)) {
    sameAsFirst(draftFor(endpoint, named.slice(0, 5)))
    sameAsFirst(draftFor(endpoint, named))
  }
})

test('cached elements of a long conversation are copied, not encoded again', () => {
  for (const protocol of allWires()) {
    const target = everyTarget.find((one) => one.protocol === protocol.id)
    if (!target) continue
    const endpoint = endpointOf(target)
    const messages = conversation(300)
    const before = assemble(draftFor(endpoint, messages.slice(0, 280)))
    const bytes = Buffer.from(bodyBytes(before.body)).toString()
    const after = assemble(draftFor(endpoint, messages))
    assert.equal(Buffer.from(bodyBytes(after.body)).toString(), JSON.stringify(after.body))
    assert.equal(bytes, JSON.stringify(before.body))
    const first = new Set(listIn(before.body))
    const shared = listIn(after.body).filter((item) => first.has(item)).length
    assert.ok(shared >= first.size - 4, `${protocol.id} kept ${shared} of ${first.size}`)
  }
})

test('a list that was changed after encoding is sent in its changed form', () => {
  const [target] = everyTarget
  assert.ok(target)
  const { body } = assemble(draftFor(endpointOf(target), conversation(8)))
  bodyBytes(body)
  listIn(body).push({ role: 'user', content: 'and this' })
  assert.equal(Buffer.from(bodyBytes(body)).toString(), JSON.stringify(body))
})

test('messages that are not of the log may be changed between two requests', () => {
  const [target] = everyTarget
  assert.ok(target)
  const { fromLog: _, ...draft } = draftFor(endpointOf(target), conversation(4))
  const before = JSON.stringify(assemble(draft).body)
  draft.history[0]?.parts.push({ type: 'text', text: 'one more thing' } as never)
  const after = JSON.stringify(assemble(draft).body)
  assert.notEqual(after, before)
  assert.match(after, /one more thing/)
})

/** The request with everything cached, compared with the same one for new messages. */
function sameAsFirst(draft: RequestDraft): void {
  const { fromLog: _, ...first } = { ...draft, history: structuredClone(draft.history) }
  const { context: _context, ...written } = assemble(first)
  const { context: _kept, ...kept } = assemble(draft)
  assert.deepEqual(kept, written)
  const text = JSON.stringify(written.body)
  assert.equal(JSON.stringify(kept.body), text)
  assert.equal(Buffer.from(bodyBytes(kept.body, draft.history)).toString(), text)
}

function draftFor(endpoint: Endpoint, history: Message[]): RequestDraft {
  const { provider, protocol, model, quirks, capabilities } = endpoint
  const target = { provider: provider.id, model, options: {}, quirks, capabilities }
  return { history, protocol, target, fromLog: true }
}

function endpointOf({ provider, protocol, model }: TestTarget): Endpoint {
  const asked = { provider, protocol, model, rows, env: {}, keyless: true, baseUrl: 'http://localhost' }
  return resolveWith(asked, protocolById, catalogue)
}

function protocolById(id: string): Wire {
  const found = allWires().find((protocol) => protocol.id === id)
  assert.ok(found)
  return found
}

/** The reply in the words of the provider that is asked, as if it had given it. */
function own(message: Message, index: number, { protocol, provider, model }: Endpoint): Message {
  if (message.role !== 'assistant') return message
  const origin = { protocol: protocol.id, provider: provider.id, model }
  const said = message.parts.filter((part) => part.type === 'text' || part.type === 'tool-call')
  const calls = said.filter((part) => part.type === 'tool-call')
  const profile = { model, replyId: `reply-${index}`, createdAt: 0, usage: noUsage }
  const decoder = protocol.decoder(origin, { callId: (n) => calls[n]?.callId ?? `call-${index}-${n}` })
  const reply: Reply = { ...message, parts: said, origin }
  const chunks = protocol.split(protocol.whole(reply, profile))
  return fold([...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()], origin).reply
}

function conversation(length: number): Message[] {
  return Array.from({ length }, (_, index): Message => {
    if (index % 4 === 0) return { role: 'user', parts: [{ type: 'text', text: `question ${index} 🙂` }] }
    const callId = `call-${Math.floor(index / 4)}`
    const output = [{ type: 'text' as const, text: `it is ${index} o'clock` }]
    if (index % 4 === 2) return { role: 'tool', parts: [{ type: 'tool-result', callId, name: 'clock', output }] }
    const origin = { protocol: 'elsewhere', provider: 'elsewhere', model: 'm' }
    return index % 4 === 1
      ? {
          role: 'assistant',
          parts: [{ type: 'tool-call', callId, name: 'clock', input: { index } }],
          native: [],
          origin,
          stop: { reason: 'tool-calls' },
        }
      : { role: 'assistant', parts: [{ type: 'text', text: 'ok' }], native: [], origin, stop: { reason: 'done' } }
  })
}

function listIn(body: RequestDraft['target']['options']['extra'] & object): object[] {
  const lists = Object.values(body).filter((value) => Array.isArray(value))
  return lists.toSorted((a, b) => b.length - a.length)[0] as object[]
}
