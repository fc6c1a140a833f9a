// The probe against the emulator: everything is as expected, for every wire of every provider; what is not is shown.

import assert from 'node:assert/strict'
import test from 'node:test'
import { planProbe, totalCost } from '../../src/probe/plan.ts'
import { reportOf } from '../../src/probe/report.ts'
import type { ProbeRow } from '../../src/probe/run.ts'
import { rows } from '../../src/providers/rows.ts'
import { loadService, wireIds } from '../../src/wires/list.ts'
import { endpointOf, probeEmulated, type Emulated } from './emulated.ts'

for (const row of rows) {
  for (const { protocol } of row.wires) {
    test(`${row.id} over ${protocol} answers every request of the probe as expected`, async () => {
      const found = await probeEmulated(`${row.id}/${row.defaultModel ?? 'a-model'}`, protocol)
      const other = found.filter(({ outcome }) => outcome !== 'as-expected')
      assert.deepEqual(
        other.map(({ check, outcome, expected, observed }) => ({ check, outcome, expected, observed })),
        [],
      )
      assert.ok(found.length >= 12, `${found.length} requests`)
    })
  }
}

test('a refused request that should be accepted is a difference, with the error message of the service', async () => {
  const found = await claude({
    instead: (body) => (body.includes('image/png') ? refusal(400, 'No images today.') : undefined),
  })
  const image = rowOf(found, 'image')
  assert.equal(image.outcome, 'differs')
  assert.equal(image.expected, 'accepted')
  assert.equal(image.observed, '400 No images today.')
  assert.ok(JSON.stringify(image.body).includes('image/png'))
  assert.equal(rowOf(found, 'plain').outcome, 'as-expected')
})

