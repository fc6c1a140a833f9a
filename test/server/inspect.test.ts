// The requests of a conversation, as the inspector reads them: totals, and lines and body in pages.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { JsonObject } from '../../src/core/json.ts'
import type { Message } from '../../src/core/message.ts'
import type { Inspection, PieceView } from '../../src/server/inspect/view.ts'
import { newConversation, say, serving, type Serving } from './serving.ts'

const large = { model: 'openai/large-model', protocol: 'openai-chat' }
const settings = { ...large, policy: 'full' } as const

test('every line of a long request is in exactly one page, in order, and no answer is large', async (t) => {
  const server = await serving(t)
  const id = await filled(server, 5000)
  const inspect = inspectorOf(server, id)
  const last = await inspect({ requests: [large], lines: { limit: 300 }, text: 'Next.' })
  assert.equal(last.items[0]?.counts?.messages, 5001)
  const pieces = last.lines.flatMap(piecesIn)
  let page = last
  while (page.first > 0) {
    page = await inspect({ requests: [large], lines: { limit: 300, before: page.first }, text: 'Next.' })
    assert.equal(page.total, last.total)
    pieces.unshift(...page.lines.flatMap(piecesIn))
  }
  const messages = pieces.filter((piece) => piece.kind === 'message')
  assert.deepEqual(
    messages.map(({ path, sources }) => [path, sources.map(({ place }) => place)]),
    Array.from({ length: 5001 }, (_, i) => [`messages[${i}]`, [i]]),
  )
  assert.equal(messages.at(-1)?.sources[0]?.entryId, undefined, 'the draft is in no entry')
  assert.ok(messages[0]?.sources[0]?.entryId)
  const none = await inspect({ requests: [large], lines: { limit: 0 }, text: 'Next.' })
  assert.deepEqual([none.lines, none.first, none.total], [[], last.total, last.total])
})

test('a page of long lines has fewer of them, and a very long piece is only its beginning', async (t) => {
  const server = await serving(t)
  const id = await filled(server, 40, `${'x'.repeat(90_000)} `)
  const inspect = inspectorOf(server, id)
  const ask = { requests: [large], text: 'y'.repeat(300_000) }
  const { lines, first } = await inspect({ ...ask, lines: { limit: 500 } })
  assert.ok(first > 0 && lines.length < 20, `${lines.length} lines, ${first} before them`)
  const draft = lines.flatMap(piecesIn).at(-1)
  assert.ok((draft?.length ?? 0) > 300_000)
  assert.ok(typeof draft?.value === 'string' && draft.value.length === 100_000)
  let left = first
  let seen = lines.length
  while (left > 0) {
    const page = await inspect({ ...ask, lines: { limit: 500, before: left } })
    assert.ok(page.lines.length > 0)
    seen += page.lines.length
    left = page.first
  }
  assert.equal(seen, 43, 'the settings, the tools, 40 messages and the draft')
})

test('the exact body is read in parts, of the next request and of one that was sent', async (t) => {
  const server = await serving(t)
  const id = await filled(server, 10, '🙂 ')
  await say(server, id, 'Continue. 🙂')
  const [exchange] = (await server.store.exchanges('local', id)).items
  const inspect = inspectorOf(server, id)
  const requests = [{ exchangeId: exchange?.id ?? '' }, large]
  const exact = (await server.api('GET', `/api/exchanges/${exchange?.id}/body`)).text
  const whole = await inspect({ requests, lines: { limit: 0 }, body: { of: 0, from: 0, limit: 1_000_000 } })
  assert.equal(whole.body?.text, exact)
  assert.equal(whole.items[0]?.bytes, Buffer.byteLength(exact))
  let text = ''
  for (let length = Infinity; text.length < length;) {
    const { body } = await inspect({ requests, lines: { limit: 0 }, body: { of: 0, from: text.length, limit: 97 } })
    assert.ok(body)
    text += body.text
    length = body.length
  }
  assert.equal(text, exact)
  const { body } = await inspect({ requests, lines: { limit: 0 }, body: { of: 1, from: 0, limit: 1_000_000 } })
  const prepared = await server.api('POST', `/api/conversations/${id}/prepare`, { targets: [large] })
  assert.deepEqual(JSON.parse(body?.text ?? ''), (prepared.body['items'] as JsonObject[])[0]?.['body'])
})

test('only changed lines are returned on request, and the totals are those of the whole request', async (t) => {
  const server = await serving(t)
  const id = await filled(server, 6)
  await say(server, id, 'Continue.')
  const inspect = inspectorOf(server, id)
  const [all, changed] = [
    await inspect({ requests: [large], lines: { limit: 100 }, text: 'More.' }),
    await inspect({ requests: [large], lines: { limit: 100, onlyChanges: true }, text: 'More.' }),
  ]
  assert.deepEqual(changed.items, all.items)
  const isChanged = ({ change }: PieceView) => change !== 'same'
  assert.deepEqual(
    changed.lines.map(({ key }) => key),
    all.lines.filter((line) => piecesIn(line).some(isChanged)).map(({ key }) => key),
  )
  assert.ok(changed.lines.length > 0 && changed.lines.length < all.lines.length)
})

test('what cannot be shown has an error of its own, and a request of another conversation is not shown', async (t) => {
  const server = await serving(t)
  const [id, other] = [await filled(server, 2), await filled(server, 2)]
  await say(server, other, 'Continue.')
  const [exchange] = (await server.store.exchanges('local', other)).items
  const exchangeId = exchange?.id ?? ''
  const requests = [{ exchangeId }, { exchangeId, client: true }, large]
  const { items, lines } = await inspectorOf(server, id)({ requests, lines: { limit: 10 }, text: 'Next.' })
  assert.deepEqual(
    items.map((item) => item.error?.kind),
    ['not-found', 'not-found', undefined],
  )
  assert.ok(lines.every((line) => line.sides.length === 1))
  const status = async (body: JsonObject) => (await server.api('POST', `/api/conversations/${id}/inspect`, body)).status
  assert.equal(await status({ requests: [], lines: { limit: 1 } }), 400)
  assert.equal(await status({ requests: [large], lines: { limit: 501 } }), 400)
  assert.equal(await status({ requests: [large] }), 400)
})

function inspectorOf({ api }: Serving, id: string): (body: JsonObject) => Promise<Inspection> {
  return async (body) => {
    const { status, text } = await api('POST', `/api/conversations/${id}/inspect`, body)
    assert.equal(status, 200, text)
    assert.ok(text.length < 1_500_000, `an answer of ${text.length} characters`)
    return JSON.parse(text) as Inspection
  }
}

function piecesIn({ sides }: Inspection['lines'][number]): PieceView[] {
  return sides.flatMap((side) => side.pieces)
}

async function filled({ api, store }: Serving, length: number, start = ''): Promise<string> {
  const id = await newConversation(api, { settings })
  const origin = { protocol: 'openai-chat', provider: 'openai', model: 'large-model' } as const
  const messages = Array.from({ length }, (_, i): Message => {
    const parts = [{ type: 'text' as const, text: `${start}Note ${i}` }]
    if (i % 2 === 0) return { role: 'user', parts }
    return { role: 'assistant', parts, native: [], origin, stop: { reason: 'done' } }
  })
  await store.appendAll(
    'local',
    id,
    messages.map((message) => ({ message })),
  )
  return id
}
