// A conversation with everything that can be in one: branches, media, tool runs, exchanges, overlays.

import type { Store } from '../../src/store/store.ts'
import { request } from '../store/conformance/given.ts'
import { call, reply, result, user } from '../store/messages.ts'
import { archiveLines } from '../../src/transfer/archive-write.ts'

export const owner = 'ada'

export async function richConversation(store: Store): Promise<string> {
  const { id } = await store.createConversation(owner, {
    title: 'Everything <b>at once</b>',
    labels: ['one', 'two'],
    settings: { model: 'openai/gpt-5.6', system: 'Be brief.' },
  })
  const first = await store.append(owner, id, { message: user('What time is it in 東京? Ask ada@example.org.') })
  const exchange = await store.openExchange(owner, id, {
    ...request(first.id, '{"model":"m"}'),
    notes: [{ kind: 'dropped', what: 'reasoning', why: 'it does not cross', at: 'messages[0]' }],
  })
  const asked = await store.finishExchange(owner, exchange.id, {
    outcome: 'done',
    reply: { message: reply('Let me look.', [call('c1', 'clock', { zone: 'Asia/Tokyo' })]) },
    usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, reasoning: 0, raw: { total: 15 } },
    cost: 0.25,
  })
  await store.startTool(owner, id, { callId: 'c1', entryId: asked.entry?.id ?? '', name: 'clock', argsSha256: 'abc' })
  const answer = { outcome: 'done', result: { message: result('c1', 'clock', '12:00', { time: '12:00' }) } } as const
  await store.finishTool(owner, id, 'c1', answer)
  const base64 = Buffer.alloc(90_000, 'picture').toString('base64')
  const picture = await store.append(owner, id, {
    message: {
      role: 'user',
      parts: [
        { type: 'text', text: 'And this?' },
        { type: 'media', mediaType: 'image/png', name: 'x.png', data: { kind: 'base64', base64 } },
      ],
    },
  })
  const failed = await store.openExchange(owner, id, request(picture.id, '{}'))
  const failure = { kind: 'overloaded', message: 'Overloaded', status: 529 } as const
  await store.finishExchange(owner, failed.id, { outcome: 'failed', failure })
  await store.append(owner, id, { message: reply('A picture of <script>alert(1)</script>.') })
  await store.addOverlay(owner, id, { entryId: picture.id, kind: 'fold', data: { through: first.id } })
  await store.nameBranch(owner, id, 'main', (await store.conversation(owner, id))?.head ?? '')
  await store.append(owner, id, { message: user('Another way'), parentId: first.id, head: 'move' })
  await store.append(owner, id, { message: reply('Another answer') })
  await store.setHead(owner, id, { branch: 'main' })
  return id
}

export async function archiveOf(store: Store, id: string): Promise<string[]> {
  const lines: string[] = []
  for await (const line of archiveLines(store, owner, id)) lines.push(line)
  return lines
}