test('a request that is accepted though it should be refused is a difference', async () => {
  const accepted = JSON.stringify({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-5',
    content: [{ type: 'text', text: 'Ok.' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 10, output_tokens: 2 },
  })
  const found = await claude({
    instead: (body) => (body.includes('"mood"') ? { status: 200, text: accepted } : undefined),
  })
  const row = rowOf(found, 'R-29')
  assert.equal(row.outcome, 'differs')
  assert.match(row.expected, /^400 mood: Extra inputs are not permitted/)
  assert.equal(row.observed, 'accepted')
})

test('another status and another message are differences', async () => {
  const status = await claude({
    instead: (body) => (body.includes('"mood"') ? refusal(422, 'mood: Extra inputs are not permitted') : undefined),
  })
  assert.equal(rowOf(status, 'R-29').outcome, 'differs')
  const words = await claude({ instead: (body) => (body.includes('"mood"') ? refusal(400, 'No.') : undefined) })
  assert.equal(rowOf(words, 'R-29').outcome, 'differs')
  assert.equal(rowOf(words, 'R-29').observed, '400 No.')
})

test('a reply without the requested call, and an interrupted stream, are differences', async () => {
  const cut =
    'event: message_start\ndata: {"type":"message_start","message":{"id":"m","role":"assistant","content":[]}}\n\n'
  const found = await claude({
    instead: (body) => (body.includes('"stream":true') ? { status: 200, text: cut } : undefined),
  })
  assert.equal(rowOf(found, 'stream').outcome, 'differs')
  assert.equal(rowOf(found, 'tool-call').outcome, 'differs')
  assert.equal(rowOf(found, 'tool-result').outcome, 'not-sent')
  assert.match(rowOf(found, 'tool-result').observed, /no reply to "tool-call"/)
})

test('a service that has no time has not answered, which is no difference', async () => {
  const found = await claude({
    instead: (body) => (body.includes('image/png') ? refusal(529, 'Overloaded', 'overloaded_error') : undefined),
  })
  assert.equal(rowOf(found, 'image').outcome, 'unanswered')
})

test('after a key that is refused nothing else is sent', async () => {
  const found = await claude({ key: 'wrong' })
  assert.equal(found[0]?.outcome, 'unanswered')
  assert.ok(found.slice(1).every(({ outcome }) => outcome === 'not-sent'))
  assert.equal(found[1]?.observed, 'the key was refused')
})

test('no request is sent that could exceed the budget', async () => {
  const sent: string[] = []
  const note = (body: string) => {
    sent.push(body)
    return undefined
  }
  const none = await claude({ budget: 0, instead: note })
  assert.ok(none.every(({ check, outcome }) => outcome === 'not-sent' || check === 'token-count'))
  assert.equal(sent.length, 1)
  const some = await claude({ budget: 0.01, instead: note })
  const spent = some.reduce((sum, { cost = 0 }) => sum + cost, 0)
  assert.ok(spent > 0 && spent <= 0.01, String(spent))
  assert.ok(some.some(({ outcome }) => outcome === 'not-sent'))
})

test('a probe of a provider with its default model costs less than five cents', async () => {
  for (const row of rows.filter(({ defaultModel, keyOptional }) => defaultModel !== undefined && !keyOptional)) {
    let likely = 0
    for (const { protocol } of row.wires) {
      const cost = totalCost(await planProbe(await endpointOf(row.id, protocol)))
      assert.ok(cost, `the price of ${row.id} is known`)
      likely += cost.likely
    }
    assert.ok(likely < 0.05, `${row.id}: ${likely}`)
  }
})

test('every request that breaks a rule is refused by that rule at some provider', async () => {
  const used = new Set<string>()
  for (const row of rows) {
    for (const { protocol } of row.wires) {
      const steps = await planProbe(await endpointOf(`${row.id}/${row.defaultModel ?? 'a-model'}`, protocol))
      for (const { id } of steps) used.add(`${protocol} ${id}`)
    }
  }
  for (const { id } of await planProbe(await endpointOf('openai/gpt-5.4', 'openai-chat'))) used.add(`openai-chat ${id}`)
  const unused: string[] = []
  for (const wire of wireIds) {
    const checks = (await (await loadService(wire)).refusedRequests?.()) ?? []
    unused.push(...checks.map(({ rule }) => `${wire} ${rule}`).filter((name) => !used.has(name)))
  }
  assert.deepEqual(unused, [])
})

test('a report contains no key, no account, no address and no name that the user chose', async () => {
  const key = 'sk-ant-0123456789abcdefghij'
  const said =
    `Key ${key} of organization org-AbCdEf123456 (jane@example.com) in project 123456789012 at https://gate.corp.example/v1 ` +
    'from 10.1.2.3, request req_011CSHoEeqs5C35K2UUqR7Fy, account 6f1e2d3c-0000-4000-8000-000000000000: no images.'
  const found = await claude({ key, instead: (body) => (body.includes('image/png') ? refusal(400, said) : undefined) })
  const own = found.map((row) => ({ ...row, model: 'ft:claude:acme:secret', provider: 'acme-gateway' }))
  const report = reportOf(own, { version: '1.2.3', now: 0 })
  for (const secret of [
    key,
    'org-AbC',
    'jane',
    '123456789012',
    'corp.example',
    '10.1.2.3',
    'req_011',
    '6f1e2d3c',
    'acme',
  ]) {
    assert.ok(!report.includes(secret), `${secret} is in the report`)
  }
  assert.match(report, /Synapse 1\.2\.3, 1970-01-01/)
  assert.match(report, /### \[own provider\], anthropic-messages, image: an image/)
  assert.match(report, /no images\./)
})

function claude(options: Emulated): Promise<ProbeRow[]> {
  return probeEmulated('anthropic/claude-opus-5', 'anthropic-messages', options)
}

function rowOf(found: readonly ProbeRow[], check: string): ProbeRow {
  const row = found.find((one) => one.check === check)
  assert.ok(row, `there is no check ${check}`)
  return row
}

function refusal(status: number, message: string, type = 'invalid_request_error'): { status: number; text: string } {
  return { status, text: JSON.stringify({ type: 'error', error: { type, message } }) }
}
