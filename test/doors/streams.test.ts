// Streams at the doors: signs of life while nothing comes, and what happens when the client leaves.

import assert from 'node:assert/strict'
import test from 'node:test'
import { streamedReply } from '../../src/server/doors/reply.ts'
import { relay } from '../../src/server/doors/relay.ts'
import type { DoorEnd } from '../../src/server/doors/run.ts'
import { noUsage } from '../../src/core/usage.ts'
import { loadService } from '../../src/wires/list.ts'
import { serving } from '../server/serving.ts'

test('a client that waits hears a comment, and a failure afterwards is an event', async () => {
  const { promise: ended, resolve: end } = Promise.withResolvers<DoorEnd>()
  const failure = { kind: 'overloaded', message: 'Too busy.' } as const
  const response = await streamedReply({
    wire: 'anthropic-messages',
    service: await loadService('anthropic-messages'),
    profile: { model: 'm', replyId: 'msg_1', createdAt: 0, inputTokens: 1 },
    run: {
      conversationId: 'c',
      events: relay(),
      ended,
      abort: () => {},
      exchangeId: () => undefined,
      noteCount: () => 0,
    },
    issueOf: () => ({ rule: 'door', status: 529, message: failure.message }),
    keepAliveMs: 1,
  })
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  end({ outcome: 'failed', usage: noUsage, cost: 0, failure })
  const text = await response.text()
  assert.match(text, /^(?:: keep-alive\n\n)+event: error\ndata: .*overloaded_error.*Too busy\..*\n\n$/)
})

test('a run ends when its client leaves, and the partial reply is stored', { timeout: 120_000 }, async (t) => {
  const { url, store, emulator } = await serving(t)
  emulator.order({ keepAliveAt: 4, keepAliveMs: 5 })
  const leaving = new AbortController()
  const body = { model: 'anthropic/claude-opus-5', stream: true, messages: [{ role: 'user', content: 'Hello there' }] }
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: leaving.signal,
  })
  assert.equal(response.status, 200, response.status === 200 ? '' : await response.text())
  const reader = response.body?.getReader()
  await reader?.read()
  leaving.abort()
  const id = response.headers.get('x-synapse-conversation') ?? ''
  while (!t.signal.aborted) {
    const { items } = await store.exchanges('local', id)
    if (items.every(({ outcome }) => outcome !== 'open') && items.length > 0) {
      assert.deepEqual(
        items.map(({ outcome }) => outcome),
        ['cancelled'],
      )
      break
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
})
